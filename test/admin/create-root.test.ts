// Root is founded once, however many nodes start at once, wherever one of them stops or dies: one of them shows a key, and
// that key is Root's.

import { describe, expect, test } from "bun:test";
import { ROOT } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { createRootAccount, type RootParts } from "../../src/admin/create-root.ts";
import { sweepClaims } from "../../src/admin/periodic-sweeps.ts";
import { silent } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../src/runtime/system.ts";
import type { Store } from "../../src/store/store.ts";
import { countingRandom, manualClock, settled } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";

/** An empty store and what serves it; `node` gives a node that starts there, whose calls the test may stop. */
async function rig() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const random = countingRandom();
  const system = createSystem<Protocol>({
    ...{ store, bus: memoryBus(), clock, random, behaviors, log: silent },
    placement: createSingleNodePlacement({ registry: store, node: "n" }),
  });
  await system.start();

  function node({ owns = YES, chosen = null as string | null, call = noStop } = {}): RootParts {
    const through = <F extends (...given: never[]) => Promise<unknown>>(work: F): F =>
      ((...given: never[]) => call(() => work(...given))) as F;
    const stopped = {
      ...store,
      ...{ read: through(store.read), cas: through(store.cas), reserveIds: through(store.reserveIds) },
      ...{ claim: through(store.claim), findClaim: through(store.findClaim) },
      ...{ confirm: through(store.confirm), release: through(store.release) },
    };
    return {
      ...{ store: stopped as Store, clock, random, chosen },
      system: { ...system, owns, ask: through(system.ask as never) as typeof system.ask },
    };
  }

  /** A start, and what came of it so far. */
  function start(parts: RootParts) {
    const seen: { key: string | null | undefined; error: string } = { key: undefined, error: "" };
    createRootAccount(parts).then(
      (key) => {
        seen.key = key;
      },
      (error) => {
        seen.error = String(error.message);
      },
    );
    return seen;
  }

  const isRoots = async (key: string): Promise<boolean> => {
    const { profile } = await system.ask(actorRef.account(ROOT), "profile", {});
    const claim = await store.findClaim(`key:${hashKey(key)}`);
    return profile.keyHash === hashKey(key) && claim?.confirmed === true;
  };
  return { clock, store, system, node, start, isRoots };
}

const YES = (): boolean => true;
const noStop = (work: () => Promise<unknown>): Promise<unknown> => work();

/** Calls of which the `nth` waits before it is made, or its answer does, until the test lets go. */
function stoppingAt(nth: number, when: "before" | "after") {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  return {
    go: resolve,
    calls: () => count,
    call: async (work: () => Promise<unknown>): Promise<unknown> => {
      const isIt = ++count === nth;
      if (isIt && when === "before") await promise;
      try {
        return await work();
      } finally {
        if (isIt && when === "after") await promise;
      }
    },
  };
}

describe("nodes that start at once on an empty store", () => {
  test("found Root once: one shows its key, the others nothing", async () => {
    const { clock, node, start, isRoots } = await rig();
    const starts = Array.from({ length: 3 }, () => start(node()));
    await clock.advance(5_000);
    const keys = starts.map(({ key }) => key);
    expect(keys.filter((key) => key === null)).toHaveLength(2);
    expect(await isRoots(keys.find((key) => typeof key === "string")!)).toBe(true);
  });

  test("with a key that was chosen give Root that one", async () => {
    const { clock, node, start, isRoots } = await rig();
    const chosen = "the-first-key-of-root-0123456789abcdef";
    const starts = Array.from({ length: 3 }, () => start(node({ chosen })));
    await clock.advance(5_000);
    expect(starts.filter(({ key }) => key === chosen)).toHaveLength(1);
    expect(await isRoots(chosen)).toBe(true);
  });

  test("wait for the one that serves Root's account", async () => {
    const { clock, node, start } = await rig();
    const waits = start(node({ owns: () => false }));
    await clock.advance(10_000);
    expect(waits.key).toBeUndefined();
    const founds = start(node());
    await clock.advance(1_000);
    expect([typeof founds.key, waits.key]).toEqual(["string", null]);
  });

  test("give up when no node serves it", async () => {
    const { clock, node, start } = await rig();
    const waits = start(node({ owns: () => false }));
    await clock.advance(61_000);
    expect(waits.error).toBe("Root does not exist, and no node creates it");
  });

  test("find it, whichever node starts later", async () => {
    const { clock, node, start } = await rig();
    start(node());
    await clock.advance(1_000);
    const later = start(node());
    await settled();
    expect(later.key).toBeNull();
  });
});

/** How many calls it takes where nobody disturbs. */
async function callsOf(): Promise<number> {
  const { clock, node, start } = await rig();
  const never = stoppingAt(Number.POSITIVE_INFINITY, "before");
  start(node({ call: never.call }));
  await clock.advance(1_000);
  return never.calls();
}

describe.each(["before", "after"] as const)("a founder that stops %s any of its calls", (when) => {
  test("and goes on when the account has moved: exactly one key is shown, and it is Root's", async () => {
    const calls = await callsOf();
    expect(calls).toBeGreaterThan(8);
    for (let nth = 1; nth <= calls; nth++) {
      const { clock, store, system, node, start, isRoots } = await rig();
      const stop = stoppingAt(nth, when);
      let mine = true;
      const first = start(node({ owns: () => mine, call: stop.call }));
      await clock.advance(1_000);
      mine = false;
      const second = start(node());
      await clock.advance(1_000);
      stop.go();
      await clock.advance(10_000);
      const shown = [first.key, second.key].filter((key) => typeof key === "string");
      expect([nth, first.error, second.error, shown.length]).toEqual([nth, "", "", 1]);
      expect([nth, await isRoots(shown[0]!)]).toEqual([nth, true]);
      // What the other one has left is swept.
      await clock.advance(120_000);
      await sweepClaims({ system, store, clock });
      expect([nth, await store.unconfirmed(clock.wall(), 10)]).toEqual([nth, []]);
    }
  });

  test("and dies there: the next one shows a key that is Root's", async () => {
    const calls = await callsOf();
    for (let nth = 1; nth <= calls; nth++) {
      const { clock, node, start, isRoots } = await rig();
      start(node({ call: stoppingAt(nth, when).call }));
      await clock.advance(1_000);
      const second = start(node());
      await clock.advance(1_000);
      // Only the last call makes a key final that nobody has seen.
      const isLost = when === "after" && nth === calls;
      expect([nth, second.key === null]).toEqual([nth, isLost]);
      if (second.key) expect([nth, await isRoots(second.key)]).toEqual([nth, true]);
    }
  });
});
