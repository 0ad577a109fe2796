// Parses the documents of accounts that the use cases find in the store. A document may lag behind its
// account, so it says only which accounts to ask, and what they held a moment ago.

import type { AccountId } from "../../actors/ids.ts";
import { StoredRow } from "../store/stored-rows.ts";
import type { DocumentBody } from "../store/tables.ts";

/** The place of an account in the tree. */
export interface StoredAccount {
  readonly id: AccountId;
  readonly dna: string;
}

/** Returns the id and DNA of an account's document. Throws `StoredRowError` when it has none. */
export function parseAccountRow(body: DocumentBody): StoredAccount {
  const row = new StoredRow("accounts", body);
  return { id: row.integer("id") as AccountId, dna: row.text("dna") };
}

/** Credit of an account, in nano-dollars, that is valid until a wall-clock time in milliseconds. */
interface CreditRow {
  readonly amount: number;
  readonly expiresAt: number;
}

const isCreditRow = (value: unknown): value is CreditRow =>
  typeof value === "object" &&
  value !== null &&
  "amount" in value &&
  Number.isSafeInteger(value.amount) &&
  "expiresAt" in value &&
  typeof value.expiresAt === "number";

/**
 * Returns the balance of an account's document in nano-dollars without the credit that has expired at `now`,
 * wall-clock milliseconds.
 */
export function balanceInRow(body: DocumentBody, now: number): number {
  const row = new StoredRow("accounts", body);
  const expired = row.list("entries", isCreditRow).filter(({ expiresAt }) => expiresAt <= now);
  return row.integer("balance") - expired.reduce((sum, { amount }) => sum + amount, 0);
}
