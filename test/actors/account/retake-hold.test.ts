// A hold taken anew for another model: as if the old one were not there, but still the same request. Refused, the old
// one stays; and however often holds move, together they never pass a limit.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { account } from "../../../actors/account/account.ts";
import type { Admitted } from "../../../actors/account/admit.ts";
import { heldWindows } from "../../../actors/account/held-windows.ts";
import { closeHold, HOLD_TTL_MS, HOLDS_MAX } from "../../../actors/account/holds.ts";
import type { Nano } from "../../../actors/money.ts";
import { counted, NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import { type Born, copyOf, type Living, living, NOON, usd } from "../account-samples.ts";

const limits = (over: Partial<RateLimits>): RateLimits => ({ ...NO_LIMITS, ...over });
const OTHER = { model: "n", cost: usd(2), promptCost: usd(0.2), promptTokens: 20, outputTokens: 180 };

/** Requests and tokens that count in a model's minute, held and settled ones. */
function inMinute(one: Living, model: string): { requests: number; tokens: number } {
  const sum = { requests: 0, tokens: 0 };
  for (const windows of [one.state.modelWindows, heldWindows(one.state, one.now).models]) {
    const found = windows.get(model);
    if (found === undefined) continue;
    const { requests, tokens } = counted(found, "minute", one.now);
    sum.requests += requests;
    sum.tokens += tokens;
  }
  return sum;
}

const accountMinute = (one: Living) => {
  const held = counted(heldWindows(one.state, one.now).account, "minute", one.now);
  const settled = counted(one.state.windows, "minute", one.now);
  return { requests: held.requests + settled.requests, tokens: held.tokens + settled.tokens };
};

describe("a hold taken anew for another model", () => {
  test("holds what the other model may cost, and nothing for the one before", () => {
    const one = living();
    one.admit();
    expect(one.admitted(OTHER)).toEqual({ cost: usd(2), tokens: 200 });
    expect(one.state.volatile.heldCost).toBe(usd(2));
    expect([...one.state.volatile.holds.values()]).toMatchObject([{ id: "r1", model: "n" }]);
  });

  test("is the same request: counted once, admitted when it first was", () => {
    const one = living();
    one.admit();
    one.now += 5_000;
    expect((one.admit(OTHER).reply as Admitted).admittedAt).toBe(NOON);
    expect(accountMinute(one)).toEqual({ requests: 1, tokens: 200 });
  });

  test("gives the request back to the model before, and counts it at the other", () => {
    const one = living();
    one.admit({ id: "beside" });
    one.admit();
    one.admit(OTHER);
    expect(inMinute(one, "m")).toEqual({ requests: 1, tokens: 100 });
    expect(inMinute(one, "n")).toEqual({ requests: 1, tokens: 200 });
  });

  test("needs no room beside the old one", () => {
    const one = living({ credit: usd(1), profile: { limits: limits({ tpm: 100 }) } });
    one.admit();
    expect(one.admitted({ model: "n" })).toEqual({ cost: usd(1), tokens: 100 });
  });

  test("is smaller only for a request that is alone without it", () => {
    const alone = living({ credit: usd(1) });
    alone.admit();
    expect(alone.admitted(OTHER)).toMatchObject({ cost: usd(1) });
    const beside = living({ credit: usd(2) });
    beside.admit({ id: "beside", cost: usd(0.5) });
    beside.admit();
    expect(beside.admitted(OTHER)).toBe("insufficient_balance");
  });

  test("for the same model it is the hold that is there", () => {
    const one = living();
    one.admit();
    expect(one.admitted({ cost: usd(9), outputTokens: 900 })).toEqual({ cost: usd(1), tokens: 100 });
  });

  test("goes to and fro", () => {
    const one = living();
    one.admit();
    one.admit(OTHER);
    expect(one.admitted()).toEqual({ cost: usd(1), tokens: 100 });
    expect(inMinute(one, "n")).toEqual({ requests: 0, tokens: 0 });
    expect(accountMinute(one)).toEqual({ requests: 1, tokens: 100 });
  });

  test("asks no request limit of the account again, which counts it already", () => {
    const one = living({ profile: { limits: limits({ rpm: 1, rph: 1, rpd: 1 }) } });
    one.admit();
    expect(one.admitted(OTHER)).toMatchObject({ cost: usd(2) });
  });

  test("is not refused for requests in flight or aborts, which refuse only new requests", () => {
    const full = living({ credit: usd(10_000) });
    for (let i = 0; i < HOLDS_MAX; i++) full.admit({ id: `r${i}`, cost: usd(0.1) });
    expect(full.admitted({ id: "r5", model: "n" })).toMatchObject({ cost: usd(1) });
    const aborting = living();
    aborting.admit();
    for (let i = 0; i < 21; i++) {
      aborting.admit({ id: `gone-${i}` });
      aborting.ask({ type: "cancel", id: `gone-${i}`, aborted: true });
    }
    expect(aborting.admitted({ id: "new" })).toBe("too_many_aborts");
    expect(aborting.admitted(OTHER)).toMatchObject({ cost: usd(2) });
  });

  test("lives a whole time from then on", () => {
    const one = living();
    one.admit();
    one.now += HOLD_TTL_MS - 1;
    one.admit(OTHER);
    one.now += HOLD_TTL_MS - 1;
    expect(one.ask({ type: "read" }).reply).toMatchObject({ held: usd(2) });
    one.now += 1;
    expect(one.ask({ type: "read" }).reply).toMatchObject({ held: 0 });
  });

  test("after its hold was lost it is a new one", () => {
    const one = living();
    one.now += 1;
    expect((one.admit(OTHER).reply as Admitted).admittedAt).toBe(NOON + 1);
  });
});

describe("refused for the other model, the old hold stays as it was", () => {
  const ROWS: readonly (readonly [string, Born, object])[] = [
    ["insufficient_balance", { credit: usd(1.5) }, { promptCost: usd(1.6) }],
    ["hard_limit_reached", { profile: { hardLimit: usd(1.5) } }, { promptCost: usd(1.6) }],
    ["daily_limit_reached", { profile: { dailyLimit: usd(1.5) } }, { promptCost: usd(1.6) }],
    ["tpm_exceeded", { profile: { limits: limits({ tpm: 150 }) } }, { promptTokens: 160 }],
    ["rpm_exceeded", {}, { modelLimits: limits({ rpm: 1 }) }],
    ["tpm_exceeded", {}, { modelLimits: limits({ tpm: 150 }) }],
    ["insufficient_balance", {}, { threshold: usd(200) }],
    ["model_not_allowed", {}, { routing: { code: "model_not_allowed", message: "" } }],
    ["ip_not_allowed", { profile: { allowIps: ["192.0.2.0/24"] } }, { ip: "198.51.100.9" }],
    ["stale", {}, { version: 0 }],
  ];

  test.each(ROWS)("%s: %p %p", (code, born, over) => {
    const one = living(born);
    one.fold({ type: "released", id: "r0", model: "n", admittedAt: NOON });
    one.admit();
    one.now += 1_000;
    if (code === "tpm_exceeded") one.admit({ id: "beside", model: "n", cost: usd(0.1), outputTokens: 30 });
    const before = copyOf(one.state.volatile);
    expect(one.admitted({ ...OTHER, ...over })).toBe(code);
    expect(one.state.volatile.holds.get("r1")).toEqual(before.holds.get("r1")!);
    expect(one.state.volatile.heldCost).toBe(before.heldCost);
    expect(inMinute(one, "m")).toEqual({ requests: 1, tokens: 100 });
    one.charge();
    expect(one.state.volatile.holds.has("r1")).toBe(false);
  });
});

describe("what comes later acts on the model that it was taken for last", () => {
  const moved = (): Living => {
    const one = living();
    one.admit();
    one.now += 90_000;
    one.admit(OTHER);
    one.now += 1_000;
    return one;
  };

  test("a charge counts at the model when it came to it, at the account when it was admitted", () => {
    const one = moved();
    one.charge({ model: "n", admittedAt: NOON });
    expect(one.events.at(-1)?.e).toMatchObject({ model: "n", admittedAt: NOON, takenAt: NOON + 90_000 });
    expect(inMinute(one, "n")).toEqual({ requests: 1, tokens: 30 });
    expect(accountMinute(one)).toEqual({ requests: 0, tokens: 0 });
    expect(counted(one.state.windows, "hour", one.now).requests).toBe(1);
    expect(one.admitted({ id: "r2", model: "n", modelLimits: limits({ rpm: 1 }) })).toBe("rpm_exceeded");
  });

  test("a cancellation too", () => {
    const one = moved();
    one.ask({ type: "cancel", id: "r1", aborted: false });
    expect(one.events.at(-1)?.e).toEqual({
      type: "released",
      id: "r1",
      model: "n",
      admittedAt: NOON,
      takenAt: NOON + 90_000,
    });
    expect(inMinute(one, "n").requests).toBe(1);
    expect(inMinute(one, "m").requests).toBe(0);
  });

  test("a charge of a request that never moved says nothing of it", () => {
    const one = living();
    one.admit();
    one.charge();
    expect(one.events.at(-1)?.e).not.toHaveProperty("takenAt");
  });

  test("its expiry frees the model it moved to", () => {
    const one = moved();
    one.now += HOLD_TTL_MS;
    one.ask({ type: "read" });
    expect(inMinute(one, "n").requests).toBe(0);
    expect(one.state.volatile.heldCost).toBe(0 as Nano);
  });

  test("a renewal grows what it holds now", () => {
    const one = moved();
    one.ask({ type: "renew", id: "r1", cost: usd(3), tokens: 300 });
    expect(one.state.volatile.heldCost).toBe(usd(3));
    expect(inMinute(one, "n")).toEqual({ requests: 1, tokens: 300 });
  });

  test("and a replay of the ledger counts what the living one counted", () => {
    const one = moved();
    one.charge({ model: "n", admittedAt: NOON });
    const again = account.empty("7");
    for (const { e, at } of one.events) account.evolve(again, e, at);
    expect(account.freeze(again)).toEqual(account.freeze(one.state));
  });
});

describe("however holds move between models", () => {
  const step = fc.record({
    act: fc.constantFrom("admit", "admit", "retake", "retake", "charge", "cancel", "wait"),
    model: fc.constantFrom("m", "n"),
    cost: fc.integer({ min: 1, max: 400 }),
    prompt: fc.integer({ min: 0, max: 50 }),
    output: fc.integer({ min: 0, max: 300 }),
    which: fc.nat(),
  });
  const bounds = fc.record({
    balance: fc.integer({ min: 1, max: 1_500 }),
    hard: fc.integer({ min: 0, max: 1_500 }),
    daily: fc.integer({ min: 0, max: 1_500 }),
    rpm: fc.integer({ min: 0, max: 8 }),
    tpm: fc.integer({ min: 0, max: 1_500 }),
    modelRpm: fc.integer({ min: 0, max: 4 }),
    modelTpm: fc.integer({ min: 0, max: 800 }),
  });

  test("they never pass a limit, and are given exactly what would be given without the old hold", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), bounds, (steps, bound) => {
        const one = living({
          credit: bound.balance as Nano,
          profile: {
            hardLimit: bound.hard as Nano,
            dailyLimit: bound.daily as Nano,
            limits: limits({ rpm: bound.rpm, tpm: bound.tpm }),
          },
        });
        const modelLimits = limits({ rpm: bound.modelRpm, tpm: bound.modelTpm });
        const open: { id: string; model: string; at: number; cost: Nano; tokens: number }[] = [];
        let spent = 0;
        for (const [i, { act, model, cost, prompt, output, which }] of steps.entries()) {
          const need = {
            model,
            modelLimits,
            cost: cost as Nano,
            promptCost: Math.min(cost, prompt) as Nano,
            promptTokens: prompt,
            outputTokens: output,
          };
          const chosen = open.length === 0 ? undefined : open[which % open.length]!;
          if (act === "wait") one.now += 20_000;
          else if (act === "admit") {
            const given = one.admitted({ id: `r${i}`, ...need });
            if (typeof given === "object") open.push({ id: `r${i}`, model, at: one.now, ...given });
          } else if (chosen === undefined) continue;
          else if (act === "retake") {
            const expected = chosen.model === model ? chosen : withoutOld(one, chosen.id, need);
            const given = one.admitted({ id: chosen.id, ...need });
            if (typeof given === "object") {
              expect(expected).toMatchObject(given);
              Object.assign(chosen, given, { model });
            } else expect(given).toBe(expected as string);
          } else {
            open.splice(open.indexOf(chosen), 1);
            if (act === "cancel") one.ask({ type: "cancel", id: chosen.id, aborted: false });
            else {
              const { tokens, ...facts } = chosen;
              one.charge({ ...facts, prompt: 0, completion: tokens, admittedAt: chosen.at });
              spent += chosen.cost;
            }
          }
          const held = open.reduce((sum, hold) => sum + hold.cost, 0);
          expect(one.state.volatile.heldCost).toBe(held as Nano);
          for (const most of [bound.balance, bound.hard, bound.daily]) {
            if (most > 0) expect(held + spent).toBeLessThanOrEqual(most);
          }
          const scopes = [
            [accountMinute(one), bound.rpm, bound.tpm],
            [inMinute(one, "m"), bound.modelRpm, bound.modelTpm],
            [inMinute(one, "n"), bound.modelRpm, bound.modelTpm],
          ] as const;
          for (const [used, requests, tokens] of scopes) {
            if (requests > 0) expect(used.requests).toBeLessThanOrEqual(requests);
            if (tokens > 0) expect(used.tokens).toBeLessThanOrEqual(tokens);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  /** What a new request would be given if the old hold had never been, and the account counted no requests. */
  function withoutOld(one: Living, id: string, need: object): string | { cost: Nano; tokens: number } {
    const twin: Living = living();
    twin.state = copyOf(one.state);
    twin.now = one.now;
    closeHold(twin.state, id, one.now);
    const profile = twin.state.profile!;
    twin.state.profile = { ...profile, limits: { ...profile.limits, rpm: 0 } };
    return twin.admitted({ id: "another", ...need });
  }
});
