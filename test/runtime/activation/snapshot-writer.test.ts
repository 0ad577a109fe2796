// Documents and snapshots: behind the ledger by a bounded time, but never behind an administrative reply; and always
// the fold of exactly the commits that they name.

import { describe, expect, test } from "bun:test";
import { memoryBus } from "../../../src/bus/memory.ts";
import type { AnyBehavior } from "../../../src/runtime/actor.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { manualClock, settled } from "../manual-clock.ts";
import { type Purse, purse } from "../purse.ts";
import { ledgerOf, type Rig, rig } from "../rig.ts";

const documentOf = async ({ store }: Rig, id: string): Promise<unknown> =>
  (
    await store.find({
      table: "accounts",
      where: [{ field: "nameLower", is: "=", value: id }],
      order: "nameLower",
    })
  )[0];

/** What the ledger says at a seq. */
async function foldTo({ store }: Rig, id: string, seq: number): Promise<number> {
  const commits = (await ledgerOf(store, id)).filter((commit) => commit.seq <= seq);
  return commits
    .flatMap(({ events }) => events)
    .reduce((sum, { e }) => sum + ((e as { amount?: number }).amount ?? 0), 0);
}

/** Every snapshot and document that was ever written is the fold of the ledger up to its seq. */
async function allExact(made: Rig): Promise<void> {
  for (const { snapshot, documents } of made.store.saves.flat()) {
    if (snapshot !== null) {
      const id = snapshot.actor.slice("account/".length);
      expect((snapshot.state as { total: number }).total).toBe(await foldTo(made, id, snapshot.seq));
    }
    for (const { id, seq, body } of documents) expect(body.total).toBe(await foldTo(made, id, seq));
  }
}

/** The seqs of the snapshots that were written so far, and of all saves. */
const written = ({ store }: Rig) => {
  const saves = store.saves.flat();
  return {
    snapshots: saves.flatMap(({ snapshot }) => snapshot?.seq ?? []),
    documents: saves.flatMap(({ documents }) => documents.map(({ seq }) => seq)),
  };
};

/** How old a snapshot becomes. */
const SIXTEEN_SECONDS = { limits: { snapshotMs: 16_000 } };

describe("documents", () => {
  test("of ordinary turns are written within the time allowed, not at once", async () => {
    const made = await rig();
    await made.ask("a", "add", { amount: 1 });
    expect(await documentOf(made, "a")).toBeUndefined();
    await made.clock.advance(2_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 1 });
  });

  test("are written after so many commits, whatever the time", async () => {
    const made = await rig({ limits: { saveCommits: 5 } });
    for (let i = 0; i < 6; i++) await made.ask("a", "add", { amount: 1 });
    await settled();
    expect(await documentOf(made, "a")).toMatchObject({ total: 6 });
    await allExact(made);
  });

  test("of an administrative turn are stored when its reply arrives", async () => {
    const made = await rig();
    const open = made.store.holdSaves();
    let done = false;
    const reply = made.ask("a", "save", { amount: 7 }).then(() => {
      done = true;
    });
    await settled();
    expect(await ledgerOf(made.store, "a")).toHaveLength(1);
    expect(done).toBe(false);
    open();
    await reply;
    expect(await documentOf(made, "a")).toMatchObject({ total: 7 });
  });

  test("of an administrative turn are stored when its reply arrives, also amid more than one commit's turns", async () => {
    const made = await rig({ limits: { commitEvents: 4 } });
    const open = made.store.holdAppends();
    const busy = Array.from({ length: 9 }, () => made.ask("a", "add", { amount: 1 }));
    const checks: Promise<void>[] = [];
    for (let i = 0; i < 3; i++) {
      const least = 9 + (i + 1) * 100 + i * 9;
      checks.push(
        made.ask("a", "save", { amount: 100 }).then(async () => {
          const { total } = (await documentOf(made, "a")) as { total: number };
          expect(total).toBeGreaterThanOrEqual(least);
        }),
      );
      busy.push(...Array.from({ length: 9 }, () => made.ask("a", "add", { amount: 1 })));
    }
    await settled();
    open();
    await Promise.all([...busy, ...checks]);
    expect((await ledgerOf(made.store, "a")).length).toBeGreaterThan(8);
    await allExact(made);
  });

  test("that could not be stored are no failure: the reply comes, and the next save carries them", async () => {
    const made = await rig();
    const mend = made.store.failSaves();
    expect(await made.ask("a", "save", { amount: 7 })).toBe(7);
    expect(made.logged).toContainEqual({ event: "save_failed", actor: "account/a", why: undefined });
    mend();
    await made.clock.advance(5_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 7 });
  });

  test("are saved once at a time: what is committed while a slow store writes has no save of its own", async () => {
    const made = await rig({ limits: { saveCommits: 3 } });
    const open = made.store.holdSaves();
    for (let i = 0; i < 20; i++) {
      await made.ask("a", "add", { amount: 1 });
      await settled();
    }
    await made.clock.advance(4_000);
    expect(made.store.saves).toHaveLength(1);
    open();
    await settled();
    expect(written(made).documents).toEqual([4]);
    await made.ask("a", "add", { amount: 1 });
    await settled();
    expect(written(made).documents).toEqual([4, 21]);
    await allExact(made);
  });

  test("are made right again after a crash without anybody asking", async () => {
    const before = await rig();
    await before.ask("a", "add", { amount: 1 });
    const after = await before.restart();
    await after.clock.advance(3_000);
    expect(await documentOf(after, "a")).toMatchObject({ total: 1 });
  });

  test("are made right again after an append whose outcome nobody knew, without anybody asking", async () => {
    const made = await rig();
    await made.ask("a", "save", { amount: 1 });
    made.store.faults.push("stored_unknown");
    await made.ask("a", "add", { amount: 5 }, { budgetMs: 0 }).catch((error) => error.reason);
    await made.clock.advance(5_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 6 });
  });
});

