// How identifiers are read, and which account one of them names for a caller. What the caller may do there is decided by
// permissions.ts. An account out of reach is not found.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { nameClaim, spellingsOf } from "../../../actors/account-name.ts";
import { type AccountId, ancestorsOf, dnaBelow } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { Store, Where } from "../../store/store.ts";
import { type Act, permissionRefusal, type Relationship, relationshipOf, verdict } from "./permissions.ts";

/** What a lookup needs. */
export interface AccountLookupParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
}

/** An account, and how the caller stands to it. */
export interface FoundAccount {
  readonly record: AccountRecord;
  readonly relationship: Relationship;
}

/** What an identifier names: one account by id or name, those with an e-mail address, or those that a filter matches. */
export type IdentifierKind = "id" | "name" | "email" | "filter";

const FILTERS = { L: "level", G: "gear", R: "role", T: "tier", F: "factor" } as const;
const FILTER = /^([LGRTF])[0-9.]+$/;

/** Returns what an identifier names, by its form. */
export function namesOf(identifier: string): IdentifierKind {
  if (/^[0-9]+$/.test(identifier)) return "id";
  if (identifier.includes("@")) return "email";
  return identifier.startsWith(".") || FILTER.test(identifier) ? "filter" : "name";
}

/** Returns the accounts that an identifier of any form names, as a condition, or null when there can be none. */
export function conditionOf(identifier: string): Where<"accounts"> | null {
  switch (namesOf(identifier)) {
    case "id":
      return identifier.length > 15 ? null : { field: "id", is: "=", value: Number(identifier) };
    case "email":
      return { field: "email", is: "=", value: identifier };
    case "name":
      return oneOf(spellingsOf(identifier));
    case "filter":
      return identifier.startsWith(".") ? belowDna(identifier) : fieldFilter(identifier);
  }
}

const oneOf = (names: readonly string[]): Where<"accounts"> =>
  names.length === 1
    ? { field: "nameLower", is: "=", value: names[0]! }
    : { field: "nameLower", is: "in", value: names };

/** Returns the condition for accounts whose DNA begins with this one, number by number: `.1.2` is `.1.2.`, never `.1.23.`. */
export const belowDna = (dna: string): Where<"accounts"> => ({
  field: "dna",
  is: "starts",
  value: dna.endsWith(".") ? dna : `${dna}.`,
});

/** `L2`, `G1`, `R0`, `T3`, `F1.5`; only a factor has a fraction. */
function fieldFilter(identifier: string): Where<"accounts"> | null {
  const letter = identifier[0] as keyof typeof FILTERS;
  const text = identifier.slice(1);
  const fits = letter === "F" ? /^\d{1,9}(\.\d{1,9})?$/ : /^\d{1,9}$/;
  return fits.test(text) ? { field: FILTERS[letter], is: "=", value: Number(text) } : null;
}

/** Returns the error of an identifier that names no account in reach. */
export const userNotFound = (identifier: string): RefusedError =>
  new RefusedError({
    code: "user_not_found",
    message: `None of your subaccounts is "${identifier.slice(0, 80).toWellFormed()}".`,
  });

/**
 * Returns the one account with that id, name or e-mail address to which the caller may do this. Throws `RefusedError`:
 * `user_not_found`, `not_ancestor` (the caller itself or an ancestor), `not_manager`, `ambiguous_identifier` (an e-mail
 * address, or a name, of several in reach).
 */
export async function findAccount(
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string,
  act: Act,
): Promise<FoundAccount> {
  const found: FoundAccount[] = [];
  for (const id of await candidates(parts.store, caller, identifier)) {
    const record = await recordOf(parts.system, id);
    if (record !== null) found.push({ record, relationship: relationshipOf(caller.profile, record.profile) });
  }
  const [only, another] = found.filter((one) => verdict(act, one.relationship) === "may");
  if (another !== undefined) {
    throw new RefusedError({
      code: "ambiguous_identifier",
      message: `Several accounts in your reach have the ${namesOf(identifier)} ${identifier.slice(0, 254)}. Name one by its id.`,
    });
  }
  if (only !== undefined) return only;
  for (const one of found) {
    const decided = verdict(act, one.relationship);
    const refusal = decided === "user_not_found" ? null : permissionRefusal(decided);
    if (refusal !== null) throw new RefusedError(refusal);
  }
  throw userNotFound(identifier);
}

/** Returns the one descendant with that id, name or e-mail address. Throws as `findAccount` for reading. */
export const descendant = async (
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string,
): Promise<AccountRecord> => (await findAccount(parts, caller, identifier, "read")).record;

/** Returns the descendant with that id, even a deleted one: its former ancestors may read what it used and did. */
export async function everDescendant(
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string,
): Promise<{ readonly profile: Profile }> {
  const [id] = namesOf(identifier) === "id" ? await candidates(parts.store, caller, identifier) : [];
  if (id === undefined) throw userNotFound(identifier);
  const { profile } = await existing(identifier, parts.system.ask(actorRef.account(id), "profile", {}));
  if (verdict("read", relationshipOf(caller.profile, profile)) !== "may") throw userNotFound(identifier);
  return { profile };
}

async function candidates(store: Store, caller: AccountRecord, identifier: string): Promise<AccountId[]> {
  switch (namesOf(identifier)) {
    case "id":
      return identifier.length > 15 ? [] : [Number(identifier) as AccountId];
    case "email": {
      const { id, dna } = caller.profile;
      const documents = await store.find({
        table: "accounts",
        where: [
          { field: "email", is: "=", value: identifier },
          { field: "closed", is: "=", value: 0 },
        ],
        // The caller and accounts above it are found too, so that the error states that they are not below it.
        anyOf: [
          [{ field: "dna", is: "starts", value: dnaBelow(dna, id) }],
          [{ field: "id", is: "in", value: [id, ...ancestorsOf(dna)] }],
        ],
        order: "id",
        // Two in reach are enough to know that there are several.
        limit: ancestorsOf(dna).length + 3,
      });
      return documents.map((document) => document.id as AccountId);
    }
    case "name": {
      // The name as it is spelled goes first; another account's may be the same in another Unicode composition.
      const [exact, ...others] = spellingsOf(identifier).map(nameClaim);
      const claim = await store.findClaim(exact!);
      if (claim !== null) return [claim.account as AccountId];
      const claims = await Promise.all(others.map((key) => store.findClaim(key)));
      return claims.flatMap((one) => (one === null ? [] : [one.account as AccountId]));
    }
    case "filter":
      return [];
  }
}

async function recordOf(system: ActorSystem<Protocol>, id: AccountId): Promise<AccountRecord | null> {
  try {
    return await system.ask(actorRef.account(id), "read", {});
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Replaces `user_not_found` by an error that names the identifier of the request. */
const existing = <T>(identifier: string, asked: Promise<T>): Promise<T> =>
  asked.catch((error) => {
    throw isNotFound(error) ? userNotFound(identifier) : error;
  });

const isNotFound = (error: unknown): boolean =>
  error instanceof RefusedError && error.refusal.code === "user_not_found";

/**
 * Returns an answer about a descendant. While an account above it closes it is treated as nonexistent; its key is then the wrong
 * one, not the caller's.
 */
export const ofDescendant = <T>(identifier: string, answer: Promise<T>): Promise<T> =>
  answer.catch((error) => {
    const isGone = error instanceof RefusedError && error.refusal.code === INVALID_KEY.code;
    throw isGone ? userNotFound(identifier) : error;
  });
