// Several nodes in one process: systems of purses with their placements, over one store in memory, on a manual clock. The
// lines between them can be cut, replies lost; a node can be frozen, thawed, crashed.

import { type Clock, inTime, sleep } from "../../src/base/clock.ts";
import { RefusedError, UnavailableError } from "../../src/base/errors.ts";
import { type Bus, Unreachable } from "../../src/bus/bus.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import type { Behavior } from "../../src/runtime/actor.ts";
import type { ActorObserver } from "../../src/runtime/actor-observer.ts";
import type { RuntimeLimits } from "../../src/runtime/limits.ts";
import {
  type ClusterLimits,
  type ClusterPlacement,
  createClusterPlacement,
} from "../../src/runtime/placement/cluster-placement.ts";
import { nameOf } from "../../src/runtime/placement/shard-table.ts";
import { shardOf } from "../../src/runtime/shards.ts";
import { type ActorSystem, type AskOptions, createSystem } from "../../src/runtime/system.ts";
import type { Store } from "../../src/store/store.ts";
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

export interface TestNode {
  readonly name: string;
  readonly system: ActorSystem<PurseProtocol>;
  readonly placement: ClusterPlacement;
  readonly store: FaultyStore;
  readonly logged: { event: string; fields: Readonly<Record<string, unknown>> | undefined }[];
  readonly watermarks: number[];
  /** Timers that wait. */
  waiting(): number;
  /** Asks while the clock stands; advance it. */
  ask<N extends keyof PurseCommands & string>(
    id: string,
    type: N,
    input: PurseCommands[N]["input"],
    options?: AskOptions,
  ): Promise<unknown>;
  /** Runs nothing until it is thawed; its clocks go on. */
  freeze(): void;
  thaw(): void;
  crash(): void;
  /** The line to the other nodes is down. */
  cut: boolean;
  /** The answers it gives to others get lost, so many of them. */
  loseAnswers: number;
  /** And take so long. */
  delayAnswersMs: number;
  /** The line was down and is there again: news may have been missed. */
  gap(): void;
}

export interface Nodes {
  readonly clock: ManualClock;
  readonly inner: Store;
  readonly nodes: TestNode[];
  start(name: string, over?: Over): Promise<TestNode>;
  /** Lets time pass. */
  run(ms: number): Promise<void>;
  /** Lets it pass until this holds; answers how long that took. Throws when it never does. */
  until(holds: () => boolean, mostMs?: number): Promise<number>;
  /** An id of a purse that this node serves now. */
  idAt(node: TestNode, prefix?: string): string;
  /** Who serves this purse now. */
  ownerOf(id: string): TestNode | undefined;
}

export interface Over {
  readonly limits?: Partial<RuntimeLimits>;
  readonly cluster?: Partial<ClusterLimits>;
  readonly behavior?: Behavior<never, never, never> | typeof purse;
  readonly frameLengthMax?: number;
  readonly observer?: ActorObserver;
}

/** Balance is made at once, and all of it. */
const QUICK: Partial<ClusterLimits> = { settleMs: 0, moves: 256, imbalance: 0 };

export const shardOfPurse = (id: string): number => shardOf(`account/${id}`);