describe("documents that may trail", () => {
  const trailing = (over: Partial<Parameters<typeof rig>[0] & object> = {}) =>
    rig({
      behavior: { ...purse, mayTrail: ({ total }) => total < 100 } as AnyBehavior,
      ...SIXTEEN_SECONDS,
      ...over,
    });

  /** A purse that is busy: it had a save, and commits again. */
  async function busy(over: Parameters<typeof trailing>[0] = {}): Promise<Rig> {
    const made = await trailing(over);
    await made.ask("a", "add", { amount: 1 });
    await made.clock.advance(2_000);
    await made.ask("a", "add", { amount: 1 });
    return made;
  }

  test("are written with the snapshot", async () => {
    const made = await busy();
    expect(await documentOf(made, "a")).toMatchObject({ total: 1 });
    for (let i = 0; i < 13; i++) {
      await made.clock.advance(1_000);
      await made.ask("a", "add", { amount: 1 });
    }
    expect(written(made)).toEqual({ snapshots: [1], documents: [1] });
    await made.clock.advance(4_000);
    expect(written(made)).toEqual({ snapshots: [1, 15], documents: [1, 15] });
    await allExact(made);
  });

  test("are written when a save is asked for, and the snapshot is not", async () => {
    const made = await busy();
    expect(await made.system.save(1_000)).toBe(true);
    expect(written(made)).toEqual({ snapshots: [1], documents: [1, 2] });
    await made.ask("a", "save", { amount: 1 });
    expect(written(made)).toEqual({ snapshots: [1], documents: [1, 2, 3] });
  });

  test("are written soon once the state says so", async () => {
    const made = await busy();
    await made.ask("a", "add", { amount: 100 });
    await made.clock.advance(2_000);
    expect(written(made)).toEqual({ snapshots: [1], documents: [1, 3] });
  });

  test("are written after as many commits as a snapshot", async () => {
    const made = await busy({ limits: { saveCommits: 1, snapshotCommits: 5 } });
    for (let i = 0; i < 10; i++) {
      await made.ask("a", "add", { amount: 1 });
      await settled();
    }
    const { snapshots, documents } = written(made);
    expect(documents).toEqual(snapshots);
    for (const [i, seq] of snapshots.entries()) expect(seq - (snapshots[i - 1] ?? 0)).toBeLessThanOrEqual(7);
    expect(snapshots.length).toBeGreaterThanOrEqual(2);
  });

  test("are written as soon as others where the store follows snapshots", async () => {
    const clock = manualClock();
    const made = await busy({ clock, inner: { ...memoryStore({ clock }), followsSnapshots: true } });
    await made.clock.advance(2_000);
    expect(written(made)).toEqual({ snapshots: [1, 2], documents: [1, 2] });
  });

  test("are written soon after a save that failed, which took from the state what was to be written soon", async () => {
    const mayTrail = ({ total, volatile }: Purse) => total < 100 || !volatile.dirty;
    const made = await busy({ behavior: { ...purse, mayTrail } as AnyBehavior });
    const mend = made.store.failSaves();
    await made.ask("a", "add", { amount: 100 });
    await made.clock.advance(2_000);
    mend();
    await made.clock.advance(2_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 102 });
  });

  test("are written after a save that failed", async () => {
    const made = await busy();
    const mend = made.store.failSaves();
    expect(await made.system.save(1_000)).toBe(false);
    mend();
    await made.clock.advance(2_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 2 });
  });
});

