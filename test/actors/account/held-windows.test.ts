// What open holds count in the windows is the same whenever a limit asks for it first.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { heldWindows } from "../../../actors/account/held-windows.ts";
import { counted, SPANS, type WindowSpan } from "../../../actors/rate-window.ts";
import { type Living, living, usd } from "../account-samples.ts";

const step = fc.record({
  act: fc.constantFrom("admit", "charge", "cancel", "renew", "look"),
  id: fc.nat(5),
  model: fc.constantFrom("m", "n"),
  tokens: fc.integer({ min: 1, max: 500 }),
  afterMs: fc.nat(40_000),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the windows of the account and of each model count now, in every span. */
function countsOf(one: Living): object {
  const { account, models } = heldWindows(one.state, one.now);
  const all = [["", account], ...[...models].sort(([a], [b]) => (a < b ? -1 : 1))] as const;
  return all.flatMap(([name, windows]) =>
    (Object.keys(SPANS) as WindowSpan[]).map((span) => [name, span, counted(windows, span, one.now)]),
  );
}

function take(one: Living, { act, id, model, tokens, afterMs }: Step): void {
  one.now += afterMs;
  const over = { id: `r${id}`, model };
  if (act === "admit") one.admit({ ...over, outputTokens: tokens, cost: usd(0.01) });
  else if (act === "charge") one.charge({ ...over, cost: usd(0.001) });
  else if (act === "cancel") one.ask({ type: "cancel", id: over.id, aborted: false });
  else if (act === "renew") one.ask({ type: "renew", id: over.id, cost: usd(0.02), tokens: 2 * tokens });
  else heldWindows(one.state, one.now);
}

/** Models that no open hold has count nothing, whether or not they have windows. */
const thatCount = (counts: object): unknown[] =>
  (counts as [string, WindowSpan, { requests: number; tokens: number }][]).filter(
    ([, , { requests, tokens }]) => requests !== 0 || tokens !== 0,
  );

describe("what open holds count", () => {
  test("is the same whether it was asked for often, or never before", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [often, once] = [living(), living()];
        for (const one of steps) {
          take(often, { ...one });
          heldWindows(often.state, often.now);
          take(once, { ...one, act: one.act === "look" ? "renew" : one.act });
          if (one.act === "look") take(often, { ...one, act: "renew", afterMs: 0 });
        }
        expect(thatCount(countsOf(once))).toEqual(thatCount(countsOf(often)));
      }),
      { numRuns: 300 },
    );
  });

  test("is made when a limit asks, and forgotten when no hold is open", () => {
    const one = living();
    one.admit({ id: "a" });
    expect(one.state.volatile.heldWindows).toBeNull();
    expect(counted(heldWindows(one.state, one.now).account, "minute", one.now)).toEqual({
      requests: 1,
      tokens: 100,
    });
    one.admit({ id: "b" });
    expect(counted(heldWindows(one.state, one.now).account, "minute", one.now).requests).toBe(2);
    one.charge({ id: "a" });
    one.charge({ id: "b" });
    expect(one.state.volatile.heldWindows).toBeNull();
  });
});
