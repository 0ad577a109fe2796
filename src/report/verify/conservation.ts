// Where money is, over all accounts: the sums of a verification and the rule that none is made or lost.
// In bigint, since sums across accounts may pass what a number holds exactly.

import type { LineEvent } from "../ledger-lines.ts";

/** Where the amount of a line goes to, or comes from. A new kind of line joins by a row. */
export const POTS = {
  grant: "moved",
  transfer_in: "moved",
  auto_quota: "moved",
  refund: "moved",
  transfer_out: "moved",
  refund_out: "moved",
  returned: "moved",
  charge: "charged",
  query_fee: "fees",
  delete_fee: "fees",
  // A charge that nobody pays and its loss cancel each other.
  late_charge: "written off",
  write_off: "written off",
  adjust: "nothing",
  expire: "expired",
} as const satisfies Record<LineEvent["type"], "moved" | "nothing" | Spent>;

/** Ways in which credit ceases to be, in the order in which they are told. Written off is below zero: debt that ceased. */
export const SPENT = ["charged", "fees", "expired", "written off"] as const;
export type Spent = (typeof SPENT)[number];

/** −1: takes from the balance, 1: adds to it; zero is fine for both. 0: the amount is zero. */
export const SIGNS = {
  grant: 1,
  transfer_in: 1,
  auto_quota: 1,
  refund: 1,
  transfer_out: -1,
  refund_out: -1,
  returned: 1,
  charge: -1,
  query_fee: -1,
  delete_fee: -1,
  late_charge: -1,
  write_off: 1,
  adjust: 0,
  expire: -1,
} as const satisfies Record<LineEvent["type"], 1 | -1 | 0>;

export interface LedgerTotals {
  accounts: number;
  actors: number;
  commits: number;
  lines: number;
  marks: number;
  snapshots: number;
  accountDocuments: number;
  usageDocuments: number;
  usageSums: number;
  /** All in nano-dollars. */
  minted: bigint;
  balances: bigint;
  inFlight: bigint;
  readonly spent: Record<Spent, bigint>;
}

export const noLedgerTotals = (): LedgerTotals => ({
  accounts: 0,
  actors: 0,
  commits: 0,
  lines: 0,
  marks: 0,
  snapshots: 0,
  accountDocuments: 0,
  usageDocuments: 0,
  usageSums: 0,
  minted: 0n,
  balances: 0n,
  inFlight: 0n,
  spent: { charged: 0n, fees: 0n, expired: 0n, "written off": 0n },
});

/** What is unaccounted for: minted − Σ balances − in flight − Σ spent. Zero when the books are right. */
export const unaccounted = ({ minted, balances, inFlight, spent }: LedgerTotals): bigint =>
  SPENT.reduce((rest, kind) => rest - spent[kind], minted - balances - inFlight);

/** Nano-dollars as exact US dollars: `-12.000000001`. */
export function exactUsd(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}
