// The hold: the worst case where it remains, less only for a request that is alone, and together with all the others
// never more than there is. It ends with its request.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import { type Nano, ZERO } from "../../../actors/money.ts";
import { NO_LIMITS, type RateLimits } from "../../../actors/rate-window.ts";
import { DAY, living, NOON, usd } from "../account-samples.ts";

const limits = (over: Partial<RateLimits>): RateLimits => ({ ...NO_LIMITS, ...over });

describe("the hold", () => {
  test("is the worst case where that remains, and is taken once however often the request asks", () => {
    const one = living({ credit: usd(3) });
    for (let i = 0; i < 3; i++) expect(one.admitted()).toEqual({ cost: usd(1), tokens: 100 });
    expect(one.state.volatile.heldCost).toBe(usd(1));
    expect(one.events.length).toBe(2);
  });

  /** What limits, and how an account comes to have 0.5 USD (or 50 tokens) left under it. */
  const NARROW = {
    balance: { credit: usd(0.5) },
    HardLimit: { profile: { hardLimit: usd(0.5) } },
    DailyLimit: { profile: { dailyLimit: usd(0.5) } },
    XCredit: { credit: ZERO, profile: { xCredit: usd(0.5) } },
  } as const;

  test.each(Object.entries(NARROW))(
    "%s: a smaller one is given to a request that is alone",
    (_name, born) => {
      expect(living(born).admitted()).toEqual({ cost: usd(0.5), tokens: 100 });
    },
  );

  test.each(Object.entries(NARROW))("%s: but only when it covers the estimated prompt", (_name, born) => {
    expect(living(born).admitted({ promptCost: usd(0.5) })).toMatchObject({ cost: usd(0.5) });
    expect(typeof living(born).admitted({ promptCost: usd(0.500000001) })).toBe("string");
  });

  test.each(Object.entries(NARROW))("%s: and never beside another hold", (_name, born) => {
    const one = living(born);
    expect(one.admitted({ id: "a", cost: usd(0.2) })).toMatchObject({ cost: usd(0.2) });
    expect(typeof one.admitted({ id: "b", cost: usd(0.4) })).toBe("string");
    expect(one.admitted({ id: "c", cost: usd(0.3) })).toMatchObject({ cost: usd(0.3) });
    expect(typeof one.admitted({ id: "d", cost: 1 as Nano, promptCost: ZERO })).toBe("string");
  });

  test("of tokens is smaller only for a request that is alone and whose prompt fits", () => {
    const profile = { limits: limits({ tpm: 50 }) };
    expect(living({ profile }).admitted({ promptTokens: 50 })).toMatchObject({ tokens: 50 });
    expect(living({ profile }).admitted({ promptTokens: 51 })).toBe("tpm_exceeded");
    const one = living({ profile });
    one.admit({ id: "a", promptTokens: 10, outputTokens: 10 });
    expect(one.admitted({ id: "b", promptTokens: 10, outputTokens: 21 })).toBe("tpm_exceeded");
    expect(one.admitted({ id: "c", promptTokens: 10, outputTokens: 20 })).toMatchObject({ tokens: 30 });
  });

  test("ends by itself when nobody renews it, and frees all that it held", () => {
    const one = living({ credit: usd(1), profile: { limits: limits({ tpm: 100 }) } });
    one.admit({ id: "lost" });
    expect(one.admitted()).toBe("tpm_exceeded");
    one.now += HOLD_TTL_MS - 1;
    expect(one.admitted()).toBe("insufficient_balance");
    one.now += 1;
    expect(one.admitted()).toEqual({ cost: usd(1), tokens: 100 });
    expect(one.state.volatile.holdsExpired).toBe(1);
  });

  test("that nobody renews is over for every other command too, not only for the next request", () => {
    const one = living({ credit: [{ amount: usd(10), expiresAt: NOON + 1_000 }] });
    one.admit({ cost: usd(4) });
    one.now += HOLD_TTL_MS + DAY;
    expect(one.ask({ type: "read" }).reply).toMatchObject({ held: ZERO, balance: ZERO });
    one.ask({ type: "expireCredit" });
    expect(one.events.at(-1)?.e).toMatchObject({ type: "expire", amount: usd(-10), balanceAfter: ZERO });
  });

  test("lives on when it is renewed, and grows at once, so that nobody is admitted against it", () => {
    const one = living({ credit: usd(2), profile: { limits: limits({ tpm: 1_000 }) } });
    one.admit({ id: "long" });
    one.now += 100_000;
    const grown = one.ask({ type: "renew", id: "long", cost: usd(1.8), tokens: 950 });
    expect(grown).toEqual({ reply: { held: true }, ungated: true });
    one.now += 100_000;
    expect(one.state.volatile.heldCost).toBe(usd(1.8));
    expect(one.admitted({ id: "b", cost: usd(0.3) })).toBe("insufficient_balance");
    expect(one.ask({ type: "renew", id: "long", cost: usd(0.1), tokens: 1 }).reply).toEqual({ held: true });
    expect(one.state.volatile.heldCost).toBe(usd(1.8));
    expect(one.ask({ type: "renew", id: "unknown", cost: usd(1), tokens: 1 }).reply).toEqual({ held: false });
  });

  test("of many requests together never passes balance, HardLimit, DailyLimit or TPM", () => {
    const request = fc.record({
      cost: fc.integer({ min: 1, max: 400 }),
      prompt: fc.integer({ min: 0, max: 50 }),
      output: fc.integer({ min: 0, max: 300 }),
      act: fc.constantFrom("admit", "admit", "admit", "charge", "cancel", "wait"),
    });
    const bounds = fc.record({
      balance: fc.integer({ min: 1, max: 1_000 }),
      hard: fc.integer({ min: 0, max: 1_000 }),
      daily: fc.integer({ min: 0, max: 1_000 }),
      tpm: fc.integer({ min: 0, max: 1_000 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 40 }), bounds, (requests, { balance, hard, daily, tpm }) => {
        const one = living({
          credit: balance as Nano,
          profile: { hardLimit: hard as Nano, dailyLimit: daily as Nano, limits: limits({ tpm }) },
        });
        const open: { id: string; at: number; cost: Nano; tokens: number }[] = [];
        let spent = 0;
        for (const [i, { cost, prompt, output, act }] of requests.entries()) {
          const id = `r${i}`;
          if (act === "wait") one.now += 500;
          else if (act === "admit") {
            const promptCost = Math.min(cost, prompt) as Nano;
            const answer = one.admitted({
              id,
              cost: cost as Nano,
              promptCost,
              promptTokens: prompt,
              outputTokens: output,
            });
            if (typeof answer === "object") open.push({ id, at: one.now, ...answer });
          } else {
            const ended = open.shift();
            if (ended === undefined) continue;
            // A provider uses at most what was held, so that the limits must hold exactly.
            if (act === "cancel") one.ask({ type: "cancel", id: ended.id, aborted: false });
            else {
              const used = { completion: ended.tokens, prompt: 0, cost: ended.cost, admittedAt: ended.at };
              one.charge({ id: ended.id, ...used });
              spent += ended.cost;
            }
          }
          const held = open.reduce((sum, hold) => sum + hold.cost, 0);
          expect(one.state.volatile.heldCost).toBe(held as Nano);
          expect(held + spent).toBeLessThanOrEqual(balance);
          if (hard > 0) expect(held + spent).toBeLessThanOrEqual(hard);
          if (daily > 0) expect(held + spent).toBeLessThanOrEqual(daily);
          const tokens = open.reduce((sum, hold) => sum + hold.tokens, 0);
          if (tpm > 0) expect(tokens).toBeLessThanOrEqual(tpm);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("returns what the tightest windows leave, for the response's headers", () => {
    const one = living({ profile: { limits: limits({ rpm: 10, rph: 5, tpm: 1_000, tpd: 150 }) } });
    const { reply } = one.admit({ modelLimits: limits({ rpd: 3 }) });
    expect(reply).toMatchObject({
      requests: { limit: 3, remaining: 2 },
      tokensLeft: { limit: 150, remaining: 50 },
    });
  });
});