describe("asked for", () => {
  test("documents of all actors are stored when it answers", async () => {
    const made = await rig();
    for (const id of ["a", "b", "c"]) await made.ask(id, "add", { amount: 1 });
    expect(await made.system.save(1_000)).toBe(true);
    for (const id of ["a", "b", "c"]) expect(await documentOf(made, id)).toMatchObject({ total: 1 });
    await allExact(made);
  });

  test("amid turns that go on, what was committed before it is stored", async () => {
    const made = await rig({ limits: { commitEvents: 2 } });
    await made.ask("a", "add", { amount: 100 });
    const open = made.store.holdAppends();
    const busy = Array.from({ length: 9 }, () => made.ask("a", "add", { amount: 1 }));
    await settled();
    const saved = made.system.save(1_000);
    await settled();
    open();
    expect(await saved).toBe(true);
    const { total } = (await documentOf(made, "a")) as { total: number };
    expect(total).toBeGreaterThanOrEqual(100);
    await Promise.all(busy);
    await allExact(made);
  });

  test("nothing is written where nothing is new", async () => {
    const made = await rig();
    await made.ask("a", "save", { amount: 1 });
    const { length } = made.store.saves;
    expect(await made.system.save(1_000)).toBe(true);
    expect(made.store.saves).toHaveLength(length);
  });

  test("it says so when the store does not take them, or not in time", async () => {
    const made = await rig();
    await made.ask("a", "add", { amount: 1 });
    const mend = made.store.failSaves();
    expect(await made.system.save(1_000)).toBe(false);
    mend();
    const open = made.store.holdSaves();
    const late = made.system.save(1_000);
    await made.clock.advance(1_001);
    expect(await late).toBe(false);
    open();
    await settled();
    expect(await made.system.save(1_000)).toBe(true);
    expect(await documentOf(made, "a")).toMatchObject({ total: 1 });
  });
});

describe("an actor that is reloaded", () => {
  test("is read from the store, with all that it knew", async () => {
    const made = await rig();
    await made.ask("a", "add", { amount: 3 });
    const before = made.store.loads.total;
    await made.system.reload({ kind: "account", id: "a" });
    expect(await made.ask("a", "read", {})).toBe(3);
    expect(made.store.loads.total).toBe(before + 1);
  });

  test("while it is busy, or not in memory, stays as it is", async () => {
    const made = await rig();
    await made.ask("a", "hold", { open: true });
    const before = made.store.loads.total;
    await made.system.reload({ kind: "account", id: "a" });
    await made.system.reload({ kind: "account", id: "nobody" });
    await made.ask("a", "read", {});
    expect(made.store.loads.total).toBe(before);
  });
});

