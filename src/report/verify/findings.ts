// Collects the findings of a verification as data: rule, place and description. The list is bounded, so that
// a completely broken ledger does not exhaust memory; findings beyond the bound are counted.

/** One rule per invariant of the ledger and of the data derived from it. */
export type Rule =
  /** Commits are numbered without gaps; epoch and time never decrease; lines are numbered. */
  | "sequence"
  | "epoch"
  | "time"
  | "line_numbers"
  /** A line's balance is the previous balance plus its amount; the amount has the sign of its type. */
  | "running_balance"
  /** The numbers of a charge are consistent, and no charge occurs twice. */
  | "charge"
  | "charge_twice"
  /**
   * An adjustment records the figures that were there before; a write-off clears a whole debt at an account's
   * end.
   */
  | "adjust"
  | "write_off"
  | "mark"
  /** Lines name API keys that existed, and the sums of each key are those of its lines. */
  | "api_key"
  /** Credit that left one account reached the other exactly once. */
  | "transfer"
  /** Every account counts exactly its own children. */
  | "children"
  /**
   * A deleted account has no balance; what only a deletion may cost occurs only there, and its sums are
   * right.
   */
  | "deletion"
  /** The actor can replay all its events. */
  | "replay"
  /** Stored derived data equals the data derived from the ledger now. */
  | "account_document"
  | "usage_document"
  /** The rows that bills add up equal the usage documents. */
  | "usage_sums"
  /** The rows that filters of lines read equal the ledger's lines. */
  | "line_projection"
  /** Usage by API key, tag and hour equals what the ledger's charges amount to. */
  | "usage_parts"
  /** The sums by day and provider key equal those of the ledger's charges. */
  | "key_costs"
  /** What lists show of the keys of a Level equals its events. */
  | "level_history"
  /** The sums of credit from which `/x-money` is made equal those of the ledger's lines. */
  | "money_sums"
  | "snapshot"
  | "claim"
  | "conservation";

/** One violation of a rule. */
export interface Finding {
  readonly rule: Rule;
  /** The actor, with the seq of the commit if there is one: `account/5 #12`. */
  readonly where: string;
  readonly what: string;
}

/** A bounded list of findings, and their count. */
export interface Findings {
  add(rule: Rule, where: string, what: string): void;
  readonly kept: readonly Finding[];
  count(): number;
}

const KEPT_MAX = 1_000;

/** Creates an empty list, which keeps the first `KEPT_MAX` findings. */
export function createFindings(): Findings {
  const kept: Finding[] = [];
  let count = 0;
  return {
    kept,
    count: () => count,
    add(rule, where, what) {
      count++;
      if (kept.length < KEPT_MAX) kept.push({ rule, where, what });
    },
  };
}

/** Returns a copy as a store would return it: without undefined fields; undefined becomes null. */
export const asStored = (value: unknown): unknown =>
  value === undefined ? null : JSON.parse(JSON.stringify(value));

const NAMED_MAX = 5;

/**
 * Describes where two plain values differ: `credit.owed is 5, computed 0`. Returns an empty array when they
 * are equal, and at most `NAMED_MAX` differences.
 */
export function differences(found: unknown, computed: unknown, path = ""): string[] {
  if (Bun.deepEquals(found, computed)) return [];
  if (!isObject(found) || !isObject(computed)) {
    return [`${path || "it"} is ${shown(found)}, computed ${shown(computed)}`];
  }
  const keys = [...new Set([...Object.keys(found), ...Object.keys(computed)])];
  return keys
    .flatMap((key) => differences(found[key], computed[key], path === "" ? key : `${path}.${key}`))
    .slice(0, NAMED_MAX);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

const shown = (value: unknown): string =>
  value === undefined ? "absent" : JSON.stringify(value).slice(0, 80);
