// A store in memory whose appends and saves a test can hold back, lose or leave unknown, and which counts them.

import type { Appended, Commit, Save, Snapshot, Store } from "../../src/store/store.ts";

/**
 * What happens to an append: refused for good; failed before or after it was stored, the writer not knowing which;
 * the call itself throwing.
 */
export type Fault = "lost" | "unknown" | "stored_unknown" | "throws";

export interface FaultyStore extends Store {
  /** For the coming appends, in order; when used up, all goes well. */
  readonly faults: (Fault | "none")[];
  /** Every append that was asked for. */
  readonly appends: (readonly Commit[])[];
  readonly saves: (readonly Save[])[];
  /** Appends that were under way at once, at most. */
  readonly most: { appends: number };
  /** Appends, saves, loads wait from now on until the answer is called. */
  holdAppends(): () => void;
  holdSaves(): () => void;
  holdLoads(): () => void;
  /** Saves fail until the answer is called. */
  failSaves(): () => void;
  /** The same of blocks of numbers. */
  failBlocks(): () => void;
  /** Loads under way at once, now and at most. */
  readonly loads: { now: number; most: number; total: number };
}

export function faultyStore(inner: Store): FaultyStore {
  const faults: (Fault | "none")[] = [];
  const appends: (readonly Commit[])[] = [];
  const saves: (readonly Save[])[] = [];
  const loads = { now: 0, most: 0, total: 0 };
  const most = { appends: 0 };
  let flying = 0;
  let failing = false;
  let failingBlocks = false;
  const gates = { append: Promise.resolve(), save: Promise.resolve(), load: Promise.resolve() };

  const hold = (gate: keyof typeof gates) => () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gates[gate] = promise;
    return resolve;
  };

  async function append(commits: readonly Commit[]): Promise<readonly Appended[]> {
    const fault = faults.shift() ?? "none";
    appends.push(commits);
    flying++;
    most.appends = Math.max(most.appends, flying);
    await gates.append;
    flying--;
    if (fault === "throws") throw new Error("the store is gone");
    if (fault === "lost" || fault === "unknown") return commits.map(() => fault);
    const outcomes = await inner.append(commits);
    return fault === "stored_unknown" ? commits.map(() => "unknown" as const) : outcomes;
  }

  return {
    ...inner,
    faults,
    appends,
    saves,
    loads,
    most,
    append,
    async save(given) {
      saves.push(given);
      await gates.save;
      if (failing) throw new Error("the disk is full");
      return inner.save(given);
    },
    async loadSnapshot(actor): Promise<Snapshot | null> {
      loads.total++;
      loads.now++;
      loads.most = Math.max(loads.most, loads.now);
      await gates.load;
      const snapshot = await inner.loadSnapshot(actor);
      loads.now--;
      return snapshot;
    },
    async reserveIds(counter, size) {
      if (failingBlocks) throw new Error("the disk is full");
      return inner.reserveIds(counter, size);
    },
    holdAppends: hold("append"),
    holdSaves: hold("save"),
    holdLoads: hold("load"),
    failSaves() {
      failing = true;
      return () => {
        failing = false;
      };
    },
    failBlocks() {
      failingBlocks = true;
      return () => {
        failingBlocks = false;
      };
    },
  };
}