describe("a snapshot", () => {
  test("is the fold of the ledger at its seq, however turns and appends overlap", async () => {
    const made = await rig({ limits: { commitEvents: 3, saveCommits: 1, snapshotCommits: 4 } });
    for (let round = 0; round < 20; round++) {
      const open = made.store.holdAppends();
      const turns = Array.from({ length: (round * 5) % 11 }, (_, i) =>
        i % 4 === 3
          ? made.ask("a", "save", { amount: round })
          : made.ask("a", "many", { count: (i % 3) + 1 }),
      );
      if (round % 3 === 0) await made.clock.advance(700);
      await settled();
      open();
      await Promise.all(turns);
    }
    expect(made.store.saves.flat().length).toBeGreaterThan(12);
    await allExact(made);
  });

  test("of another version is ignored, and the ledger folded from genesis", async () => {
    const before = await rig();
    await before.ask("a", "save", { amount: 1 });
    await before.ask("a", "save", { amount: 2 });
    const after = await before.restart({
      behavior: { ...purse, version: 2, thaw: () => ({ ...purse.empty("a"), total: 1_000 }) },
    });
    expect(await after.ask("a", "read", {})).toBe(3);
  });

  test("spares the replay of what it covers", async () => {
    const before = await rig({ limits: { snapshotMs: 0 } });
    for (let i = 0; i < 5; i++) await before.ask("a", "save", { amount: 1 });
    let folded = 0;
    const behavior: typeof purse = {
      ...purse,
      evolve(...args) {
        folded++;
        purse.evolve(...args);
      },
    };
    const after = await before.restart({ behavior });
    expect(await after.ask("a", "read", {})).toBe(5);
    expect(folded).toBe(0);
  });

  test("that a behaviour cannot make breaks that actor, and no other of its append", async () => {
    const behavior: typeof purse = {
      ...purse,
      freeze(state) {
        if (state.id === "bad") throw new Error("a bug in a behaviour");
        return purse.freeze(state);
      },
    };
    const made = await rig({ behavior, limits: { commitEvents: 4 } });
    expect(await made.outcome("bad", "save", { amount: 1 }, { budgetMs: 0 })).toBe(
      "unavailable: unavailable",
    );
    await made.ask("bad", "add", { amount: 1 }).catch((error) => error.reason);
    await made.clock.advance(5_000);
    const ids = Array.from({ length: 40 }, (_, i) => `p${i}`);
    expect(await Promise.all(ids.map((id) => made.ask(id, "save", { amount: 1 })))).toEqual(ids.map(() => 1));
    expect(await documentOf(made, "p0")).toMatchObject({ total: 1 });
    await made.ask("p0", "add", { amount: 1 });
    await made.clock.advance(5_000);
    expect(await documentOf(made, "p0")).toMatchObject({ total: 2 });
  });
});

describe("how often a snapshot is written", () => {
  test("of a busy actor: once for several saves, and never further behind than the time allowed", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    for (let second = 0; second < 60; second++) {
      await made.ask("a", "add", { amount: 1 });
      await made.clock.advance(1_000);
      const { total } = ((await documentOf(made, "a")) ?? { total: 0 }) as { total: number };
      expect(second + 1 - total).toBeLessThanOrEqual(3);
      const { seq = 0 } = (await made.store.loadSnapshot("account/a")) ?? {};
      expect(second + 1 - seq).toBeLessThanOrEqual(20);
    }
    const { snapshots, documents } = written(made);
    expect(documents.length).toBeGreaterThanOrEqual(29);
    expect(snapshots.length).toBeLessThanOrEqual(4);
    await allExact(made);
  });

  test("of one that commits seldom: with each save", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    for (let i = 0; i < 5; i++) {
      await made.ask("a", "add", { amount: 1 });
      await made.clock.advance(20_000);
    }
    expect(written(made)).toEqual({ snapshots: [1, 2, 3, 4, 5], documents: [1, 2, 3, 4, 5] });
  });

  test("of one that has fallen silent: once more, without documents, and then it can be unloaded", async () => {
    const made = await rig({ limits: { snapshotMs: 16_000, idleMs: 1_000 } });
    await made.ask("a", "save", { amount: 1 });
    await made.ask("a", "add", { amount: 1 });
    await made.clock.advance(4_000);
    expect(written(made)).toEqual({ snapshots: [1], documents: [1, 2] });
    await made.clock.advance(8_000);
    expect(made.system.stats().actors).toBe(1);
    await made.clock.advance(20_000);
    expect(written(made)).toEqual({ snapshots: [1, 2], documents: [1, 2] });
    expect(made.system.stats().actors).toBe(0);
  });

  test("after so many commits, whatever the time", async () => {
    const made = await rig({ limits: { saveCommits: 2, snapshotCommits: 6 } });
    for (let i = 0; i < 20; i++) {
      await made.ask("a", "add", { amount: 1 });
      await settled();
    }
    const { snapshots, documents } = written(made);
    expect(snapshots.length).toBeGreaterThanOrEqual(2);
    expect(documents.length).toBeGreaterThanOrEqual(2 * snapshots.length);
    for (const [i, seq] of snapshots.entries()) expect(seq - (snapshots[i - 1] ?? 0)).toBeLessThanOrEqual(9);
  });

  test("with each save, where the store follows snapshots", async () => {
    const clock = manualClock();
    const made = await rig({ clock, inner: { ...memoryStore({ clock }), followsSnapshots: true } });
    for (let i = 1; i <= 4; i++) await made.ask("a", "save", { amount: 1 });
    expect(written(made).snapshots).toEqual([1, 2, 3, 4]);
  });

  test("of a node that leaves: at once, of everything", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    await made.ask("a", "save", { amount: 1 });
    await made.ask("a", "add", { amount: 1 });
    expect(await made.system.save(1_000)).toBe(true);
    expect((await made.store.loadSnapshot("account/a"))?.seq).toBe(1);
    const drained = made.system.drain(1_000);
    await made.clock.advance(100);
    await drained;
    expect((await made.store.loadSnapshot("account/a"))?.seq).toBe(2);
  });

  test("what is committed while a save is written is in the next one", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    await made.ask("a", "add", { amount: 1 });
    const open = made.store.holdSaves();
    await made.clock.advance(2_000);
    await made.ask("a", "add", { amount: 1 });
    open();
    await made.clock.advance(2_000);
    expect(await documentOf(made, "a")).toMatchObject({ total: 2 });
    await made.clock.advance(20_000);
    expect((await made.store.loadSnapshot("account/a"))?.seq).toBe(2);
  });

  test("a node that leaves tries again what could not be saved", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    await made.ask("a", "save", { amount: 1 });
    await made.ask("a", "add", { amount: 1 });
    const mend = made.store.failSaves();
    const drained = made.system.drain(5_000);
    await made.clock.advance(100);
    mend();
    await made.clock.advance(1_000);
    await drained;
    expect((await made.store.loadSnapshot("account/a"))?.seq).toBe(2);
  });

  test("above the bound of actors in memory all are written, so that some can be unloaded", async () => {
    const made = await rig({ limits: { actors: 2 } });
    for (let i = 0; i < 5; i++) {
      await made.ask(`p${i}`, "save", { amount: 1 });
      await made.ask(`p${i}`, "add", { amount: 1 });
    }
    await made.clock.advance(10_000);
    expect(made.system.stats().actors).toBe(5);
    await made.clock.advance(10_000);
    expect(made.system.stats().actors).toBe(2);
  });

  test("a failed one is tried again, and the watermark waits for it", async () => {
    const made = await rig(SIXTEEN_SECONDS);
    await made.ask("a", "save", { amount: 1 });
    await made.ask("a", "add", { amount: 1 });
    const at = (await ledgerOf(made.store, "a"))[1]!.at;
    await made.clock.advance(12_000);
    const mend = made.store.failSaves();
    await made.clock.advance(20_000);
    expect(made.watermarks.at(-1)).toBeLessThanOrEqual(at);
    mend();
    await made.clock.advance(14_000);
    expect((await made.store.loadSnapshot("account/a"))?.seq).toBe(2);
    expect(made.watermarks.at(-1)).toBeGreaterThan(at);
  });
});

