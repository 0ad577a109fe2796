// How a client outside reaches the service: it tries a node that is up, and when that crashes, another one. What runs at one
// node stays there as long as that lives.
// What is not answered yet is known by name, so that at the end a forgotten ask can be reported.

import { RefusedError } from "../../src/base/errors.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";

/** Asked as often as allowed without an answer: the outcome is unknown. */
export class GaveUp extends Error {}

export interface Clients {
  /** Tries until answered or refused; at most `tries` times, at `home` while it lives. Throws Refused or GaveUp. */
  reach<T>(
    what: string,
    tries: number,
    attempt: (node: SimNode) => Promise<T>,
    home?: SimNode | null,
  ): Promise<T>;
  /** Runs beside everything else; nothing it throws is lost. */
  spawn(what: string, run: () => Promise<void>): void;
  /** Names of what still runs. */
  open(): string[];
  /** Requests stay with the node that took them. */
  readonly homes: boolean;
}

export function createClients(parts: {
  /** The node to ask, by the one that was asked before; null while none is up. */
  pick: (before: SimNode | null) => SimNode | null;
  homes: boolean;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
}): Clients {
  const { pick, world, random, trace } = parts;
  const running = new Set<{ what: string }>();
  const pause = (ms: number) => new Promise<void>((resolve) => void world.after(ms, resolve));

  return {
    async reach(what, tries, attempt, home = null) {
      let before: SimNode | null = null;
      for (let tried = 0; tried < tries; ) {
        const up: SimNode | null = home?.alive() ? home : pick(before);
        before = up;
        if (up === null) {
          if (Number.isFinite(tries)) tried++;
          await pause(random.between(50, 500));
          continue;
        }
        tried++;
        try {
          return await Promise.race([attempt(up), up.crashed]);
        } catch (error) {
          if (error instanceof RefusedError) throw error;
          trace.count(`retry ${what}`);
          await pause(random.between(1, 400));
        }
      }
      throw new GaveUp(what);
    },
    spawn(what, run) {
      const entry = { what };
      running.add(entry);
      run()
        .catch((error: unknown) => {
          if (error instanceof GaveUp) return trace.count(`gave up ${error.message}`);
          const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
          trace.violate("0 errors", `${what}: ${text}`);
        })
        .finally(() => running.delete(entry));
    },
    homes: parts.homes,
    open: () => [...running].map(({ what }) => what),
  };
}
