// Two systems on real NATS over one store: the lines between nodes as they will be. What can be tried without it is tried
// elsewhere; this is one walk through all of it.

import { afterAll, expect, test } from "bun:test";
import { realClock, realRandom, sleep } from "../../src/base/clock.ts";
import { RefusedError, UnavailableError } from "../../src/base/errors.ts";
import { silent } from "../../src/base/log.ts";
import type { Bus } from "../../src/bus/bus.ts";
import { natsBus } from "../../src/bus/nats.ts";
import { type ClusterLimits, createClusterPlacement } from "../../src/runtime/placement/cluster-placement.ts";
import { SHARDS } from "../../src/runtime/shards.ts";
import { type ActorSystem, createSystem } from "../../src/runtime/system.ts";
import type { Registry } from "../../src/store/store.ts";
import { anyNatsServer } from "../bus/nats-server.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { ofProtocol } from "./cluster-rig.ts";
import { type PurseCommands, purse } from "./purse.ts";

type Protocol = Record<"account" | "owner" | "key-pool" | "level", PurseCommands>;

const server = await anyNatsServer("two systems on NATS");

if (server !== null) {
  const clock = realClock();
  const store = memoryStore({ clock });
  const opened: Bus[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((bus) => bus.close()));
    await server.kill();
  });

  async function start(
    name: string,
    cluster: string,
    over: { readonly registry?: Registry; readonly limits?: Partial<ClusterLimits> } = {},
  ): Promise<ActorSystem<Protocol>> {
    const random = realRandom(clock);
    const bus = await natsBus({
      url: server!.url,
      name: cluster,
      after: clock.after,
      limits: { frameLengthMax: 4_096 },
    });
    opened.push(bus);
    const limits = { settleMs: 0, moves: 256, imbalance: 0, lookMs: 50, heartbeatMs: 200, ...over.limits };
    const placement = createClusterPlacement({
      registry: over.registry ?? store,
      bus,
      clock,
      random,
      log: silent,
      name,
      limits,
    });
    const system = createSystem<Protocol>({
      ...{ store, bus, clock, random, placement, log: silent },
      behaviors: [purse],
    });
    await system.start();
    return system;
  }

  test("of another protocol version are not joined, and go on", async () => {
    const cluster = `test-protocol-${process.pid}-${Date.now()}`;
    const registry = memoryStore({ clock });
    const limits = { holdMs: 1_000, ttlMs: 1_500 };
    const older = await start("older", cluster, { registry: ofProtocol(registry, 1), limits });
    const joined = start("newer", cluster, { registry, limits });
    await expect(joined).rejects.toThrow(
      /node older .* speaks node protocol 1, this program 4: stop all nodes/,
    );
    expect(older.stats().shards).toBe(SHARDS);
    expect(await older.ask({ kind: "account", id: "p" }, "add", { amount: 1 })).toBe(1);
    await older.drain(1_000);
  });

  test("ask each other, hand over, and lose nothing", async () => {
    const cluster = `test-${process.pid}-${Date.now()}`;
    const [a, b] = [await start("a", cluster), await start("b", cluster)];
    while (a.stats().shards !== 128 || b.stats().shards !== 128) await sleep(clock, 20);
    const ids = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const purses = ids.map((id) => ({ kind: "account", id }) as const);
    for (const one of purses) {
      expect(await a.ask(one, "add", { amount: 1 })).toBe(1);
      expect(await b.ask(one, "add", { amount: 1 })).toBe(2);
    }
    expect(a.stats().counters.remoteAsks).toBeGreaterThan(0);
    const far = purses.find((one) => b.owns(one))!;
    expect(await a.ask(far, "refuse", {}).catch((error) => error)).toBeInstanceOf(RefusedError);
    const tooLarge = [
      a.ask(far, "announce", { word: "x".repeat(5_000) }),
      a.ask(far, "echo", { size: 5_000 }),
    ];
    for (const asked of tooLarge) {
      const error = await asked.catch((thrown) => thrown);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(error.reason).toBe("too_large");
    }
    expect((await a.overview(2_000)).map(({ stats }) => stats?.shards)).toEqual([128, 128]);
    expect(await b.saveEverywhere(2_000)).toBe(true);

    let over = false;
    const asking = purses.map(async (one) => {
      let sum = 0;
      for (; !over; sum++) {
        await b.ask(one, "add", { amount: 1 });
        // Nothing else in this process would ever run: the store's answers take no time.
        await sleep(clock, 1);
      }
      return sum;
    });
    expect(await a.handOff(5_000)).toBe(true);
    over = true;
    const added = await Promise.all(asking);
    for (const [i, one] of purses.entries()) expect(await b.ask(one, "read", {})).toBe(2 + added[i]!);
    for (const system of [a, b]) {
      expect(system.stats().counters).toMatchObject({ appendLost: 0, appendUnknown: 0, broken: 0 });
    }
    await a.drain(1_000);
    await b.drain(1_000);
  }, 90_000);
}
