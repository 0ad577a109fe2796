// A command with the same id is executed once: within one process, after a restart from snapshot or ledger, and for
// marked commands for ever.

import { describe, expect, test } from "bun:test";
import { decode, encode } from "../../src/bus/codec.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import type { Placement } from "../../src/runtime/placement/placement.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { PROTOCOL_VERSION } from "../../src/runtime/protocol-version.ts";
import { NOON, settled } from "./manual-clock.ts";
import { rig, totalOf } from "./rig.ts";

describe("an unmarked command", () => {
  test("repeated gets its first reply", async () => {
    const { ask } = await rig();
    expect(await ask("a", "add", { amount: 1 }, { id: "x" })).toBe(1);
    await ask("a", "add", { amount: 10 });
    expect(await ask("a", "add", { amount: 1 }, { id: "x" })).toBe(1);
    expect(await ask("a", "read", {})).toBe(11);
  });

  test("repeated after a crash is found in the commit", async () => {
    const before = await rig();
    await before.ask("a", "add", { amount: 1 }, { id: "x" });
    expect(before.store.saves).toHaveLength(0);
    const after = await before.restart();
    expect(await after.ask("a", "add", { amount: 1 }, { id: "x" })).toBe(1);
    expect(await totalOf(after.store, "a")).toBe(1);
  });

  test("repeated after a crash is found in the snapshot", async () => {
    const before = await rig();
    await before.ask("a", "add", { amount: 1 }, { id: "x" });
    await before.clock.advance(3_000);
    expect(await before.store.loadSnapshot("account/a")).toMatchObject({ seq: 1 });
    const after = await before.restart();
    expect(await after.ask("a", "add", { amount: 1 }, { id: "x" })).toBe(1);
    expect(await totalOf(after.store, "a")).toBe(1);
  });

  test("minted longer ago than the memory reaches is refused, not executed", async () => {
    const { outcome, store } = await rig();
    const bornAt = NOON - 900_001;
    expect(await outcome("a", "add", { amount: 1 }, { id: "x", bornAt })).toBe("unavailable: too_old");
    expect(store.appends).toHaveLength(0);
  });

  test("known to the memory is answered although it is old", async () => {
    const { ask, clock } = await rig();
    const bornAt = clock.wall() - 800_000;
    expect(await ask("a", "add", { amount: 1 }, { id: "x", bornAt })).toBe(1);
    await clock.advance(200_000);
    expect(await ask("a", "add", { amount: 1 }, { id: "x", bornAt })).toBe(1);
  });
});

