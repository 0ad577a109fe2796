// The audience of news for a target: one account, or the accounts below a place in the tree. The caller must be above them, or
// be the account at that place. It reads accounts and stores nothing.

import type { AccountRecord } from "../../../actors/account/views.ts";
import { ancestorsOf, dnaBelow } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import { type AccountLookupParts, findAccount, userNotFound } from "../accounts/account-lookup.ts";

/** The fields of an item in the table of news that select its readers. */
export type Audience =
  | { readonly kind: "system" }
  | { readonly kind: "user"; readonly target: number }
  | { readonly kind: "dna"; readonly dna: string };

/**
 * Returns the audience that an id, a name, an e-mail address or a DNA path names. Throws `RefusedError`:
 * `user_not_found` out of the caller's reach, `not_ancestor` for the caller itself (except at its own place) and for what
 * is above it, `ambiguous_identifier`, `not_manager`.
 */
export async function audienceOf(
  parts: AccountLookupParts,
  caller: AccountRecord,
  target: string,
): Promise<Audience> {
  if (target.startsWith(".")) return { kind: "dna", dna: await placeBelow(parts, caller, target) };
  // A caller that may delete an account is an ancestor of it, with management capability.
  const { record } = await findAccount(parts, caller, target, "delete");
  return { kind: "user", target: record.profile.id };
}

/** Returns the DNA in its canonical spelling. `.1.2.7.` is the place of account 7, which may publish there, as may those above. */
async function placeBelow(parts: AccountLookupParts, caller: AccountRecord, target: string): Promise<string> {
  const place = target.endsWith(".") ? target : `${target}.`;
  if (!/^\.([1-9][0-9]{0,14}\.){1,100}$/.test(place)) throw userNotFound(target);
  const own = dnaBelow(caller.profile.dna, caller.profile.id);
  if (place === own) return place;
  if (own.startsWith(place)) {
    throw new RefusedError({
      code: "not_ancestor",
      message: `News below ${target.slice(0, 80)} may be published by that account and by those above it.`,
    });
  }
  const id = ancestorsOf(place).at(-1);
  const { record } = await findAccount(parts, caller, String(id), "delete");
  if (dnaBelow(record.profile.dna, record.profile.id) !== place) throw userNotFound(target);
  return place;
}

/** Returns the audience as the operation log names it. */
export function auditTargetOf(audience: Audience): string | number {
  switch (audience.kind) {
    case "system":
      return "everybody";
    case "user":
      return audience.target;
    case "dna":
      return audience.dna;
  }
}
