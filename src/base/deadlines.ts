// Deadlines that share one coarse tick instead of a timer each, because each request sets several and nearly
// all are canceled. A deadline comes at most two ticks late and never early, so this is for long waits only.
// Those of one tick are a ring of linked objects, so that setting and canceling one touches nothing else.

export const TICK_MS = 50;

export interface Deadlines {
  /** Calls `fn` once after about `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, fn: () => void): () => void;
}

/** A link of the ring of one tick. The ring's head is a link without a function. */
class Link {
  next: Link = this;
  previous: Link = this;

  constructor(readonly fn: (() => void) | null) {}

  /** Puts `link` at the end of the ring of which this is the head. */
  append(link: Link): void {
    link.previous = this.previous;
    link.next = this;
    this.previous.next = link;
    this.previous = link;
  }

  /** Takes the link out of its ring. Does nothing when it is out. */
  remove(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}

/**
 * Creates deadlines over `now`, which returns monotonic milliseconds. Its interval timer stops when no
 * deadline is set.
 */
export function createDeadlines(now: () => number): Deadlines {
  /** The rings of ticks, by tick. Canceled deadlines leave empty rings, which last until their tick. */
  const due = new Map<number, Link>();
  let set = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  let seen = tickOf(now());

  function tick(): void {
    const current = tickOf(now());
    // After a late tick (a busy or suspended process) everything that became due meanwhile runs.
    for (; seen < current; seen++) {
      const ring = due.get(seen);
      if (ring === undefined) continue;
      due.delete(seen);
      for (let link = ring.next; link !== ring; link = ring.next) {
        link.remove();
        set--;
        link.fn?.();
      }
    }
    if (set > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    due.clear();
  }

  return {
    after(ms, fn) {
      const start = now();
      if (timer === null) {
        seen = tickOf(start);
        timer = setInterval(tick, TICK_MS);
      }
      const at = tickOf(start + ms);
      let ring = due.get(at);
      if (ring === undefined) {
        ring = new Link(null);
        due.set(at, ring);
      }
      const link = new Link(fn);
      ring.append(link);
      set++;
      return () => {
        if (link.next === link) return;
        link.remove();
        set--;
      };
    },
  };
}

const tickOf = (ms: number): number => Math.floor(ms / TICK_MS);
