// Finds accounts whose names are equal in Unicode NFC but encoded differently. They are older than the rule
// that forbids it, and they work, but the operator may want to know. Reads the accounts table once and
// changes nothing.

import { composed } from "../../actors/account-name.ts";
import type { Store } from "../store/store.ts";

/** A name, and the accounts that have it. */
export interface AlikeNames {
  /** The name in NFC and lower case. */
  readonly name: string;
  readonly accounts: readonly number[];
}

/** Returns names that several accounts have; account ids are in ascending order. */
export async function alikeNames(store: Pick<Store, "scan">): Promise<readonly AlikeNames[]> {
  const byName = new Map<string, number[]>();
  const open = { field: "closed", is: "=", value: 0 } as const;
  for await (const { id, nameLower } of store.scan({ table: "accounts", where: [open], order: "id" })) {
    const name = composed(String(nameLower));
    // A name with only one encoding cannot collide.
    if (name === name.normalize("NFD")) continue;
    byName.set(name, [...(byName.get(name) ?? []), Number(id)]);
  }
  return [...byName].flatMap(([name, accounts]) => (accounts.length > 1 ? [{ name, accounts }] : []));
}
