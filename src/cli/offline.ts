// The actors without the service: for commands that change the store while no server runs. Takes the store's lock, so
// that StoreLocked (exit code 2) tells when one does, and leaves only when everything owed between actors is delivered.

import { existsSync } from "node:fs";
import { behaviors, type Protocol } from "../../actors/index.ts";
import { memoryBus } from "../bus/memory.ts";
import { createLog } from "../logging.ts";
import { type Clock, type Random, realClock, realRandom, sleep } from "../runtime/clock.ts";
import { soloPlacement } from "../runtime/solo.ts";
import { type ActorSystem, createSystem } from "../runtime/system.ts";
import { BadSetting, type Settings } from "../settings.ts";
import { openStore } from "../store/open.ts";
import { databasePath } from "../store/sqlite.ts";
import type { Store } from "../store/store.ts";

export interface Offline {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

const EFFECTS_MS = 30_000;

/** Runs `work` with the store's actors, and stops them. */
export async function withActors<T>(settings: Settings, work: (parts: Offline) => Promise<T>): Promise<T> {
  const path = databasePath(settings.storeUrl);
  if (!existsSync(path)) throw new BadSetting(`there is no database at ${path}`);
  const { clock, stop } = stoppable(realClock(() => settings.clockOffsetMs));
  const random = realRandom(clock);
  const store = await openStore(settings.storeUrl, { clock });
  const placement = soloPlacement({ registry: store, node: "cli" });
  const system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random,
    placement,
    behaviors,
    log: createLog({ ...settings, logLevel: "warn" }),
  });
  try {
    await system.start();
    const result = await work({ system, store, clock, random });
    const until = clock.mono() + EFFECTS_MS;
    while (system.stats().effects > 0 && clock.mono() < until) await sleep(clock, 10);
    return result;
  } finally {
    await system.drain(5_000);
    await store.close();
    stop();
  }
}

/** A clock whose timers end with the work: what sweeps would do later keeps no command waiting. */
function stoppable(clock: Clock): { clock: Clock; stop(): void } {
  const pending = new Set<() => void>();
  const after = (ms: number, fn: () => void) => {
    const cancel = clock.after(ms, () => {
      pending.delete(cancel);
      fn();
    });
    pending.add(cancel);
    return () => {
      pending.delete(cancel);
      cancel();
    };
  };
  return {
    clock: { ...clock, after },
    stop() {
      for (const cancel of pending) cancel();
    },
  };
}
