// How a request ends for the money: the caller waits for a durable charge, but not for ever; a late one lies in the spool
// until the ledger has it; a cancellation frees the hold and nobody waits for it.

import { describe, expect, test } from "bun:test";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../../actors/index.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { deleteAccount } from "../../../src/admin/delete-account.ts";
import { realClock } from "../../../src/base/clock.ts";
import { UnavailableError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import { memoryBus } from "../../../src/bus/memory.ts";
import type { ChargeSpool, SpooledCharge } from "../../../src/gateway/admission/charge-spool.ts";
import { createSettlement, type Settlement } from "../../../src/gateway/admission/settlement.ts";
import { createSingleNodePlacement } from "../../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../../src/runtime/system.ts";
import { admitInput, factsOf, KEY, usd } from "../../actors/account-samples.ts";
import { startTree } from "../../admin/tree.ts";
import { faultyStore } from "../../runtime/faulty-store.ts";
import { countingRandom, manualClock, settled } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";

const ROOT = 1 as AccountId;

function memorySpool(full = false): ChargeSpool & { readonly kept: Map<string, SpooledCharge> } {
  const kept = new Map<string, SpooledCharge>();
  return {
    kept,
    async keep(late) {
      if (full) throw new Error("the disk is full");
      kept.set(late.facts.id, late);
    },
    forget: async (id) => void kept.delete(id),
    all: async () => [...kept.values()],
  };
}

/** Root's account on a faulty store: its charges need no credit. */
async function rig(spool = memorySpool()) {
  const clock = manualClock();
  const store = faultyStore(memoryStore({ clock }));
  const system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random: countingRandom(),
    placement: createSingleNodePlacement({ registry: store, node: "n" }),
    behaviors,
    log: silent,
  });
  await system.start();
  await system.ask(actorRef.account(ROOT), "createRoot", { keyHash: KEY });
  await settled();
  const settle = createSettlement({ system, spool, clock, log: silent, chargeWaitMs: 5_000 });
  const lines = async (): Promise<string[]> =>
    (await store.readCommits("account/1", 0, 1_000))
      .flatMap(({ events }) => events.map(({ e }) => e as { type: string; id: string }))
      .filter(({ type }) => type === "charge")
      .map(({ id }) => id);
  const record = () => system.ask(actorRef.account(ROOT), "read", {});
  return { clock, store, system, spool, settle, lines, record };
}

const facts = (id: string): ChargeFacts => factsOf({ id, cost: usd(1) });

async function ended(promise: Promise<unknown>): Promise<string> {
  const outcome = promise.then(
    () => "ended",
    (error) => `failed: ${error.message}`,
  );
  return Promise.race([outcome, settled().then(() => "waiting")]);
}

