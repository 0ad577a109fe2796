// What a query of ledger lines may ask for, and what it gets. Types and their checks only: the rows that
// queries read are made by line-rows.ts, and every store gives a filter the same meaning (`passes` there).

import assert from "node:assert/strict";

/** Selects ledger lines of one actor. A line must meet every field that is present. */
export interface LineFilter {
  readonly actor: string;
  /** Wall-clock milliseconds; `from` is included, `until` is not. */
  readonly from?: number;
  readonly until?: number;
  /** One of these types, as the ledger names them. */
  readonly types?: readonly string[];
  readonly model?: string;
  /** The API key that caused the line; 0 is the main key. Transfers, for instance, have none. */
  readonly apiKey?: number;
  /** Tags by name; the line must have all of them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The id of a request, as its client or as the service knows it. */
  readonly request?: string;
}

/** The place of a line in its actor's ledger; lines of one actor are in the order of both fields. */
export interface LineAnchor {
  /** Wall-clock milliseconds. */
  readonly at: number;
  /** Number of the line in its actor's ledger, from 1. */
  readonly number: number;
}

/** A line with its event, as its commit has it. */
export interface FoundLine extends LineAnchor {
  readonly e: unknown;
}

/** A page of lines, newest first. */
export interface FoundLines {
  readonly lines: readonly FoundLine[];
  /**
   * The anchor of the next page; null when no further line can pass. A store examines a bounded number of
   * lines for a page, so a page may be short, or empty, and still have an anchor.
   */
  readonly next: LineAnchor | null;
}

/** Where a walk over the lines that pass begins and ends. */
export interface LineWalk {
  /** It begins behind this place; null for the newest line. */
  readonly after: LineAnchor | null;
  /** So many lines that pass are left out first. */
  readonly skip: number;
  readonly limit: number;
}

/** How many lines pass, and the sum of their amounts in nano-dollars, which may exceed the safe integers. */
export interface LineTotals {
  readonly count: number;
  readonly amount: bigint;
}

export const NO_LINES: LineTotals = { count: 0, amount: 0n };

/** Throws when the filter or the walk is not one that a store may run. */
export function checkLineWalk(filter: LineFilter, { after, skip, limit }: LineWalk): void {
  checkLineQuery(filter, after, limit);
  assert(Number.isSafeInteger(skip) && skip >= 0, `a walk that leaves out ${skip} lines`);
}

/** Throws when the filter, the anchor or the limit is not one that a store may run. */
export function checkLineQuery(filter: LineFilter, after: LineAnchor | null, limit: number): void {
  const { actor, from, until, types, model, apiKey, tags, request } = filter;
  const isText = (value: unknown) => typeof value === "string";
  assert(isText(actor), "lines are of an actor");
  for (const whole of [from, until, apiKey, after?.at, after?.number]) {
    assert(whole === undefined || Number.isSafeInteger(whole), `lines are not found by ${String(whole)}`);
  }
  assert(
    [model, request, ...Object.values(tags ?? {})].every((one) => one === undefined || isText(one)),
    "models, requests and tags are texts",
  );
  assert(types === undefined || (Array.isArray(types) && types.every(isText)), "types are a list of texts");
  assert(Number.isSafeInteger(limit) && limit > 0, `a page of ${limit} lines`);
}
