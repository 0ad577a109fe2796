// What one actor owes another: delivered at least once and applied exactly once, only after the debt is durable,
// whatever crashes in between; and given back when it is refused.

import { describe, expect, test } from "bun:test";
import { createEffectOutbox } from "../../../src/runtime/activation/effect-outbox.ts";
import type { Effect, Reply } from "../../../src/runtime/actor.ts";
import { LIMITS } from "../../../src/runtime/limits.ts";
import type { Fault } from "../faulty-store.ts";
import { countingRandom, manualClock, NOON, settled } from "../manual-clock.ts";
import { CLOSED } from "../purse.ts";
import { rig, totalOf } from "../rig.ts";

const GIVE = { mark: "x", to: "b", amount: 3 } as const;

describe("a debt", () => {
  test("reaches the other actor and is settled", async () => {
    const { ask, clock, system } = await rig();
    await ask("a", "add", { amount: 10 });
    expect(await ask("a", "give", GIVE, { id: "x" })).toBe(7);
    await clock.advance(100);
    expect(await ask("b", "read", {})).toBe(3);
    expect(system.stats().effects).toBe(0);
  });

  test("that is refused comes back", async () => {
    const { ask, clock, store } = await rig();
    await ask("a", "add", { amount: 10 });
    await ask("a", "give", { ...GIVE, to: `${CLOSED}-1` }, { id: "x" });
    await clock.advance(100);
    expect(await ask("a", "read", {})).toBe(10);
    expect(await totalOf(store, `${CLOSED}-1`)).toBe(0);
  });

  test("is not delivered when the append that holds it is lost", async () => {
    const { ask, clock, store } = await rig();
    await ask("a", "add", { amount: 10 });
    const open = store.holdAppends();
    store.faults.push("none", "lost");
    const first = ask("a", "add", { amount: 1 });
    await settled();
    const given = ask("a", "give", GIVE, { id: "x", budgetMs: 0 }).catch((error) => error.reason);
    await settled();
    open();
    await clock.advance(5_000);
    expect(await first).toBe(11);
    expect(await given).toBe("unavailable");
    expect([await totalOf(store, "a"), await totalOf(store, "b")]).toEqual([11, 0]);
  });

  test("that became durable although its caller got no reply is delivered without a further command", async () => {
    const { ask, clock, store } = await rig();
    await ask("a", "add", { amount: 10 });
    store.faults.push("stored_unknown");
    expect(await ask("a", "give", GIVE, { id: "x", budgetMs: 0 }).catch((error) => error.reason)).toBe(
      "unavailable",
    );
    await clock.advance(5_000);
    expect([await totalOf(store, "a"), await totalOf(store, "b")]).toEqual([7, 3]);
  });

  /** Appends of a gift: the giver's debt, the receiver's line, the giver's settlement. */
  const CRASHES: readonly (readonly [string, readonly (Fault | "none")[], number])[] = [
    ["before the debt is durable", ["unknown"], 0],
    ["after the debt is durable, its caller untold", ["stored_unknown"], 3],
    ["before the receiver has it", ["none", "unknown"], 3],
    ["after the receiver has it, its answer lost", ["none", "stored_unknown"], 3],
    ["before the settlement is durable", ["none", "none", "unknown"], 3],
    ["after the settlement is durable", ["none", "none", "stored_unknown"], 3],
  ];

  test.each(CRASHES)("survives a crash %s", async (_when, faults, received) => {
    const before = await rig();
    await before.ask("a", "add", { amount: 10 });
    before.store.faults.push(...faults);
    const given = before.ask("a", "give", GIVE, { id: "x", budgetMs: 0 }).catch((error) => error.reason);
    await settled();
    await given;
    // What was in memory is gone; the new process works on what the store has.
    const after = await before.restart();
    await after.clock.advance(20_000);
    expect([await totalOf(after.store, "a"), await totalOf(after.store, "b")]).toEqual([
      10 - received,
      received,
    ]);
    // And the caller's retry changes it to done, once.
    await after.outcome("a", "give", GIVE, { id: "x", bornAt: NOON });
    expect([await totalOf(after.store, "a"), await totalOf(after.store, "b")]).toEqual([7, 3]);
    expect(after.system.stats().effects).toBe(0);
  });

  test("holds its actor in memory until it is settled", async () => {
    const { ask, clock, store, system } = await rig({ limits: { idleMs: 1_000 } });
    await ask("a", "add", { amount: 10 });
    store.faults.push("none", ...Array.from({ length: 1_000 }, () => "unknown" as const));
    await ask("a", "give", GIVE, { id: "x" });
    await clock.advance(60_000);
    expect(await totalOf(store, "b")).toBe(0);
    expect(await ask("a", "read", {})).toBe(7);
    expect(system.stats().effects).toBe(1);
    store.faults.length = 0;
    await clock.advance(130_000);
    expect([await totalOf(store, "a"), await totalOf(store, "b")]).toEqual([7, 3]);
  });
});