describe("a charge", () => {
  test("is in the ledger when it is answered", async () => {
    const { store, settle, lines, spool } = await rig();
    const open = store.holdAppends();
    const charged = settle.charge(ROOT, facts("a"));
    expect(await ended(charged)).toBe("waiting");
    open();
    await charged;
    expect(await lines()).toEqual(["a"]);
    expect([spool.kept.size, settle.lateCharges()]).toEqual([0, 0]);
  });

  test("that the store is too slow for goes to the spool after CHARGE_WAIT_MS, and the response ends", async () => {
    const { clock, store, settle, lines, spool } = await rig();
    const open = store.holdAppends();
    const charged = settle.charge(ROOT, facts("a"));
    await clock.advance(4_900);
    expect(await ended(charged)).toBe("waiting");
    await clock.advance(200);
    expect(await ended(charged)).toBe("ended");
    expect([...spool.kept.keys()]).toEqual(["a"]);
    expect(settle.lateCharges()).toBe(1);
    expect(await lines()).toEqual([]);

    open();
    await clock.advance(30_000);
    expect(await lines()).toEqual(["a"]);
    expect(spool.kept.size).toBe(0);
  });

  test("waits for what goes before it within the same time, and is spooled if that takes all of it", async () => {
    const { clock, settle, lines, spool } = await rig();
    const soon = Promise.withResolvers<void>();
    const first = settle.charge(ROOT, facts("a"), soon.promise);
    await clock.advance(1_000);
    expect([await ended(first), await lines()]).toEqual(["waiting", []]);
    soon.resolve();
    await first;
    expect(await lines()).toEqual(["a"]);

    const never = new Promise<void>(() => {});
    const second = settle.charge(ROOT, facts("b"), never);
    await clock.advance(4_900);
    expect(await ended(second)).toBe("waiting");
    await clock.advance(200);
    expect(await ended(second)).toBe("ended");
    await clock.advance(30_000);
    expect(await lines()).toEqual(["a", "b"]);
    expect(spool.kept.size).toBe(0);
  });

  test("that fails again and again is tried until it is stored, and stored once", async () => {
    const { clock, store, settle, lines, spool } = await rig();
    store.faults.push(...Array.from({ length: 200 }, () => "unknown" as const));
    const charged = settle.charge(ROOT, facts("a"));
    await clock.advance(60_000);
    await charged;
    expect(spool.kept.size).toBe(1);
    store.faults.length = 0;
    store.faults.push("stored_unknown");
    await clock.advance(60_000);
    expect(await lines()).toEqual(["a"]);
    expect(spool.kept.size).toBe(0);
  });

  test("keeps its hold until it is stored", async () => {
    const { clock, store, system, settle, record } = await rig();
    const hold = admitInput({ id: "a", cost: usd(2) });
    await system.ask(actorRef.account(ROOT), "admit", hold);
    expect((await record()).held).toBe(usd(2));
    const open = store.holdAppends();
    const charged = settle.charge(ROOT, facts("a"));
    await clock.advance(6_000);
    await charged;
    open();
    await clock.advance(6_000);
    expect((await record()).held).toBe(ZERO);
  });

  test("that waits for the ledger goes to the spool when the process ends, however long it may wait; so does a later one", async () => {
    const { clock, store, system, spool } = await rig();
    const settle = createSettlement({ system, spool, clock, log: silent, chargeWaitMs: 600_000 });
    const open = store.holdAppends();
    await settle.admit(ROOT, admitInput({ id: "a" }));
    const charged = settle.charge(ROOT, facts("a"));
    await clock.advance(60_000);
    expect(await ended(charged)).toBe("waiting");
    settle.flushNow();
    expect(await ended(charged)).toBe("ended");
    await settle.idle();
    const later = settle.charge(ROOT, facts("b"));
    await clock.advance(1_500);
    expect(await ended(later)).toBe("ended");
    expect([...spool.kept.keys()]).toEqual(["a", "b"]);
    open();
    await clock.advance(30_000);
    expect(spool.kept.size).toBe(0);
  });

  test("that an earlier process left in the spool is replayed at the start, once", async () => {
    const spool = memorySpool();
    await spool.keep({ account: ROOT, bornAt: 0, facts: facts("a") });
    const { clock, settle, lines } = await rig(spool);
    await settle.charge(ROOT, facts("b"));
    await spool.keep({ account: ROOT, bornAt: clock.wall(), facts: facts("b") });
    await clock.advance(60_000);
    await settle.replay();
    await clock.advance(1_000);
    expect((await lines()).sort()).toEqual(["a", "b"]);
    expect(spool.kept.size).toBe(0);
  });

  test("that not even the spool could take fails its response, and is still tried until it is stored", async () => {
    const { clock, store, settle, lines } = await rig(memorySpool(true));
    const open = store.holdAppends();
    store.faults.push("unknown");
    const charged = settle.charge(ROOT, facts("a")).then(
      () => "ended",
      (error) => error.message,
    );
    await clock.advance(6_000);
    expect(await charged).toBe("the disk is full");
    open();
    await clock.advance(60_000);
    expect(await lines()).toEqual(["a"]);
  });

  test("that waits in the spool for an account that never was is given up, not tried for ever", async () => {
    const spool = memorySpool();
    await spool.keep({ account: 99 as AccountId, bornAt: 0, facts: facts("a") });
    const { clock, settle } = await rig(spool);
    const over: string[] = [];
    settle.onSettled((id) => over.push(id));
    await settle.replay();
    await clock.advance(60_000);
    expect([spool.kept.size, settle.pendingLateCharges().length, over]).toEqual([0, 0, ["a"]]);
  });

  test("that the account refuses is no late charge", async () => {
    const { settle, spool } = await rig();
    const refused = await settle.charge(99 as AccountId, facts("a")).catch((error) => error.refusal.code);
    expect(refused).toBe("user_not_found");
    expect([spool.kept.size, settle.lateCharges()]).toEqual([0, 0]);
  });
});

