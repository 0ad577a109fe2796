// Accounts whose names are the same in Unicode NFC and differ in their encoding: older than the rule that forbids it. All
// of them work; their owner may want to know. Reads the accounts table once and changes nothing.

import { composed } from "../../actors/account-name.ts";
import type { Store } from "../store/store.ts";

export interface AlikeNames {
  /** In NFC and lower case. */
  readonly name: string;
  readonly accounts: readonly number[];
}

/** Account numbers rise in each of them. */
export async function alikeNames(store: Pick<Store, "scan">): Promise<readonly AlikeNames[]> {
  const byName = new Map<string, number[]>();
  const open = { field: "closed", is: "=", value: 0 } as const;
  for await (const { id, nameLower } of store.scan({ table: "accounts", where: [open], order: "id" })) {
    const name = composed(String(nameLower));
    // A name that has one encoding has no other account beside it.
    if (name === name.normalize("NFD")) continue;
    byName.set(name, [...(byName.get(name) ?? []), Number(id)]);
  }
  return [...byName].flatMap(([name, accounts]) => (accounts.length > 1 ? [{ name, accounts }] : []));
}
