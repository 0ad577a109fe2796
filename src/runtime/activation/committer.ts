// Sends commits to the store by group commit. An append has everything that is ready at the end of one turn of the event
// loop, of whatever actors. While as many appends are in flight as the store carries out at once, what becomes ready waits
// for the next one, so that a busy store gets larger appends.
//
// While many commits come close together, an append waits for more of them, as long as the store states (`appendDelayMs`).
// The events of the last append tell whether that is so: a request that is alone waits for nothing, and of a burst that
// has ended one append at most waits in vain. Databases know this as a commit delay.
//
// An actor has one commit in flight at a time (commit-pipeline.ts), so its commits cannot overtake each other. Where a store
// carries out several appends at once, a slow one holds up only the actors that are in it. Commits are cut at the end of a
// turn and have everything decided until then: answers that arrive together are charged in one turn; cut at the first of
// them, the others would need a second commit and a second sync of the disk.
//
// outcome      what the activation does
// committed    releases the replies
// lost         another writer has that seq: the activation fails and is reloaded
// unknown      stored or not: the activation fails; a retry finds its id in the ledger, or runs
//
// A store that answers unknown (full, locked, silent) counts as behind until it stores something again: an
// append, or a probe of the committer itself while there is no append.

import type { Clock } from "../../base/clock.ts";
import { Histogram } from "../../base/histogram.ts";
import type { Log } from "../../base/log.ts";
import type { Appended, Commit, Store } from "../../store/store.ts";
import type { RuntimeLimits } from "../limits.ts";

/** An actor's source of commits. */
export interface CommitSource {
  /** Returns everything decided until now as one commit. Returns null when there is nothing to commit. */
  cut(): Commit | null;
  settle(outcome: Appended): void;
}

export interface Committer {
  /**
   * Queues a source that has something to commit. It is called again after each settle while the source has
   * more.
   */
  ready(source: CommitSource): void;
  /**
   * Returns the age (ms) of the oldest append that waits, is in flight, or failed since the store last took
   * one.
   */
  lagMs(): number;
  /** Seconds that commits waited for the store, from when they were ready until it answered, whatever it answered. */
  readonly commitSeconds: Histogram;
  /** Resolves when no commit is waiting or in flight. */
  drained(): Promise<void>;
  /** Stops probing the store. */
  stop(): void;
}

/** A source that has something to commit. */
interface Waiting {
  readonly source: CommitSource;
  /** Monotonic ms since which it waits. */
  readonly since: number;
}

/** Upper bounds of the waits of commits, in seconds. */
const COMMIT_BOUNDS_S = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15];
/** The next append waits for more commits when the last one had at least this many events. */
const BUSY_EVENTS_MIN = 4;
/** Pause (ms) between two probes of a store that failed. */
const PROBE_MS = 500;
/** The id counter that a probe increments. Its numbers mean nothing. */
const PROBE = "probe";

