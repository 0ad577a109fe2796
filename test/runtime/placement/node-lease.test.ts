// A lease lasts from the sending of the newest stored beat, never longer than observers wait, and never comes back once
// its row says dead. Whatever the registry leaves open is settled by reading the row.

import { describe, expect, test } from "bun:test";
import {
  createRowObserver,
  type NodeLease,
  rowKey,
  takeLease,
} from "../../../src/runtime/placement/node-lease.ts";
import { nodeId } from "../../../src/runtime/placement/shard-table.ts";
import type { Registry } from "../../../src/store/store.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { countingRandom, manualClock } from "../manual-clock.ts";

const limits = { heartbeatMs: 1_000, holdMs: 4_000, ttlMs: 6_000, callMs: 2_000 };
const SAY = { state: "up", watermark: 5, seen: 1 } as const;

async function rig() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  /** What happens to the coming write: its answer comes late, or never, and it is stored or not. */
  let fate: { readonly stored: boolean; readonly answerMs: number | null } = { stored: true, answerMs: 0 };
  const registry: Registry = {
    read: store.read,
    async cas(key, rev, value) {
      const { stored, answerMs } = fate;
      fate = { stored: true, answerMs: 0 };
      const answer = stored ? await store.cas(key, rev, value) : null;
      if (answerMs === null) throw new Error("the line broke");
      if (answerMs > 0) await new Promise<void>((resolve) => void clock.after(answerMs, resolve));
      return answer;
    },
  };
  const parts = { registry, clock, limits, random: countingRandom("i"), name: "a" };
  const lease = await takeLease(parts);
  const row = async () => JSON.parse((await store.read(rowKey("a")))!.value);
  return {
    clock,
    store,
    parts,
    lease,
    row,
    next: (given: typeof fate) => {
      fate = given;
    },
  };
}

/** What a beat answers, with time passing meanwhile. */
async function beaten(
  lease: NodeLease,
  clock: { advance(ms: number): Promise<void> },
  ms: number,
): Promise<boolean> {
  const kept = lease.heartbeat(SAY);
  await clock.advance(ms);
  return kept;
}

describe("a lease", () => {
  test("is held from the first beat on, for so long and no longer", async () => {
    const { lease, clock } = await rig();
    expect(lease.held()).toBe(true);
    await clock.advance(limits.holdMs - 1);
    expect(lease.held()).toBe(true);
    await clock.advance(1);
    expect(lease.held()).toBe(false);
  });

  test("counts from when the beat was sent, however late its answer comes", async () => {
    const { lease, clock, next } = await rig();
    await clock.advance(3_000);
    next({ stored: true, answerMs: 1_900 });
    expect(await beaten(lease, clock, 1_900)).toBe(true);
    await clock.advance(limits.holdMs - 1_900 - 1);
    expect(lease.held()).toBe(true);
    await clock.advance(1);
    expect(lease.held()).toBe(false);
  });

  test.each([
    ["stored, its answer lost: it counts", true, null, true],
    ["stored, its answer later than it waits: it counts", true, 60_000, true],
    ["not stored: it does not count, and the lease runs out", false, null, false],
  ])("whose beat was %s", async (_what, stored, answerMs, counts) => {
    const { lease, clock, next } = await rig();
    await clock.advance(1_500);
    next({ stored, answerMs });
    expect(await beaten(lease, clock, limits.callMs)).toBe(true);
    await clock.advance(limits.holdMs - limits.callMs - 1);
    expect(lease.held()).toBe(counts);
    expect(await beaten(lease, clock, 0)).toBe(true);
    expect(lease.held()).toBe(true);
  });

  test("ends for good when its row says dead", async () => {
    const { lease, clock, store } = await rig();
    const found = (await store.read(rowKey("a")))!;
    await store.cas(rowKey("a"), found.rev, JSON.stringify({ ...JSON.parse(found.value), state: "dead" }));
    expect(await beaten(lease, clock, 0)).toBe(false);
    expect(lease.held()).toBe(false);
    expect(await beaten(lease, clock, 0)).toBe(false);
  });

  test("runs on what the wall says when that is longer: the machine slept", async () => {
    const { lease, clock } = await rig();
    clock.stepWall(limits.holdMs);
    expect(lease.held()).toBe(false);
    expect(await beaten(lease, clock, 0)).toBe(true);
    clock.stepWall(-60_000);
    expect(lease.held()).toBe(true);
    await clock.advance(limits.holdMs);
    expect(lease.held()).toBe(false);
  });

  test("that is ended is dead to everybody, and holds nothing from the call on", async () => {
    const { lease, row } = await rig();
    const ended = lease.end();
    expect(lease.held()).toBe(false);
    await ended;
    expect(await row()).toMatchObject({ state: "dead" });
  });

  test("writes in its row what it is given, with another number each time", async () => {
    const { lease, clock, row } = await rig();
    const before = await row();
    await beaten(lease, clock, 0);
    const after = await row();
    expect(after).toMatchObject({ state: "up", watermark: 5, seen: 1 });
    expect(after.beat).toBeGreaterThan(before.beat);
  });
});

