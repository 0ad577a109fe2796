// Sends commits to the store. A lane has one append in flight; what becomes ready meanwhile goes with the next one, so
// an idle lane waits for nothing and a busy one batches by itself ("natural batching", no timer).
//
// An actor belongs to one lane (its shard decides), so its appends are serial: two in flight could land out of order.
// The commit is cut only when the lane is free: everything decided until then is in it.
//
// outcome    what the writer does
// committed  releases the replies
// lost       another writer has that seq: the activation breaks and is loaded anew
// unknown    stored or not: the activation breaks; a retry finds its id in the ledger, or not
//
// A store that answers unknown (full, locked, silent) is behind from then on, until something is stored again: an append, or
// a probe of the committer's own while there is none.

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Appended, Commit, Store } from "../../store/store.ts";
import type { RuntimeLimits } from "../limits.ts";
import { LANES, laneOf } from "../shards.ts";

/** Somebody with something to commit. */
export interface Writer {
  readonly shard: number;
  /** Everything decided until now as one commit; null when there is nothing (any more). */
  cut(): Commit | null;
  settle(outcome: Appended): void;
}

export interface Committer {
  /** The writer has something open. Called again after each settle while it has. */
  ready(writer: Writer): void;
  /** Age in ms of the oldest append that is under way, waits, or has failed since the store last kept one. */
  lagMs(): number;
  /** Resolves when nothing is waiting or under way. */
  drained(): Promise<void>;
  /** Asks the store for nothing of its own any more. */
  stop(): void;
}

interface Lane {
  /** mono ms since when each waits. */
  waiting: { readonly writer: Writer; readonly since: number }[];
  busy: boolean;
  /** mono ms since when something has been waiting or under way; 0 = nothing. */
  since: number;
}

/** Between two probes of a store that failed. */
const PROBE_MS = 500;
/** A counter whose numbers mean nothing. */
const PROBE = "probe";

export function createCommitter(parts: {
  store: Store;
  clock: Clock;
  limits: RuntimeLimits;
  log: Log;
}): Committer {
  const { store, clock, limits, log } = parts;
  const lanes: Lane[] = Array.from({ length: LANES }, () => ({ waiting: [], busy: false, since: 0 }));
  let idle: (() => void)[] = [];

  /** mono ms at which the first append began that the store did not keep; 0: it kept the last one. */
  let failingSince = 0;
  let stopProbing: (() => void) | null = null;
  let stopped = false;

  const active = (lane: Lane) => lane.busy || lane.waiting.length > 0;

  async function drain(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) {
      const writers: Writer[] = [];
      const commits: Commit[] = [];
      const batch = lane.waiting.splice(0, limits.laneCommits);
      for (const { writer } of batch) {
        const commit = writer.cut();
        if (commit === null) continue;
        writers.push(writer);
        commits.push(commit);
      }
      if (commits.length === 0) continue;
      lane.since = batch[0]!.since;
      const outcomes = await append(commits);
      judge(outcomes, lane.since);
      for (let i = 0; i < writers.length; i++) writers[i]!.settle(outcomes[i] ?? "unknown");
    }
    lane.busy = false;
    lane.since = 0;
    if (!lanes.some(active)) {
      for (const resolve of idle) resolve();
      idle = [];
    }
  }

  function judge(outcomes: readonly Appended[], since: number): void {
    if (outcomes.some((outcome) => outcome !== "unknown")) failingSince = 0;
    else if (failingSince === 0 && !stopped) {
      failingSince = since;
      stopProbing?.();
      stopProbing = clock.after(PROBE_MS, probe);
    }
  }

  /** While work is refused for the store's sake nothing else may come to find out that it is well again. */
  function probe(): void {
    stopProbing = null;
    if (failingSince === 0) return;
    const again = () => {
      if (failingSince > 0 && !stopped) stopProbing ??= clock.after(PROBE_MS, probe);
    };
    if (lanes.some(active)) {
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

  async function append(commits: readonly Commit[]): Promise<readonly Appended[]> {
    try {
      return await store.append(commits);
    } catch (error) {
      log("error", "append_failed", { commits: commits.length, error: String(error) });
      return commits.map(() => "unknown");
    }
  }

  return {
    ready(writer) {
      const lane = lanes[laneOf(writer.shard)]!;
      lane.waiting.push({ writer, since: clock.mono() });
      if (lane.busy) return;
      lane.busy = true;
      lane.since = clock.mono();
      queueMicrotask(() => void drain(lane));
    },
    lagMs() {
      const now = clock.mono();
      const failing = failingSince > 0 ? now - failingSince : 0;
      return lanes.reduce((lag, lane) => (lane.since > 0 ? Math.max(lag, now - lane.since) : lag), failing);
    },
    drained: () =>
      lanes.some(active) ? new Promise((resolve) => void idle.push(resolve)) : Promise.resolve(),
    stop() {
      stopped = true;
      stopProbing?.();
    },
  };
}