export function nodesRig(): Nodes {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const hub = memoryBus();
  const nodes: TestNode[] = [];
  const states = new Map<string, State>();
  let incarnations = 0;

  async function start(name: string, over: Over = {}): Promise<TestNode> {
    const state = createState(clock);
    states.set(name, state);
    const store = faultyStore(inner);
    const seen = slowed(store, state);
    const logged: TestNode["logged"] = [];
    const watermarks: number[] = [];
    const bus = busOf(name, over.frameLengthMax);
    const random = countingRandom(`${name}${++incarnations}`);
    const log = (_level: string, event: string, fields?: Readonly<Record<string, unknown>>) =>
      void logged.push({ event, fields });
    const placement = createClusterPlacement({
      ...{ registry: seen, bus, clock: state.clock, random, log, name },
      limits: { ...QUICK, ...over.cluster },
    });
    const system = createSystem<PurseProtocol>({
      ...{ store: seen, bus, clock: state.clock, random, placement, log },
      behaviors: [over.behavior ?? purse],
      version: "1.2.3",
      limits: over.limits ?? {},
      ...(over.observer && { observer: over.observer }),
      saved(watermark) {
        watermarks.push(watermark);
        placement.advance(watermark);
      },
    });
    const node: TestNode = {
      ...{ name, system, placement, store, logged, watermarks },
      waiting: () => state.timers.size,
      ask: (id, type, input, options) =>
        system.ask({ kind: "account", id }, type, input, options).catch((error) => {
          if (error instanceof RefusedError) return `refused: ${error.refusal.code}`;
          if (error instanceof UnavailableError) return `unavailable: ${error.reason}`;
          throw error;
        }),
      freeze: state.freeze,
      thaw: state.thaw,
      crash: state.crash,
      get cut() {
        return state.cut;
      },
      set cut(is) {
        state.cut = is;
      },
      get loseAnswers() {
        return state.loseAnswers;
      },
      set loseAnswers(count) {
        state.loseAnswers = count;
      },
      get delayAnswersMs() {
        return state.delayAnswersMs;
      },
      set delayAnswersMs(ms) {
        state.delayAnswersMs = ms;
      },
      gap() {
        for (const handle of state.gaps) handle();
      },
    };
    nodes.push(node);
    const started = system.start();
    let up = false;
    started.then(
      () => {
        up = true;
      },
      () => {
        up = true;
      },
    );
    await until(() => up, 30_000);
    await started;
    return node;
  }

  /** The bus as one node sees it. */
  function busOf(name: string, frameLengthMax = hub.frameLengthMax): Bus {
    const own = states.get(name)!;
    return {
      ...hub,
      frameLengthMax,
      connected: () => !own.cut,
      async request(to, frame, ms) {
        const other = states.get(nameOf(to));
        if (own.cut || other === undefined || other.cut || other.dead) {
          throw new Unreachable(`no line to ${to}`);
        }
        return inTime(own.clock, ms, hub.request(to, frame, ms));
      },
      serve: (node, handle) =>
        hub.serve(node, async (frame) => {
          await own.awake();
          const answer = await handle(frame);
          await own.awake();
          if (own.delayAnswersMs > 0) await sleep(clock, own.delayAnswersMs);
          if (own.loseAnswers === 0) return answer;
          own.loseAnswers--;
          return new Promise(() => {});
        }),
      publish(topic, frame) {
        if (!own.dead && !own.cut) hub.publish(topic, frame);
      },
      subscribe: (topic, handle) =>
        hub.subscribe(topic, (at, frame) => {
          if (!own.cut && !own.dead) void own.awake().then(() => handle(at, frame));
        }),
      onGap(handle) {
        own.gaps.add(handle);
        return () => own.gaps.delete(handle);
      },
    };
  }

  async function until(holds: () => boolean, mostMs = 20_000): Promise<number> {
    await settled();
    for (let ms = 0; ; ms += 5) {
      if (holds()) return ms;
      if (ms >= mostMs) throw new Error(`it does not hold after ${mostMs} ms`);
      await clock.advance(5);
    }
  }

  const ownerOf = (id: string) => nodes.find((node) => node.placement.epochOf(shardOfPurse(id)) > 0);

  return {
    ...{ clock, inner, nodes, start, until, ownerOf },
    run: (ms) => clock.advance(ms),
    idAt(node, prefix = "p") {
      for (let i = 0; ; i++) if (ownerOf(`${prefix}${i}`) === node) return `${prefix}${i}`;
    },
  };
}

interface State {
  readonly clock: Clock;
  readonly timers: Set<object>;
  readonly gaps: Set<() => void>;
  dead: boolean;
  cut: boolean;
  loseAnswers: number;
  delayAnswersMs: number;
  awake(): Promise<void>;
  freeze(): void;
  thaw(): void;
  crash(): void;
}

function createState(clock: ManualClock): State {
  let frozen: { promise: Promise<void>; resolve: () => void } | null = null;
  const timers = new Set<object>();
  const state: State = {
    dead: false,
    cut: false,
    loseAnswers: 0,
    delayAnswersMs: 0,
    timers,
    gaps: new Set(),
    clock: {
      wall: clock.wall,
      mono: clock.mono,
      after(ms, fn) {
        const timer = {};
        timers.add(timer);
        const cancel = clock.after(ms, async () => {
          if (frozen !== null) await frozen.promise;
          if (timers.delete(timer) && !state.dead) fn();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
      endOfTurn: (fn) =>
        clock.endOfTurn(async () => {
          if (frozen !== null) await frozen.promise;
          if (!state.dead) fn();
        }),
    },
    awake: async () => {
      if (state.dead) await new Promise(() => {});
      if (frozen !== null) await frozen.promise;
    },
    freeze() {
      frozen ??= Promise.withResolvers<void>();
    },
    thaw() {
      frozen?.resolve();
      frozen = null;
    },
    crash() {
      state.dead = true;
    },
  };
  return state;
}

/** What a frozen process gets from its store it gets when it runs; a dead one nothing. */
function slowed(store: FaultyStore, state: State): Store {
  const calls = Object.entries(store).filter(([name, call]) => typeof call === "function" && name !== "each");
  const waiting = calls.map(([name, call]) => {
    const run = call as (...given: unknown[]) => unknown;
    return [
      name,
      async (...given: unknown[]) => {
        await state.awake();
        const answer = await run(...given);
        await state.awake();
        return answer;
      },
    ];
  });
  return { ...store, ...Object.fromEntries(waiting) };
}
