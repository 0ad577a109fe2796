// Whose usage and ledger the ancestors of accounts may read: everybody below the caller, one account, or those that a
// filter names. What a deleted account used stays with its former ancestors: the whole tree and filters have it, and its
// id still names it; its name and e-mail may be another's by now, and do not. Of an account that was moved, the tree's
// bill has the days that it used there; named, it comes with all of its days.

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

/** No more accounts are named to the store at once. */
const GROUP = 1_000;

/**
 * The accounts of a bill; without an identifier all descendants. Refuses user_not_found for an id, name or e-mail of
 * nobody in reach; a filter may meet nobody, and of an e-mail all who have it are meant.
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

/** One descendant by id, name or e-mail; an id also names one that was deleted. Refuses as `named` does. */
export async function recordedAccount(
  parts: AccountLookupParts,
  caller: AccountRecord,
  identifier: string,
): Promise<Profile> {
  const find = namesOf(identifier) === "id" ? everDescendant : descendant;
  return (await find(parts, caller, identifier)).profile;
}

/** Descendants whose DNA starts so. */
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
