// Ids of requests that ended lately, so that a message that was sent before the end opens no hold after it. It keeps
// what is young and what fits; it knows nothing of holds. One Map alone does not do: its first entry is found by
// passing over all that were deleted before it, thousands of them when an account has many requests.

/**
 * Milliseconds for which an ended request is remembered; messages sent before its end arrive much sooner, or
 * never.
 */
const ENDED_MS = 60_000;
const ENDED_MAX = 10_000;
/** Forgotten places at the front of the list that are removed together. */
const GONE_MAX = 1_024;

/** The requests of one account that ended lately. */
export class EndedRequests {
  /** The place of each id in the list, counted from the first id ever added. */
  private readonly places = new Map<string, number>();
  /** Ids and the ms of their ends, oldest first. An id that was added again also has an earlier place, which is void. */
  private ids: string[] = [];
  private endedAt: number[] = [];
  /** The number of places that were removed, and of those at the front of the list that are still to be. */
  private removed = 0;
  private gone = 0;

  get size(): number {
    return this.places.size;
  }

  has(id: string): boolean {
    return this.places.has(id);
  }

  /** Returns the ids, oldest first. */
  all(): readonly string[] {
    return this.ids.filter((id, i) => this.isAt(id, i));
  }

  /** Adds an id whose request ended at `now`, wall-clock ms, or moves it to the end. Drops the oldest. */
  add(id: string, now: number): void {
    this.places.set(id, this.removed + this.ids.length);
    this.ids.push(id);
    this.endedAt.push(now);
    this.forget(now);
  }

  /** Drops the ids of requests that ended too long before `now`, or are too many. */
  forget(now: number): void {
    for (; this.gone < this.ids.length; this.gone++) {
      const oldest = this.ids[this.gone]!;
      if (!this.isAt(oldest, this.gone)) continue;
      if (this.places.size <= ENDED_MAX && this.endedAt[this.gone]! > now - ENDED_MS) break;
      this.places.delete(oldest);
    }
    if (this.gone >= GONE_MAX) this.removeGone();
  }

  private isAt(id: string, i: number): boolean {
    return this.places.get(id) === this.removed + i;
  }

  private removeGone(): void {
    this.ids = this.ids.slice(this.gone);
    this.endedAt = this.endedAt.slice(this.gone);
    this.removed += this.gone;
    this.gone = 0;
  }
}
