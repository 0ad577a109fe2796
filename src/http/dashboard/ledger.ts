// Ledger lines of an account by filters: a page of them, their totals, or all of them as a download. What is read is bounded in
// time and never holds up the event loop: see ledger-page.ts.

import type { Static } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { parseTags, type Tags } from "../../../actors/tags.ts";
import type { Clock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { lineCount, lineShape, typesShownAs } from "../../report/ledger-lines.ts";
import { allLines, type LedgerFilter, type LedgerPages } from "../../report/ledger-page.ts";
import { ledgerTotals } from "../../report/ledger-totals.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import type { LineTotals, Store } from "../../store/store.ts";
import { StoreBusyError } from "../../store/store-errors.ts";
import { rawAnswer, streamed } from "../json-stream.ts";
import { positivePageOf } from "../schemas.ts";
import { timeRangeOf } from "../time-range.ts";
import { LEDGER_CSV_HEAD, ledgerCsv, ledgerCsvRow, ledgerDownloadHeaders } from "./ledger-csv.ts";
import type { LedgerQuery, LedgerSchema } from "./ledger-schemas.ts";

/** What ledgers need. */
export interface LedgerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledgerPages: LedgerPages;
}

type Ledger = Static<typeof LedgerSchema>;

/** Milliseconds in which a page is found, and in which lines are counted. */
const FIND_MS = 5_000;

/**
 * Returns a page of an account's ledger, or a download. Source: contract sections 5 and 8. Throws `invalid_parameter` for a filter
 * that nothing can pass, and `service_unavailable` for a page that is not found in time.
 */
export async function ledgerOf(
  parts: LedgerParts,
  id: AccountId,
  query: LedgerQuery,
  request: Request,
): Promise<Ledger> {
  const filter = filterOf(query);
  const isPaged = query.page !== undefined || query.size !== undefined;
  const paging = positivePageOf(query, { size: 24, most: 1_000 });
  if (query.format === "csv" && !isPaged) {
    const text = ledgerCsv(allLines(parts.store, id, filter));
    return rawAnswer(await streamed(text), ledgerDownloadHeaders(id));
  }
  const asked = query.totals === "true";
  const isUnfiltered = Object.keys(filter).length === 0;
  const [found, totals, lines] = await Promise.all([
    inTime(parts.clock, request.signal, (signal) => parts.ledgerPages.read(id, filter, paging, signal)),
    asked && query.format !== "csv" ? totalsOf(parts, id, filter, request.signal) : null,
    isUnfiltered ? lineCount(parts.store, id) : null,
  ]);
  if (found === LATE) {
    throw new RefusedError({ code: "service_unavailable", message: TOO_FAR, retryAfterS: 1 });
  }
  if (query.format === "csv") {
    return rawAnswer(LEDGER_CSV_HEAD + found.lines.map(ledgerCsvRow).join(""), ledgerDownloadHeaders(id));
  }
  const count = totals === null ? null : totals.count;
  const sum = totals === null ? null : Number(exactUsd(totals.amount));
  return {
    lines: found.lines.map(lineShape),
    total: lines ?? count,
    ...paging,
    has_more: found.hasMore,
    ...(asked ? { count, sum } : {}),
  };
}

/** Counts the lines that pass. Null when that takes too long, or when too much is counted already. */
async function totalsOf(
  { store, clock }: LedgerParts,
  id: AccountId,
  filter: LedgerFilter,
  outer: AbortSignal,
): Promise<LineTotals | null> {
  try {
    const now = clock.wall();
    const totals = await inTime(clock, outer, (signal) => ledgerTotals(store, id, filter, { now, signal }));
    return totals === LATE ? null : totals;
  } catch (error) {
    if (error instanceof StoreBusyError) return null;
    throw error;
  }
}

const LATE = Symbol("late");

/** Runs work whose signal ends after FIND_MS, or with the outer one. Returns LATE when it did not end in time. */
async function inTime<T>(
  clock: Pick<Clock, "after">,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | typeof LATE> {
  const time = new AbortController();
  const cancel = clock.after(FIND_MS, () => time.abort(LATE));
  try {
    return await work(AbortSignal.any([outer, time.signal]));
  } catch (error) {
    if (time.signal.aborted) return LATE;
    throw error;
  } finally {
    cancel();
  }
}

const TOO_FAR = `This page was not found within ${FIND_MS / 1_000} seconds, because too many lines lie before it: narrow the times by "from" and "to", or take "format=csv".`;

/** Returns what a query selects. Throws `invalid_parameter`. */
function filterOf({ type, model, api_key, tag, request, ...times }: LedgerQuery): LedgerFilter {
  return {
    ...timeRangeOf(times),
    ...(type === undefined ? {} : { types: typesShownAs(type) }),
    ...(model === undefined ? {} : { model }),
    ...(api_key === undefined ? {} : { apiKey: Number(api_key) }),
    ...(tag === undefined ? {} : { tags: tagOf(tag) }),
    ...(request === undefined ? {} : { request }),
  };
}

/** Reads `name:value`. A name has no colon, a value may have some. */
function tagOf(text: string): Tags {
  const colon = text.indexOf(":");
  const value = text.slice(colon + 1);
  const tags = colon < 0 || value.includes(",") ? null : parseTags(`${text.slice(0, colon)}=${value}`);
  if (tags !== null && typeof tags !== "string") return tags;
  const message = `"tag" must be NAME:VALUE, as in team:search${tags === null ? "." : `: ${tags}`}`;
  throw new RefusedError({ code: "invalid_parameter", message });
}
