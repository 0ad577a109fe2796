// One process on a store of a cluster without a bus: it waits for the dead, and finds out the living.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import { memoryBus } from "../../../src/bus/memory.ts";
import {
  type ClusterPlacement,
  createClusterPlacement,
} from "../../../src/runtime/placement/cluster-placement.ts";
import {
  createSingleOnClusterPlacement,
  OtherProcessFound,
} from "../../../src/runtime/placement/single-on-cluster.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { countingRandom, manualClock } from "../manual-clock.ts";

function rig() {
  const clock = manualClock();
  const registry = memoryStore({ clock });
  let processes = 0;
  const parts = (name: string) => {
    const random = countingRandom(`${name}${++processes}`);
    return { registry, clock, random, name, log: silent, bus: memoryBus() };
  };
  return { clock, registry, parts };
}

/** How joining ended after so long; null: not yet. */
async function joined(placement: ClusterPlacement, after: () => Promise<void>): Promise<unknown> {
  let outcome: unknown = null;
  placement.join().then(
    () => {
      outcome = "joined";
    },
    (error) => {
      outcome = error;
    },
  );
  await after();
  return outcome;
}

describe("alone on a store of a cluster", () => {
  test("the first process serves at once", async () => {
    const { clock, parts } = rig();
    const placement = createSingleOnClusterPlacement(parts("a"));
    expect(await joined(placement, () => clock.advance(1_000))).toBe("joined");
    expect([placement.placed(), placement.others(), placement.epochOf(0)]).toEqual([true, [], 1]);
  });

  test("one that left is not waited for", async () => {
    const { clock, parts } = rig();
    const before = createClusterPlacement(parts("a"));
    await joined(before, () => clock.advance(1_000));
    await before.leave();
    const placement = createSingleOnClusterPlacement(parts("b"));
    expect(await joined(placement, () => clock.advance(1_000))).toBe("joined");
    expect(placement.epochOf(0)).toBe(2);
  });

  test.each(["a", "b"])(
    "one that died as a is waited for by %p until its row is declared dead",
    async (name) => {
      const { clock, registry, parts } = rig();
      let dead = false;
      const gone = new Promise<never>(() => {});
      const dying = {
        read: (key: string) => (dead ? gone : registry.read(key)),
        cas: (key: string, rev: number, value: string) => (dead ? gone : registry.cas(key, rev, value)),
      };
      await joined(createClusterPlacement({ ...parts("a"), registry: dying }), () => clock.advance(1_000));
      dead = true;
      const placement = createSingleOnClusterPlacement(parts(name));
      expect(await joined(placement, () => clock.advance(5_500))).toBeNull();
      expect(placement.epochOf(0)).toBe(0);
      await clock.advance(2_500);
      expect(placement.epochOf(0)).toBe(2);
    },
  );

  test("one that is joined by nodes of a cluster, whom it cannot hear, is not ready and leaves them its shards", async () => {
    const { clock, parts } = rig();
    const placement = createSingleOnClusterPlacement(parts("a"));
    await joined(placement, () => clock.advance(1_000));
    const other = createClusterPlacement(parts("b"));
    await joined(other, () => clock.advance(3_000));
    expect(placement.placed()).toBe(false);
    await clock.advance(20_000);
    const owned = Array.from({ length: 256 }, (_, shard) => other.epochOf(shard)).filter(
      (epoch) => epoch > 0,
    );
    expect([owned.length, placement.epochOf(0), other.placed()]).toEqual([256, 0, true]);
  });

  test("one that lives is found out: the process says what to do, and owns nothing", async () => {
    const { clock, parts } = rig();
    const other = createClusterPlacement(parts("a"));
    await joined(other, () => clock.advance(1_000));
    const placement = createSingleOnClusterPlacement(parts("b"));
    const error = await joined(placement, () => clock.advance(10_000));
    expect(error).toBeInstanceOf(OtherProcessFound);
    expect(String(error)).toContain("set NATS_URL in all of them");
    expect([placement.epochOf(0), other.epochOf(0)]).toEqual([0, 1]);
  });
});
