// A whole actor system of purses on a faulty store, a manual clock and a memory bus; and the same after a crash.

import { RefusedError, UnavailableError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { Bus } from "../../src/bus/bus.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import type { AnyBehavior } from "../../src/runtime/actor.ts";
import type { RuntimeLimits } from "../../src/runtime/limits.ts";
import type { Placement } from "../../src/runtime/placement/placement.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { type ActorSystem, type AskOptions, createSystem } from "../../src/runtime/system.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { type FaultyStore, faultyStore } from "./faulty-store.ts";
import { countingRandom, type ManualClock, manualClock, settled } from "./manual-clock.ts";
import { type PurseCommands, purse } from "./purse.ts";

interface PurseProtocol {
  readonly account: PurseCommands;
  readonly owner: PurseCommands;
  readonly "key-pool": PurseCommands;
  readonly level: PurseCommands;
}

export interface Rig {
  readonly clock: ManualClock;
  readonly store: FaultyStore;
  readonly system: ActorSystem<PurseProtocol>;
  /** What was logged: `event`, and the actor it was about. */
  readonly logged: { event: string; actor: unknown; why: unknown }[];
  /** Watermarks that were reported. */
  readonly watermarks: number[];
  ask<N extends keyof PurseCommands & string>(
    id: string,
    type: N,
    input: PurseCommands[N]["input"],
    options?: AskOptions,
  ): Promise<PurseCommands[N]["output"]>;
  /** The outcome, while the clock runs on for the retries. */
  outcome<N extends keyof PurseCommands & string>(
    id: string,
    type: N,
    input: PurseCommands[N]["input"],
    options?: AskOptions,
  ): Promise<unknown>;
  /** Everything in memory is gone, the store stays: a new process. */
  restart(over?: Start): Promise<Rig>;
}

export interface Start {
  readonly limits?: Partial<RuntimeLimits>;
  readonly behavior?: AnyBehavior;
  readonly placement?: Placement;
  readonly bus?: Bus;
}

let processes = 0;

export async function rig(over: Start & { inner?: Store; clock?: ManualClock } = {}): Promise<Rig> {
  const clock = over.clock ?? manualClock();
  const inner = over.inner ?? memoryStore({ clock });
  const store = faultyStore(inner);
  const logged: Rig["logged"] = [];
  const watermarks: number[] = [];
  const log: Log = (_level, event, fields) =>
    void logged.push({ event, actor: fields?.actor, why: fields?.why });
  const system = createSystem<PurseProtocol>({
    store,
    bus: over.bus ?? memoryBus(),
    clock,
    random: countingRandom(`p${++processes}`),
    placement: over.placement ?? createSingleNodePlacement({ registry: inner, node: "n1" }),
    behaviors: [over.behavior ?? purse],
    log,
    ...(over.limits === undefined ? {} : { limits: over.limits }),
    saved: (watermark) => void watermarks.push(watermark),
  });
  await system.start();
  await settled();

  const ask: Rig["ask"] = (id, type, input, options) =>
    system.ask({ kind: "account", id }, type, input, options);
  return {
    clock,
    store,
    system,
    logged,
    watermarks,
    ask,
    async outcome(id, type, input, options) {
      const asked = ask(id, type, input, options).then(
        (reply) => reply,
        (error) => {
          if (error instanceof RefusedError) return `refused: ${error.refusal.code}`;
          if (error instanceof UnavailableError) return `unavailable: ${error.reason}`;
          throw error;
        },
      );
      await clock.advance(10_000);
      return asked;
    },
    restart: (next = {}) => rig({ ...over, ...next, inner, clock }),
  };
}

/** Every commit of a purse, from genesis. */
export const ledgerOf = (store: Store, id: string): Promise<readonly Commit[]> =>
  store.readCommits(`account/${id}`, 0, 100_000);

export const totalOf = async (store: Store, id: string): Promise<number> =>
  (await ledgerOf(store, id))
    .flatMap(({ events }) => events)
    .reduce((sum, { e }) => sum + ((e as { amount?: number }).amount ?? 0), 0);
