// Rules of sums by day and provider key: which lines count, where, and each once. The lines are those of commits that a
// snapshot covers; a store may take two seconds to count them.

import { describe, expect, test } from "bun:test";
import type { Commit, Store } from "../../src/store/store.ts";
import { commit, save } from "./store-samples.ts";

/** Looks, 20 ms apart, until lines are counted. */
const LOOKS_MAX = 500;
const NOON = Date.UTC(2026, 2, 14, 12);
const DAY_MS = 86_400_000;
const [BEFORE, TODAY, AFTER] = ["2026-03-13", "2026-03-14", "2026-03-15"] as const;

const charge = (amount: number, ...keys: readonly number[]) => ({
  ...{ type: "charge", id: `c${amount}`, amount },
  attempts: keys.map((key) => ({ key, level: 1, model: "m", status: 200, signal: "ok", ms: 1 })),
});

/** A commit of one line, whose number is its seq. */
const lined = (actor: string, seq: number, e: object, at = NOON): Commit =>
  commit(actor, seq, { at, linesTo: seq, lines: 1, events: [{ at, line: true, e }] });

export function keyCostRules(store: () => Store): void {
  const costs = async (day: string, ...keys: number[]) =>
    Object.fromEntries([...(await store().keyCosts(day, keys))].sort(([a], [b]) => a - b));

  async function keep(commits: readonly Commit[]): Promise<void> {
    await store().append(commits);
    const last = new Map(commits.map((one) => [one.actor, one]));
    await store().save([...last].map(([actor, { seq, linesTo }]) => save(actor, seq, [], { linesTo })));
    let looks = 0;
    for (const [actor, { linesTo }] of last) {
      while ((await store().lines({ actor }, null, 1_000)).lines.length < linesTo && looks++ < LOOKS_MAX) {
        await Bun.sleep(20);
      }
    }
  }

  describe("sums by provider key", () => {
    test("are of the key that answered, over all accounts", async () => {
      await keep([
        lined("account/1", 1, charge(-5, 7)),
        lined("account/1", 2, charge(-20, 7, 8)),
        lined("account/1", 3, { ...charge(-3, 7), type: "late_charge" }),
        lined("account/1", 4, { type: "query_fee", id: "fee", amount: -50 }),
        lined("account/1", 5, charge(-60)),
        lined("account/2", 1, charge(-100, 8)),
      ]);
      expect(await costs(TODAY, 7, 8, 9)).toEqual({ 7: 8n, 8: 120n });
      expect(await costs(TODAY, 9)).toEqual({});
      expect(await costs(TODAY)).toEqual({});
      expect(await costs(AFTER, 7, 8)).toEqual({});
    });

    test("are of the day of the charge, for the newest day and the one before", async () => {
      await keep([
        lined("account/1", 1, charge(-1, 7), NOON - DAY_MS),
        lined("account/1", 2, charge(-2, 7), Date.parse(TODAY)),
        lined("account/1", 3, charge(-4, 7), Date.parse(AFTER) - 1),
      ]);
      expect([await costs(BEFORE, 7), await costs(TODAY, 7)]).toEqual([{ 7: 1n }, { 7: 6n }]);
      await keep([lined("account/1", 4, charge(-8, 7), Date.parse(AFTER))]);
      expect([await costs(TODAY, 7), await costs(AFTER, 7)]).toEqual([{ 7: 6n }, { 7: 8n }]);
    });

    test("count a line once, however often its commit is sent and its snapshot saved", async () => {
      const first = [1, 2, 3].map((seq) => lined("account/1", seq, charge(-seq, 7)));
      await keep(first);
      await keep(first);
      await store().save([save("account/1", 2, [], { linesTo: 2 })]);
      await keep([...first, lined("account/1", 4, charge(-10, 7)), lined("account/1", 5, charge(-100, 8))]);
      await keep([lined("account/1", 6, charge(-1_000, 8))]);
      expect(await costs(TODAY, 7, 8)).toEqual({ 7: 16n, 8: 1_100n });
    });

    test("count a line once where one call saves an actor several times", async () => {
      await store().append([1, 2, 3].map((seq) => lined("account/1", seq, charge(-seq, 7))));
      const saved = (seq: number) => save("account/1", seq, [], { linesTo: seq });
      await store().save([saved(2), saved(3), saved(3)]);
      await keep([lined("account/1", 4, charge(-10, 7))]);
      expect(await costs(TODAY, 7)).toEqual({ 7: 16n });
    });

    test("of many lines are exact", async () => {
      const many = Array.from({ length: 700 }, (_, i) => lined("account/1", i + 1, charge(-(i + 1), i % 3)));
      await keep(many);
      const sums = [0, 1, 2].map((key) =>
        many.reduce((sum, _, i) => (i % 3 === key ? sum + BigInt(i + 1) : sum), 0n),
      );
      expect(await costs(TODAY, 0, 1, 2)).toEqual({ 0: sums[0]!, 1: sums[1]!, 2: sums[2]! });
    });
  });
}
