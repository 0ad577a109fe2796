// Reads pages of an account's ledger, the newest line first. Without a filter, and by times alone, the lines of a page have
// numbers in a row, and are read from the commits by these. Other filters read the store's projection: near the newest line
// on the spot, elsewhere by a walk beside the event loop. It computes no sums: see ledger-totals.ts.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { Clock } from "../base/clock.ts";
import { actorName } from "../runtime/actor.ts";
import type { FoundLine, LineAnchor, LineFilter, Store } from "../store/store.ts";
import { type LineEvent, lineCount, type NumberedLine, numberedLines } from "./ledger-lines.ts";
import { PageAnchors } from "./page-anchors.ts";

/** Selects lines of an account's ledger. */
export type LedgerFilter = Omit<LineFilter, "actor">;

/** A page, counted from 1, of so many lines. */
export interface PageNumber {
  readonly page: number;
  readonly size: number;
}

/** The lines of a page, newest first. */
export interface LedgerPage {
  readonly lines: readonly NumberedLine[];
  readonly hasMore: boolean;
}

/** Lines whose events are read and parsed at once, which takes a few milliseconds. */
const PART_LINES = 100;

/** Whether a filter selects by times alone, or nothing. */
export const isOfTimes = ({ from, until, ...others }: LedgerFilter): boolean =>
  Object.values(others).every((one) => one === undefined);

/** Returns the numbers of the first and the last line within times. There is none when the last is before the first. */
export async function lineNumbers(
  store: Store,
  id: AccountId,
  { from, until }: Pick<LedgerFilter, "from" | "until">,
): Promise<{ readonly first: number; readonly last: number }> {
  const actor = actorName(actorRef.account(id));
  const lastBefore = async (at: number): Promise<number> =>
    (await store.lines({ actor, until: at }, null, 1)).lines[0]?.number ?? 0;
  const [before, last] = await Promise.all([
    from === undefined ? 0 : lastBefore(from),
    until === undefined ? lineCount(store, id) : lastBefore(until),
  ]);
  return { first: before + 1, last };
}

/** Reads pages of ledgers by filters. */
export class LedgerPages {
  readonly #anchors: PageAnchors;

  constructor(
    private readonly store: Store,
    clock: Clock,
  ) {
    this.#anchors = new PageAnchors(clock);
  }

  /**
   * Returns a page of the lines that pass. Rejects with the signal's reason when it is aborted, and with `StoreBusyError` when
   * too many walks wait already.
   */
  read(id: AccountId, filter: LedgerFilter, at: PageNumber, signal: AbortSignal): Promise<LedgerPage> {
    return isOfTimes(filter) ? this.#byNumber(id, filter, at) : this.#byWalk(id, filter, at, signal);
  }

  async #byNumber(id: AccountId, filter: LedgerFilter, { page, size }: PageNumber): Promise<LedgerPage> {
    const { first, last } = await lineNumbers(this.store, id, filter);
    const newest = last - (page - 1) * size;
    const oldest = Math.max(first, newest - size + 1);
    return { lines: await numberedLines(this.store, id, oldest, newest), hasMore: oldest > first };
  }

  async #byWalk(
    id: AccountId,
    asked: LedgerFilter,
    { page, size }: PageNumber,
    signal: AbortSignal,
  ): Promise<LedgerPage> {
    const filter = { ...asked, actor: actorName(actorRef.account(id)) };
    const list = JSON.stringify([filter, size]);
    const start = this.#anchors.startOf(list, page);
    const skip = (page - start.page) * size;
    // One more line says whether there are more.
    const wanted = size + 1;
    const near =
      skip === 0 ? await this.#near(filter, start.after, wanted) : { lines: [], next: start.after };
    const isFound = near.lines.length === wanted || (skip === 0 && near.next === null);
    const walk = { after: near.next, skip, limit: wanted - near.lines.length };
    const far = isFound ? [] : (await this.store.walkLines(filter, walk, signal)).lines;
    const found = [...near.lines, ...far];
    const lines = found.slice(0, size);
    const hasMore = found.length > size;
    if (hasMore) this.#anchors.ended(list, page, placeOf(lines.at(-1)!));
    return { lines: lines.map(numbered), hasMore };
  }

  /** The lines behind a place that are found within what a store examines for one page; `next` is null when there are no more. */
  async #near(filter: LineFilter, from: LineAnchor | null, wanted: number) {
    const lines: FoundLine[] = [];
    let next = from;
    while (lines.length < wanted) {
      const limit = Math.min(PART_LINES, wanted - lines.length);
      const found = await this.store.lines(filter, next, limit);
      lines.push(...found.lines);
      next = found.next;
      if (next === null || found.lines.length < limit) break;
      await new Promise(setImmediate);
    }
    return { lines, next };
  }
}

/**
 * Yields all lines that pass, newest first, some at a time. The event loop turns after each part, which may be empty. Lines that
 * are written meanwhile are left out.
 */
export async function* allLines(
  store: Store,
  id: AccountId,
  asked: LedgerFilter,
): AsyncGenerator<readonly NumberedLine[]> {
  if (isOfTimes(asked)) {
    const { first, last } = await lineNumbers(store, id, asked);
    for (let newest = last; newest >= first; newest -= PART_LINES) {
      yield await numberedLines(store, id, Math.max(first, newest - PART_LINES + 1), newest);
      await new Promise(setImmediate);
    }
    return;
  }
  const filter = { ...asked, actor: actorName(actorRef.account(id)) };
  let after: LineAnchor | null = null;
  do {
    const { lines, next }: { lines: readonly FoundLine[]; next: LineAnchor | null } = await store.lines(
      filter,
      after,
      PART_LINES,
    );
    yield lines.map(numbered);
    after = next;
    await new Promise(setImmediate);
  } while (after !== null);
}

const placeOf = ({ at, number }: FoundLine): LineAnchor => ({ at, number });

const numbered = ({ at, number, e }: FoundLine): NumberedLine => ({ number, at, event: e as LineEvent });
