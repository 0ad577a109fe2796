// Ids of requests that ended lately, so that a message that was sent before the end opens no hold after it. It keeps
// what is young and what fits; it knows nothing of holds. One Map alone does not do: its first entry is found by
// passing over all that were deleted before it, thousands of them when an account has many requests. While they are few
// there is no Map, which would take twice the memory of the ids.

/**
 * Milliseconds for which an ended request is remembered; messages sent before its end arrive much sooner, or
 * never.
 */
const ENDED_MS = 60_000;
const ENDED_MAX = 10_000;
/** Forgotten places at the front of the list that are removed together. */
const GONE_MAX = 1_024;
/** The length of the list up to which an id is found by scanning it. */
const SCANNED_MAX = 32;
/** A place in the list is an id and a time. */
const WIDTH = 2;

/** The requests of one account that ended lately. */
export class EndedRequests {
  /** The place of each id in the list, counted from the first id ever added; null while they are few. */
  private places: Map<string, number> | null = null;
  /**
   * Each id and the ms of its end, oldest first, in one array. An id that was added again may have an earlier place, which
   * is void.
   */
  private rows: (string | number)[] = [];
  /** The number of places that were removed, and of those at the front of the list that are still to be. */
  private removed = 0;
  private gone = 0;

  get size(): number {
    return this.places === null ? this.listed : this.places.size;
  }

  has(id: string): boolean {
    return this.places === null ? this.rows.includes(id) : this.places.has(id);
  }

  /** Returns the ids, oldest first. */
  all(): readonly string[] {
    const { places, removed } = this;
    const ids = Array.from({ length: this.listed }, (_, i) => this.idAt(i));
    return places === null ? ids : ids.filter((id, i) => places.get(id) === removed + i);
  }

  /** Adds an id whose request ended at `now`, wall-clock ms, or moves it to the end. Drops the oldest. */
  add(id: string, now: number): void {
    if (this.places === null) this.removeFew(id);
    else this.places.set(id, this.removed + this.listed);
    this.rows.push(id, now);
    this.forget(now);
    if (this.places === null && this.listed > SCANNED_MAX) {
      this.places = new Map(this.all().map((one, i) => [one, i]));
    }
  }

  /** Drops the ids of requests that ended too long before `now`, or are too many. */
  forget(now: number): void {
    if (this.places === null) this.forgetFew(now);
    else this.forgetMany(this.places, now);
  }

  private get listed(): number {
    return this.rows.length / WIDTH;
  }

  private idAt(i: number): string {
    return this.rows[i * WIDTH] as string;
  }

  private endedAt(i: number): number {
    return this.rows[i * WIDTH + 1] as number;
  }

  private removeFew(id: string): void {
    const i = this.rows.indexOf(id);
    if (i >= 0) this.rows.splice(i, WIDTH);
  }

  private forgetFew(now: number): void {
    let old = 0;
    while (old < this.listed && this.endedAt(old) <= now - ENDED_MS) old++;
    if (old > 0 && old === this.listed) this.restart();
    else if (old > 0) this.rows.splice(0, old * WIDTH);
  }

  private forgetMany(places: Map<string, number>, now: number): void {
    for (; this.gone < this.listed; this.gone++) {
      const oldest = this.idAt(this.gone);
      if (places.get(oldest) !== this.removed + this.gone) continue;
      if (places.size <= ENDED_MAX && this.endedAt(this.gone) > now - ENDED_MS) break;
      places.delete(oldest);
    }
    if (places.size === 0) this.restart();
    else if (this.gone >= GONE_MAX) this.removeGone();
  }

  private restart(): void {
    this.places = null;
    this.rows = [];
    this.removed = 0;
    this.gone = 0;
  }

  private removeGone(): void {
    this.rows = this.rows.slice(this.gone * WIDTH);
    this.removed += this.gone;
    this.gone = 0;
  }
}
