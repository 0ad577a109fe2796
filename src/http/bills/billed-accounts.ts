// The accounts whose usage and ledger a caller may read: all below it, one account, or those that a filter matches. The usage of a
// deleted account stays with its former ancestors: the whole tree and filters have it, and its id still names it; its name and
// e-mail address may belong to another account now, and do not. Of a moved account the tree's bill has the days that it spent
// there; a bill that names it has all of its days.

import type { Profile } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { dnaBelow } from "../../../actors/ids.ts";
import type { Whose } from "../../report/usage-bill.ts";
import type { Where } from "../../store/store.ts";
import {
  type AccountLookupParts,
  belowDna,
  conditionOf,
  descendant,
  everDescendant,
  namesOf,
  userNotFound,
} from "../accounts/account-lookup.ts";

/** Accounts that one query of the store names at most. */
const GROUP = 1_000;

/**
 * Returns the accounts of a bill; without an identifier all descendants. Throws `user_not_found` for an id, name or
 * e-mail address of no account in reach. A filter may match none; an e-mail address names all accounts that have it.
 */
export async function billedAccounts(
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string | undefined,
): Promise<Whose> {
  const under = dnaBelow(caller.profile.dna, caller.profile.id);
  if (identifier === undefined) return [{ dna: under }];
  if (identifier.startsWith(".")) return branch(under, String(belowDna(identifier).value));
  const condition = conditionOf(identifier);
  switch (namesOf(identifier)) {
    case "filter":
      return grouped(condition === null ? [] : await idsOf(parts, under, [condition]));
    case "email": {
      const there: Where<"accounts"> = { field: "closed", is: "=", value: 0 };
      const ids = condition === null ? [] : await idsOf(parts, under, [condition, there]);
      if (ids.length === 0) throw userNotFound(identifier);
      return grouped(ids);
    }
    case "id":
    case "name":
      return [{ ids: [(await recordedAccount(parts, caller, identifier)).id] }];
  }
}

/** Returns one descendant by id, name or e-mail address; an id also names a deleted one. Throws as `findAccount` does. */
export async function recordedAccount(
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string,
): Promise<Profile> {
  const find = namesOf(identifier) === "id" ? everDescendant : descendant;
  return (await find(parts, caller, identifier)).profile;
}

/** Returns the descendants whose DNA starts with `dna`. */
function branch(under: string, dna: string): Whose {
  if (dna.startsWith(under)) return [{ dna }];
  return under.startsWith(dna) ? [{ dna: under }] : [];
}

async function idsOf(
  { store }: AccountLookupParts,
  under: string,
  where: readonly Where<"accounts">[],
): Promise<number[]> {
  const ids: number[] = [];
  const below = belowDna(under);
  for await (const { id } of store.scan({ table: "accounts", where: [below, ...where], order: "id" })) {
    ids.push(id as number);
  }
  return ids;
}

const grouped = (ids: readonly number[]): Whose =>
  Array.from({ length: Math.ceil(ids.length / GROUP) }, (_, i) => ({
    ids: ids.slice(i * GROUP, (i + 1) * GROUP),
  }));
