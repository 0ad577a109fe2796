// Remembers where pages of filtered lists begin, so that turning pages one by one does not make the store walk from the
// newest line to each of them. A page begins where the page before it ended when it was last answered here: lines that
// are written meanwhile shift nothing. What is not remembered is found by a walk, with the same result as long as nothing
// was written. Bounded in lists, pages of a list, and time.

import type { Clock } from "../base/clock.ts";
import { LruCache } from "../base/lru-cache.ts";
import type { LineAnchor } from "../store/store.ts";

/** Lists that are remembered, and pages of one. Of more pages the first are forgotten. */
const [LISTS_MAX, PAGES_MAX] = [1_000, 50];
/** Milliseconds after its last page for which a list is remembered. */
const REMEMBERED_MS = 600_000;

/** Where a walk to a page begins: at the beginning of this page, which is the page itself or an earlier one. */
export interface PageStart {
  /** From 1. */
  readonly page: number;
  /** The page begins behind this place; null for the newest line. */
  readonly after: LineAnchor | null;
}

const FIRST: PageStart = { page: 1, after: null };

/** The beginnings of pages, by list. */
export class PageAnchors {
  /** The starts of each list, in the order of their pages. They are replaced, never changed. */
  readonly #lists: LruCache<string, readonly PageStart[]>;

  constructor(clock: Clock) {
    this.#lists = new LruCache({ clock, most: LISTS_MAX, ttlMs: REMEMBERED_MS });
  }

  /** Returns the last remembered start that is not behind a page. */
  startOf(list: string, page: number): PageStart {
    return this.#lists.get(list)?.findLast((start) => start.page <= page) ?? FIRST;
  }

  /** Notes that a page ended here. Later pages are forgotten, because they followed its former end. */
  ended(list: string, page: number, end: LineAnchor): void {
    const earlier = (this.#lists.get(list) ?? []).filter((start) => start.page <= page);
    this.#lists.set(list, [...earlier, { page: page + 1, after: end }].slice(-PAGES_MAX));
  }
}