describe("a publication", () => {
  test("goes out after the commit, and only then", async () => {
    const { ask, store, system, clock } = await rig(SIXTEEN_SECONDS);
    const received: unknown[] = [];
    system.subscribe("purse.>", (topic, body) => received.push([topic, body]));
    const open = store.holdAppends();
    const asked = ask("a", "announce", { word: "hello" });
    await settled();
    expect(received).toEqual([]);
    open();
    await asked;
    await clock.advance(1);
    expect(received).toEqual([["purse.a", "hello"]]);
  });

  test("of a turn that was lost never goes out", async () => {
    const { ask, store, system, clock } = await rig(SIXTEEN_SECONDS);
    const received: unknown[] = [];
    system.subscribe("purse.a", (_topic, body) => received.push(body));
    store.faults.push("lost");
    await ask("a", "announce", { word: "hello" }, { budgetMs: 0 }).catch((error) => error.reason);
    await clock.advance(1_000);
    expect(received).toEqual([]);
  });

  test("too large for the bus says only that there is something new, to those who want to know", async () => {
    const { ask, system, clock } = await rig({ bus: { ...memoryBus(), publicationLengthMax: 7 } });
    const received: unknown[] = [];
    system.subscribe(
      "purse.>",
      (_topic, body) => received.push(body),
      (topic) => received.push(`changed: ${topic}`),
    );
    system.subscribe("purse.>", (_topic, body) => received.push(`too: ${body}`));
    await ask("a", "announce", { word: "hello" });
    await ask("a", "announce", { word: "hellos" });
    await clock.advance(1);
    expect(received).toEqual(["hello", "too: hello", "changed: purse.a"]);
  });
});
