// What a verification finds wrong, as data: which rule, where, and in words. Bounded, so that a ledger that is broken
// everywhere does not fill the memory; what is over the bound is still counted.

/** One per promise that the ledger and what is derived from it must keep. */
export type Rule =
  /** Commits are numbered without gaps; epoch and time never fall; lines are numbered. */
  | "sequence"
  | "epoch"
  | "time"
  | "line_numbers"
  /** A line's balance is the one before and its amount; its amount has its kind's sign. */
  | "running_balance"
  /** The numbers of a charge follow from each other. */
  | "charge"
  | "charge_twice"
  /** Figures set by hand start from what they were; what is written off is a debt at an account's end, and all of it. */
  | "adjust"
  | "write_off"
  | "mark"
  /** Credit that left one account reached the other, once. */
  | "transfer"
  /** Every account counts its children, and nobody else's. */
  | "children"
  /** A deleted account has nothing left; what an end alone may cost stands at an end, and what it says is so. */
  | "deletion"
  /** Events that the actor itself refuses to replay. */
  | "replay"
  /** What was derived from the ledger equals what is derived from it now. */
  | "account_document"
  | "usage_document"
  /** The rows that bills add up say what the documents of usage say. */
  | "usage_sums"
  | "snapshot"
  | "claim"
  | "conservation";

export interface Finding {
  readonly rule: Rule;
  /** An actor, with the seq of a commit where one is to blame: `account/5 #12`. */
  readonly where: string;
  readonly what: string;
}

export interface Findings {
  add(rule: Rule, where: string, what: string): void;
  readonly kept: readonly Finding[];
  count(): number;
}

const KEPT_MOST = 1_000;

export function createFindings(): Findings {
  const kept: Finding[] = [];
  let count = 0;
  return {
    kept,
    count: () => count,
    add(rule, where, what) {
      count++;
      if (kept.length < KEPT_MOST) kept.push({ rule, where, what });
    },
  };
}

/** The data as a store gives it back: absent fields gone, nothing shared. */
export const asStored = (value: unknown): unknown =>
  value === undefined ? null : JSON.parse(JSON.stringify(value));

const NAMED_MOST = 5;

/** In words, where two plain values differ: `credit.owed is 5, computed 0`. Empty: they are equal. */
export function differences(found: unknown, computed: unknown, path = ""): string[] {
  if (Bun.deepEquals(found, computed)) return [];
  if (!isObject(found) || !isObject(computed)) {
    return [`${path || "it"} is ${shown(found)}, computed ${shown(computed)}`];
  }
  const keys = [...new Set([...Object.keys(found), ...Object.keys(computed)])];
  return keys
    .flatMap((key) => differences(found[key], computed[key], path === "" ? key : `${path}.${key}`))
    .slice(0, NAMED_MOST);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const shown = (value: unknown): string =>
  value === undefined ? "absent" : JSON.stringify(value).slice(0, 80);