describe("a marked command", () => {
  test("is remembered without asking the store while it is fresh", async () => {
    const { ask, store, clock } = await rig();
    const bornAt = clock.wall();
    expect(await ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(1);
    const asked = countMarked(store);
    expect(await ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(1);
    expect(asked()).toBe(0);
  });

  test("is found in the ledger once the memory has let it go", async () => {
    const { ask, clock, store } = await rig();
    const bornAt = clock.wall();
    await ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt });
    for (const mark of ["o1", "o2", "o3"]) {
      await clock.advance(60_000);
      await ask("a", "pay", { mark, amount: 1 });
    }
    expect(await ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(-1);
    expect(await totalOf(store, "a")).toBe(4);
  });

  test("is found in the ledger after a restart, at once and years later", async () => {
    const before = await rig();
    const bornAt = before.clock.wall();
    await before.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt });
    const after = await before.restart();
    expect(await after.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(-1);
    after.clock.stepWall(3 * 365 * 86_400_000);
    expect(await after.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(-1);
    expect(await totalOf(after.store, "a")).toBe(1);
  });

  test("minted by a clock a little ahead of the load is looked up as well", async () => {
    const before = await rig();
    const bornAt = before.clock.wall() + 1_500;
    await before.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt });
    const after = await before.restart();
    expect(await after.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(-1);
  });

  test("minted by a clock far ahead is looked up when its sender tries again", async () => {
    const { ask, clock, store } = await rig();
    await ask("a", "add", { amount: 0 });
    store.faults.push("stored_unknown");
    const release = store.holdAppends();
    clock.stepWall(14_000);
    const asked = ask("a", "pay", { mark: "m", amount: 1 }, { id: "m" });
    await settled();
    clock.stepWall(-14_000);
    release();
    await clock.advance(1_000);
    expect(await asked).toBe(-1);
    expect(await totalOf(store, "a")).toBe(1);
  });

  test("minted by a clock far ahead, whose first try comes late, is looked up as well", async () => {
    const before = await rig();
    await before.ask("a", "pay", { mark: "m", amount: 1 }, { id: "m" });
    const bus = memoryBus();
    let join: (node: string) => Promise<void> = async () => {};
    const placement: Placement = {
      ...createSingleNodePlacement({ registry: before.store, node: "n1" }),
      onJoin(handle) {
        join = handle;
      },
    };
    const after = await before.restart({ bus, placement });
    await join("n1");
    const at = after.clock.wall() + 14_000;
    const to = { kind: "account", id: "a" };
    const command = { type: "pay", mark: "m", amount: 1 };
    const envelope = { id: "m", bornAt: at, to, from: "n2#1", epoch: 1, expiresAt: at, command };
    const reply = decode(
      await bus.request("n1", encode({ v: PROTOCOL_VERSION, kind: "command", envelope }), 1_000),
    );
    expect(reply).toEqual({ ok: true, body: -1 });
    expect(await totalOf(after.store, "a")).toBe(1);
  });

  test("is never too old to be executed the first time", async () => {
    const { ask, clock } = await rig();
    const bornAt = clock.wall() - 86_400_000;
    expect(await ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt })).toBe(1);
  });

  test("that ran on its caller's stack is remembered until its commit, and then found in the ledger", async () => {
    const { ask, clock, store, system } = await rig();
    await ask("a", "add", { amount: 0 });
    const bornAt = clock.wall();
    const release = store.holdAppends();
    const now = { id: "m", bornAt };
    const first = system.askNow({ kind: "account", id: "a" }, "pay", { mark: "m", amount: 1 }, { id: "m" });
    const asked = countMarked(store);
    const waiting = ask("a", "pay", { mark: "m", amount: 1 }, now);
    await settled();
    expect(asked()).toBe(0);
    release();
    expect([await first, await waiting]).toEqual([1, 1]);
    expect(await ask("a", "pay", { mark: "m", amount: 1 }, now)).toBe(-1);
    expect([asked(), await totalOf(store, "a")]).toEqual([1, 1]);
  });

  test("is not looked up on its caller's stack right after the load, since nobody else can have sent it", async () => {
    const before = await rig();
    await before.ask("a", "pay", { mark: "m", amount: 1 });
    const { ask, store, system } = await before.restart();
    await ask("a", "read", {});
    const asked = countMarked(store);
    const pay = (mark: string) => ({ mark, amount: 1 });
    expect(await system.askNow({ kind: "account", id: "a" }, "pay", pay("n"), { id: "n" })).toBe(2);
    expect(asked()).toBe(0);
    // A message may be a late copy.
    expect(await ask("a", "pay", pay("o"), { id: "o" })).toBe(3);
    expect(asked()).toBe(1);
  });

  test("sent twice at once while the ledger is asked is executed once", async () => {
    const { ask, clock, store } = await rig();
    await ask("a", "add", { amount: 0 });
    const bornAt = clock.wall() - 60_000;
    const twice = [1, 2].map(() => ask("a", "pay", { mark: "m", amount: 1 }, { id: "m", bornAt }));
    expect(await Promise.all(twice)).toEqual([1, 1]);
    expect(await totalOf(store, "a")).toBe(1);
  });
});

function countMarked(store: { hasDedupId(actor: string, mark: string): Promise<boolean> }): () => number {
  const marked = store.hasDedupId.bind(store);
  let count = 0;
  store.hasDedupId = (actor, mark) => {
    count++;
    return marked(actor, mark);
  };
  return () => count;
}