describe("a row", () => {
  test("of one who ended is taken at once, with what it had not covered", async () => {
    const { lease, parts, clock } = await rig();
    await beaten(lease, clock, 0);
    await lease.end();
    const next = await takeLease(parts);
    expect(next.node).not.toBe(lease.node);
    expect(next.inherited).toMatchObject({ watermark: 5, seen: 1 });
  });

  test("is not taken until it is certainly stored", async () => {
    const clock = manualClock();
    const store = memoryStore({ clock });
    let works = false;
    const broken = async () => {
      throw new Error("the line broke");
    };
    const registry: Registry = {
      read: (key) => (works || key === "" ? store.read(key) : broken()),
      cas: (key, rev, value) => (works ? store.cas(key, rev, value) : broken()),
    };
    let reads = 0;
    const once: Registry = {
      ...registry,
      read: (key) => (reads++ === 0 ? store.read(key) : registry.read(key)),
    };
    let taken: NodeLease | null = null;
    takeLease({ registry: once, clock, limits, random: countingRandom("i"), name: "a" }).then((lease) => {
      taken = lease;
    });
    await clock.advance(10_000);
    expect(taken).toBeNull();
    works = true;
    await clock.advance(limits.heartbeatMs);
    expect(taken).not.toBeNull();
    expect(await store.read(rowKey("a"))).not.toBeNull();
  });

  test("of one who fell silent is taken once it has not changed for long enough", async () => {
    const { parts, clock } = await rig();
    let taken: NodeLease | null = null;
    takeLease(parts).then((lease) => {
      taken = lease;
    });
    await clock.advance(limits.ttlMs - 1);
    expect(taken).toBeNull();
    await clock.advance(limits.heartbeatMs + 1);
    expect(taken).not.toBeNull();
  });

  test("is declared dead by an observer only after it has watched it for long enough itself", async () => {
    const { parts, clock, row } = await rig();
    await clock.advance(60_000);
    const watch = createRowObserver(parts);
    const node = nodeId("a", "");
    await watch.observe(node);
    await clock.advance(limits.ttlMs - 1);
    expect((await watch.observe(node))?.row.state).toBe("up");
    await clock.advance(1);
    expect((await watch.observe(node))?.row.state).toBe("dead");
    expect(await row()).toMatchObject({ state: "dead" });
  });

  test("that changed while nobody looked is not declared dead", async () => {
    const { parts, clock, lease } = await rig();
    const watch = createRowObserver(parts);
    const node = nodeId("a", "");
    await watch.observe(node);
    await clock.advance(5_000);
    await beaten(lease, clock, 0);
    await clock.advance(5_000);
    expect((await watch.observe(node))?.row.state).toBe("up");
  });
});