describe("a hold that its account does not know", () => {
  /** As the real system, but for commands that do not get through while `cut` names them. */
  async function cutting() {
    const parts = await rig();
    const cut = new Set<string>();
    /** Replies stay on their way so long. */
    const road: { open: Promise<unknown> } = { open: Promise.resolve() };
    const ask = (async (...given: Parameters<typeof parts.system.ask>) => {
      if (cut.has(given[1])) throw new UnavailableError("account/1", "cut");
      const reply = await parts.system.ask(...given);
      if (given[1] === "admit") await road.open;
      return reply;
    }) as typeof parts.system.ask;
    const settle = createSettlement({
      ...{
        system: { ...parts.system, ask, askNow: ask },
        spool: parts.spool,
        clock: parts.clock,
        log: silent,
      },
      chargeWaitMs: 5_000,
    });
    const held = async () => (await parts.record()).held;
    return { ...parts, settle, cut, road, held };
  }

  test("is remembered as ended when its admission was sent, and not when it was decided at once", async () => {
    const { settle, system } = await rig();
    const admitted = settle.admit(ROOT, admitInput({ id: "a" }));
    expect(admitted).not.toBeInstanceOf(Promise);
    await settle.charge(ROOT, facts("a"));
    const late = system.ask(actorRef.account(ROOT), "admit", admitInput({ id: "a" }));
    expect(await late).toMatchObject({ admittedAt: expect.any(Number) });
    const sent = await cutting();
    await sent.settle.admit(ROOT, admitInput({ id: "b" }));
    await sent.settle.charge(ROOT, facts("b"));
    const refused = sent.system.ask(actorRef.account(ROOT), "admit", admitInput({ id: "b" }));
    expect(await ended(refused)).toContain("failed");
  });

  test("is remembered as ended when an earlier admission was sent, though the last one was decided at once", async () => {
    const { settle, system } = await rig();
    void settle.admit(ROOT, admitInput({ id: "a" }));
    settle.admittedAnew("a");
    await settle.charge(ROOT, facts("a"));
    const late = system.ask(actorRef.account(ROOT), "admit", admitInput({ id: "a" }));
    expect(await ended(late)).toContain("failed");
  });

  test("is reasserted when its renewal says so", async () => {
    const { clock, settle, held } = await cutting();
    await settle.admit(ROOT, admitInput({ id: "a", cost: usd(2) }));
    await clock.advance(HOLD_TTL_MS);
    expect(await held()).toBe(ZERO);
    settle.renew(ROOT, "a", { cost: usd(3) as Nano, tokens: 5 });
    await clock.advance(100);
    expect(await held()).toBe(usd(3));
  });

  test("is reasserted when the activation failed", async () => {
    const { clock, settle, held, system, store } = await cutting();
    await settle.admit(ROOT, admitInput({ id: "a", cost: usd(2) }));
    store.faults.push("lost");
    void system.ask(actorRef.account(ROOT), "update", { by: ROOT, parent: null, change: { alias: "x" } });
    await clock.advance(100);
    expect(system.stats().counters.broken).toBe(1);
    expect(await held()).toBe(usd(2));
  });

  test("of a charge that waits in the spool counts until it is stored, also after a restart", async () => {
    const { clock, settle, spool, cut, held, lines } = await cutting();
    await spool.keep({ account: ROOT, bornAt: clock.wall(), facts: facts("a") });
    cut.add("charge");
    await settle.replay();
    await clock.advance(6_000);
    expect(await held()).toBe(usd(1));
    await clock.advance(2 * HOLD_TTL_MS);
    expect(await held()).toBe(usd(1));
    cut.clear();
    await clock.advance(10_000);
    expect([await held(), await lines()]).toEqual([ZERO, ["a"]]);
  });

  test("is given back later when its cancellation did not get through, and its request counts", async () => {
    const { clock, settle, cut, held, store } = await cutting();
    await settle.admit(ROOT, admitInput({ id: "a", cost: usd(2) }));
    cut.add("cancel");
    const answered: boolean[] = [];
    void settle.cancel(ROOT, "a", false).then((isFree) => void answered.push(isFree));
    await clock.advance(60_000);
    expect([await held(), answered, settle.isCancelling("a")]).toEqual([usd(2), [false], true]);
    cut.clear();
    await clock.advance(6_000);
    expect([await held(), answered, settle.isCancelling("a")]).toEqual([ZERO, [false], false]);
    expect(await store.hasDedupId("account/1", "a:released")).toBe(true);
  });

  test("is given back by word when its cancellation is too old to be taken", async () => {
    const { clock, settle, cut, held } = await cutting();
    await settle.admit(ROOT, admitInput({ id: "a", cost: usd(2) }));
    cut.add("cancel");
    settle.cancel(ROOT, "a", false);
    await clock.advance(100);
    clock.stepWall(900_001);
    settle.renew(ROOT, "a", { cost: ZERO, tokens: 0 });
    await clock.advance(100);
    expect(await held()).toBe(usd(2));
    cut.clear();
    await clock.advance(10_000);
    expect(await held()).toBe(ZERO);
  });

  test("and of which nobody knows whether it was taken is not for ever asked about", async () => {
    const { clock, settle, cut } = await cutting();
    cut.add("cancel");
    settle.cancel(ROOT, "never", false);
    let over = false;
    settle.onSettled(() => {
      over = true;
    });
    await clock.advance(100);
    expect(over).toBe(true);
  });

  test("whose admission was in flight while holds were reasserted is reasserted by itself", async () => {
    const { clock, store, system, settle, road, held } = await cutting();
    const { promise, resolve } = Promise.withResolvers<void>();
    road.open = promise;
    const admitted = settle.admit(ROOT, admitInput({ id: "a", cost: usd(2) }));
    await clock.advance(10);
    store.faults.push("lost");
    void system.ask(actorRef.account(ROOT), "update", { by: ROOT, parent: null, change: { alias: "x" } });
    await clock.advance(100);
    expect(await held()).toBe(ZERO);
    resolve();
    await admitted;
    await clock.advance(10);
    expect(await held()).toBe(usd(2));
  });
});