/** Creates the committer of a node. A failed append is logged and settles as unknown. */
export function createCommitter(parts: {
  store: Store;
  clock: Clock;
  limits: RuntimeLimits;
  log: Log;
}): Committer {
  const { store, clock, limits, log } = parts;
  let waiting: Waiting[] = [];
  /** For each append in flight the monotonic ms since which its first commit has waited. */
  const inFlight = new Set<{ readonly since: number }>();
  const commitSeconds = new Histogram(COMMIT_BOUNDS_S);
  let idle: (() => void)[] = [];
  /** `begin` is due at the end of this turn, or after the store's delay. */
  let isBeginning = false;
  /** The number of events in the last append. */
  let lastEvents = 0;

  const isIdle = () => inFlight.size === 0 && waiting.length === 0;
  const probe = createStoreProbe({ ...parts, isBusy: () => !isIdle() });

  /** Has what waits appended at the end of this turn, or a little later while many commits come. */
  function beginLater(): void {
    if (isBeginning) return;
    isBeginning = true;
    if (lastEvents >= BUSY_EVENTS_MIN && store.appendDelayMs > 0) clock.after(store.appendDelayMs, begin);
    else clock.endOfTurn(begin);
  }

  function begin(): void {
    isBeginning = false;
    while (waiting.length > 0 && inFlight.size < store.appendsAtOnce) {
      const ready = waiting.slice(0, limits.appendCommits);
      waiting = waiting.slice(limits.appendCommits);
      void commit(ready);
    }
    noteIdle();
  }

  /** Commits what these sources have decided until now. */
  async function commit(ready: readonly Waiting[]): Promise<void> {
    const sources: CommitSource[] = [];
    const commits: Commit[] = [];
    const readySince: number[] = [];
    for (const { source, since } of ready) {
      const cut = source.cut();
      if (cut === null) continue;
      sources.push(source);
      commits.push(cut);
      readySince.push(since);
    }
    if (commits.length === 0) return;
    lastEvents = commits.reduce((sum, { events }) => sum + events.length, 0);
    const begun = { since: readySince[0]! };
    inFlight.add(begun);
    const outcomes = await append(commits);
    const now = clock.mono();
    for (const since of readySince) commitSeconds.observe((now - since) / 1_000);
    probe.judge(outcomes, begun.since);
    for (let i = 0; i < sources.length; i++) sources[i]!.settle(outcomes[i] ?? "unknown");
    inFlight.delete(begun);
    if (waiting.length > 0) beginLater();
    else noteIdle();
  }

  function noteIdle(): void {
    if (!isIdle()) return;
    for (const resolve of idle) resolve();
    idle = [];
  }

  async function append(commits: readonly Commit[]): Promise<readonly Appended[]> {
    try {
      return await store.append(commits);
    } catch (error) {
      log("error", "append_failed", { commits: commits.length, error: String(error) });
      return commits.map(() => "unknown");
    }
  }

  return {
    ready(source) {
      waiting.push({ source, since: clock.mono() });
      if (inFlight.size < store.appendsAtOnce) beginLater();
    },
    lagMs() {
      // Each turn asks, so the clock is read only when something waits.
      let since = probe.failingSince() > 0 ? probe.failingSince() : Number.POSITIVE_INFINITY;
      for (const begun of inFlight) since = Math.min(since, begun.since);
      if (waiting.length > 0) since = Math.min(since, waiting[0]!.since);
      return since === Number.POSITIVE_INFINITY ? 0 : Math.max(0, clock.mono() - since);
    },
    commitSeconds,
    drained: () => (isIdle() ? Promise.resolve() : new Promise((resolve) => void idle.push(resolve))),
    stop: probe.stop,
  };
}

/**
 * Creates the probe of a store. It judges outcomes of appends, and asks the store itself while it fails,
 * because while the node refuses work no append may come to show that the store has recovered.
 */
function createStoreProbe(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly isBusy: () => boolean;
}) {
  const { store, clock, log } = parts;
  /**
   * Monotonic ms at which the first append began that the store did not take; 0 when it took the last one.
   */
  let failingSince = 0;
  let stopProbing: (() => void) | null = null;
  let stopped = false;

  function probe(): void {
    stopProbing = null;
    if (failingSince === 0) return;
    const again = () => {
      if (failingSince > 0 && !stopped) stopProbing ??= clock.after(PROBE_MS, probe);
    };
    if (parts.isBusy()) {
      again();
      return;
    }
    store
      .reserveIds(PROBE, 1)
      .then(
        () => {
          failingSince = 0;
        },
        (error) => log("debug", "store_probe_failed", { error: String(error) }),
      )
      .finally(again);
  }

  return {
    failingSince: () => failingSince,
    /** Takes note of what became of an append that began at `since`, monotonic ms. */
    judge(outcomes: readonly Appended[], since: number): void {
      if (outcomes.some((outcome) => outcome !== "unknown")) failingSince = 0;
      else if (failingSince === 0 && !stopped) {
        failingSince = since;
        stopProbing?.();
        stopProbing = clock.after(PROBE_MS, probe);
      }
    },
    stop(): void {
      stopped = true;
      stopProbing?.();
    },
  };
}
