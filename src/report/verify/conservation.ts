// The sums of a verification over all accounts, and the rule that no money is created or lost. Sums are
// bigint, because they may exceed safe integers.

import type { LineEvent } from "../ledger-lines.ts";

/** Where the amount of a line goes to or comes from, by line type. */
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
  // A late charge, which nobody pays, and its write-off cancel each other.
  late_charge: "written off",
  write_off: "written off",
  adjust: "nothing",
  expire: "expired",
} as const satisfies Record<LineEvent["type"], "moved" | "nothing" | Spent>;

/**
 * The ways in which credit is used up, in display order. `written off` is negative, since it removes debt.
 */
export const SPENT = ["charged", "fees", "expired", "written off"] as const;
/** A way in which credit is used up. */
export type Spent = (typeof SPENT)[number];

/**
 * The sign of a line's amount by type: −1 decreases the balance, 1 increases it, and both allow zero. 0 means
 * that the amount is zero.
 */
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

/** Counts and sums of a verification. */
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
  /** Rows of the projection of ledger lines. */
  lineRows: number;
  /** Parts of usage by API key, tag and hour. */
  usageParts: number;
  /** Rows of sums of credit. */
  moneyRows: number;
  /** This and the sums below are in nano-dollars. */
  minted: bigint;
  balances: bigint;
  inFlight: bigint;
  readonly spent: Record<Spent, bigint>;
}

/** Creates totals of zero. */
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
  lineRows: 0,
  usageParts: 0,
  moneyRows: 0,
  minted: 0n,
  balances: 0n,
  inFlight: 0n,
  spent: { charged: 0n, fees: 0n, expired: 0n, "written off": 0n },
});

/**
 * Returns the unaccounted amount in nano-dollars: minted − Σ balances − in flight − Σ spent. It is zero when
 * the books are right.
 */
export const unaccounted = ({ minted, balances, inFlight, spent }: LedgerTotals): bigint =>
  SPENT.reduce((rest, kind) => rest - spent[kind], minted - balances - inFlight);

/** Formats nano-dollars as exact US dollars, for example `-12.000000001`. */
export function exactUsd(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`;
}