describe("a charge of an account that was deleted meanwhile", () => {
  async function deleted(spool = memorySpool()) {
    const clock = realClock();
    const tree = await startTree(memoryStore({ clock }), clock);
    const owner = await tree.born(ROOT, "acme", 100);
    const gone = await tree.born(owner.id, "team-gone", 20);
    await deleteAccount(tree, { account: gone.id, by: owner.id, recursive: false });
    const settle = createSettlement({ system: tree.system, spool, clock, log: silent, chargeWaitMs: 5_000 });
    const lines = async () =>
      (await tree.store.readCommits(`account/${gone.id}`, 0, 1_000))
        .flatMap(({ events }) => events.map(({ e }) => (e as { type: string }).type))
        .slice(-2);
    return { clock, settle, gone, lines };
  }

  test("is a late charge and a loss, and the response ends", async () => {
    const { settle, gone, lines } = await deleted();
    await settle.charge(gone.id, facts("a"));
    expect(await lines()).toEqual(["late_charge", "write_off"]);
    expect(settle.lateCharges()).toBe(0);
  });

  test("leaves the spool for the ledger", async () => {
    const spool = memorySpool();
    const { clock, settle, gone, lines } = await deleted(spool);
    await spool.keep({ account: gone.id, bornAt: clock.wall(), facts: facts("a") });
    const over = new Promise<string>((resolve) => settle.onSettled(resolve));
    await settle.replay();
    expect(await over).toBe("a");
    expect([await lines(), spool.kept.size, settle.pendingLateCharges()]).toEqual([
      ["late_charge", "write_off"],
      0,
      [],
    ]);
  });
});

describe("all have ended", () => {
  /** Whether it is so, without waiting. */
  const isSo = async (settle: Settlement): Promise<boolean> => {
    let ended = false;
    void settle.idle().then(() => {
      ended = true;
    });
    await settled();
    return ended;
  };

  test("at first, and again when the last that began is charged or cancelled", async () => {
    const { settle } = await rig();
    expect(await isSo(settle)).toBe(true);
    await settle.admit(ROOT, admitInput({ id: "a" }));
    await settle.admit(ROOT, admitInput({ id: "b" }));
    await settle.charge(ROOT, facts("a"));
    expect(await isSo(settle)).toBe(false);
    const waiting = settle.idle();
    settle.cancel(ROOT, "b", false);
    await waiting;
    expect(await isSo(settle)).toBe(true);
  });

  test("also when a charge waits in the spool, or was refused", async () => {
    const { clock, store, settle } = await rig();
    await settle.admit(ROOT, admitInput({ id: "refused" }));
    await settle.charge(99 as AccountId, facts("refused")).catch(() => undefined);
    expect(await isSo(settle)).toBe(true);
    await settle.admit(ROOT, admitInput({ id: "late" }));
    const open = store.holdAppends();
    const charged = settle.charge(ROOT, facts("late"));
    await settled();
    expect(await isSo(settle)).toBe(false);
    await clock.advance(5_200);
    await charged;
    expect(await isSo(settle)).toBe(true);
    open();
  });
});

describe("a cancellation", () => {
  test("frees the hold and writes that the request counted", async () => {
    const { clock, store, system, settle, record } = await rig();
    await system.ask(actorRef.account(ROOT), "admit", admitInput({ id: "a" }));
    const answered: boolean[] = [];
    void settle.cancel(ROOT, "a", false).then((isFree) => void answered.push(isFree));
    expect(answered).toEqual([]);
    await clock.advance(10);
    expect([(await record()).held, answered]).toEqual([ZERO, [true]]);
    expect(await store.hasDedupId("account/1", "a:released")).toBe(true);
  });

  test("that cannot be sent throws at nobody: the hold ends by itself", async () => {
    const { clock, store, settle } = await rig();
    store.holdLoads();
    settle.cancel(99 as AccountId, "a", false);
    await clock.advance(20_000);
    expect(settle.lateCharges()).toBe(0);
  });
});

test("a renewal grows the hold of a request that needs more", async () => {
  const { clock, system, settle, record } = await rig();
  await system.ask(actorRef.account(ROOT), "admit", admitInput({ id: "a", cost: usd(1) }));
  settle.renew(ROOT, "a", { cost: usd(3) as Nano, tokens: 5 });
  await clock.advance(10);
  expect((await record()).held).toBe(usd(3));
});