describe("the outbox", () => {
  const effect = (n: number): Effect => ({
    id: `e${n}`,
    to: { kind: "account", id: String(n) },
    command: { type: "receive" },
    bornAt: NOON,
  });
  const FROM = { kind: "account", id: "giver" } as const;
  const OK: Reply = { ok: true, body: null };

  function box(deliver: (id: string) => Promise<Reply>, effects = LIMITS.effects) {
    const clock = manualClock();
    const sent: { id: string; at: number }[] = [];
    const outbox = createEffectOutbox({
      clock,
      random: countingRandom(),
      limits: { ...LIMITS, effects },
      deliver(_to, _command, id) {
        sent.push({ id, at: clock.mono() });
        return deliver(id);
      },
    });
    return { clock, outbox, sent };
  }

  test("sends a debt once at a time, however often it is listed", async () => {
    const { outbox, sent } = box(() => new Promise(() => {}));
    outbox.enqueue(FROM, [effect(1)]);
    outbox.enqueue(FROM, [effect(1), effect(2)]);
    await settled();
    expect(sent.map(({ id }) => id)).toEqual(["e1", "e2"]);
    expect(outbox.size()).toBe(2);
  });

  test("forgets what an actor owes that is another's by now, and delivers it when it is this node's again", async () => {
    const { clock, outbox, sent } = box(async () => ({ ok: false, code: "unavailable" }));
    outbox.enqueue(FROM, [effect(1)]);
    outbox.enqueue({ kind: "account", id: "other" }, [effect(2)]);
    await clock.advance(200);
    outbox.forget(({ id }) => id === FROM.id);
    await settled();
    expect(outbox.size()).toBe(1);
    const before = sent.filter(({ id }) => id === "e1").length;
    await clock.advance(300_000);
    expect(sent.filter(({ id }) => id === "e1")).toHaveLength(before);
    outbox.enqueue(FROM, [effect(1)]);
    await settled();
    expect(sent.filter(({ id }) => id === "e1")).toHaveLength(before + 1);
  });

  test("delivers again what it forgot while it was being delivered", async () => {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const { outbox, sent } = box(() => promise);
    outbox.enqueue(FROM, [effect(1)]);
    await settled();
    outbox.forget(() => true);
    outbox.enqueue(FROM, [effect(1)]);
    await settled();
    expect(sent).toHaveLength(2);
    resolve(OK);
    await settled();
    expect(outbox.size()).toBe(0);
  });

  test("tries at once an actor that is said to be found elsewhere, however long it has waited", async () => {
    const { clock, outbox, sent } = box(async () => ({ ok: false, code: "not_owner", epoch: 0 }));
    outbox.enqueue(FROM, [effect(1), effect(2)]);
    await clock.advance(200_000);
    const before = sent.length;
    outbox.retryNow(({ id }) => id === "1");
    await settled();
    expect(sent.slice(before).map(({ id }) => id)).toEqual(["e1"]);
  });

  test("has no more under way than its bound; the others wait", async () => {
    const answers: (() => void)[] = [];
    const { outbox, sent } = box(() => new Promise((resolve) => answers.push(() => resolve(OK))), 3);
    outbox.enqueue(FROM, [1, 2, 3, 4, 5].map(effect));
    await settled();
    expect(sent).toHaveLength(3);
    for (let i = 0; i < answers.length; i++) {
      answers[i]!();
      await settled();
    }
    expect(sent.map(({ id }) => id).sort()).toEqual(
      [1, 2, 3, 4, 5].flatMap((n) => [`e${n}`, `e${n}:done`]).sort(),
    );
    expect(outbox.size()).toBe(0);
  });

  test("is not filled by what waits for an actor that cannot be reached", async () => {
    const { clock, outbox, sent } = box(
      async (id) => (id === "e4" ? OK : { ok: false, code: "unavailable" }),
      3,
    );
    outbox.enqueue(FROM, [1, 2, 3].map(effect));
    await settled();
    outbox.enqueue(FROM, [effect(4)]);
    await settled();
    expect(sent.map(({ id }) => id).slice(0, 4)).toEqual(["e1", "e2", "e3", "e4"]);
    expect(clock.mono()).toBe(sent[3]!.at);
  });

  test("has no more under way than its bound when many waits end at once", async () => {
    let isBack = false;
    let underWay = 0;
    let most = 0;
    const answers: (() => void)[] = [];
    const { clock, outbox } = box(async () => {
      most = Math.max(most, ++underWay);
      if (isBack) await new Promise<void>((resolve) => answers.push(resolve));
      underWay--;
      return isBack ? OK : { ok: false, code: "unavailable" };
    }, 3);
    outbox.enqueue(
      FROM,
      Array.from({ length: 20 }, (_, n) => effect(n)),
    );
    await clock.advance(60_000);
    isBack = true;
    outbox.retryNow(() => true);
    await settled();
    expect(answers).toHaveLength(3);
    for (let i = 0; i < answers.length; i++) {
      answers[i]!();
      await settled();
    }
    expect([most, outbox.size()]).toEqual([3, 0]);
  });

  test.each(["unavailable", "overloaded", "not_owner"] as const)("tries again after `%s`", async (code) => {
    let tries = 0;
    const failed = { ok: false, code, epoch: 0, retryAfterMs: 1 } as Reply;
    const { outbox, clock } = box(async () => (++tries <= 3 ? failed : OK));
    outbox.enqueue(FROM, [effect(1)]);
    await clock.advance(1_000);
    expect(tries).toBe(5);
    expect(outbox.size()).toBe(0);
  });

  test("pauses longer with each try, at most a minute", async () => {
    const { outbox, clock, sent } = box(async () => ({ ok: false, code: "unavailable" }));
    outbox.enqueue(FROM, [effect(1)]);
    await clock.advance(600_000);
    const pauses = sent.slice(1).map(({ at }, i) => at - sent[i]!.at);
    expect(pauses.slice(0, 4)).toEqual([20, 40, 80, 160]);
    expect(Math.max(...pauses)).toBe(60_000);
    expect(pauses.every((pause, i) => i === 0 || pause >= pauses[i - 1]!)).toBe(true);
  });

  test("reports to the owing actor how it ended, with the refusal when there was one", async () => {
    const delivered: unknown[] = [];
    const clock = manualClock();
    const refusal = { code: "account_disabled", message: "closed" } as const;
    const outbox = createEffectOutbox({
      clock,
      random: countingRandom(),
      limits: LIMITS,
      async deliver(to, command) {
        if (to.id === FROM.id) delivered.push(command);
        return to.id === "1" ? { ok: false, code: "refused", refusal } : OK;
      },
    });
    outbox.enqueue(FROM, [effect(1), effect(2)]);
    await clock.advance(10);
    expect(delivered).toEqual([
      { type: "effectDone", effect: "e1", refused: refusal },
      { type: "effectDone", effect: "e2", refused: null },
    ]);
  });

  test("sends nothing more once it is stopped", async () => {
    const { outbox, clock, sent } = box(async () => ({ ok: false, code: "unavailable" }));
    outbox.enqueue(FROM, [effect(1)]);
    await clock.advance(10);
    outbox.stop();
    await clock.advance(600_000);
    outbox.enqueue(FROM, [effect(2)]);
    await clock.advance(10);
    expect(sent).toHaveLength(1);
    expect(outbox.size()).toBe(0);
  });
});
