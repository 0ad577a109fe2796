// How a client outside reaches the service: it tries the node that is up, and when that crashes, the next one.
// What is not answered yet is known by name, so that at the end a forgotten ask can be told.

import { Refused } from "../../src/runtime/system.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";

/** Asked as often as allowed without an answer: the outcome is unknown. */
export class GaveUp extends Error {}

export interface Clients {
  /** Tries until answered or refused; at most `tries` times. Throws Refused or GaveUp. */
  reach<T>(what: string, tries: number, attempt: (node: SimNode) => Promise<T>): Promise<T>;
  /** Runs beside everything else; nothing it throws is lost. */
  spawn(what: string, run: () => Promise<void>): void;
  /** Names of what still runs. */
  open(): string[];
}

export function createClients(parts: {
  /** The node to ask; null while none is up. */
  node: () => SimNode | null;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
}): Clients {
  const { node, world, random, trace } = parts;
  const running = new Set<{ what: string }>();
  const pause = (ms: number) => new Promise<void>((resolve) => void world.after(ms, resolve));

  return {
    async reach(what, tries, attempt) {
      for (let tried = 0; tried < tries; ) {
        const up = node();
        if (up === null) {
          if (Number.isFinite(tries)) tried++;
          await pause(random.between(50, 500));
          continue;
        }
        tried++;
        try {
          return await Promise.race([attempt(up), up.crashed]);
        } catch (error) {
          if (error instanceof Refused) throw error;
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
    open: () => [...running].map(({ what }) => what),
  };
}
