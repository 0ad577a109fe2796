// Rules of kept answers: found until their time is over, replaced by id, bounded for each account and kind.

import { describe, expect, test } from "bun:test";
import type { KeptAnswer, Store } from "../../src/store/store.ts";
import { ODD_TEXTS } from "./store-samples.ts";

const answer = (key: string, over: Partial<KeptAnswer> = {}): KeptAnswer => {
  const { account = 7, kind = "gateway" } = over;
  const id = `${account}:${kind}:${key}`;
  return { id, account, kind, at: 1_000, until: 2_000, body: `answer to ${key}`, ...over };
};

export function answerRules(store: () => Store): void {
  const found = async (ids: readonly string[], now = 1_500) => {
    const answers = await Promise.all(ids.map((id) => store().answer(id, now)));
    return answers.flatMap((one) => (one === null ? [] : [one.id]));
  };

  describe("kept answers", () => {
    test("an answer is there as it was kept, and an unknown one is not", async () => {
      await store().keepAnswer(answer("a"), 10);
      expect(await store().answer("7:gateway:a", 1_500)).toEqual(answer("a"));
      expect(await store().answer("7:gateway:b", 1_500)).toBeNull();
      expect(await store().answer("7:admin:a", 1_500)).toBeNull();
    });

    test("it is good before its `until`, and not at it", async () => {
      await store().keepAnswer(answer("a"), 10);
      expect(await store().answer("7:gateway:a", 1_999)).toEqual(answer("a"));
      expect(await store().answer("7:gateway:a", 2_000)).toBeNull();
    });

    test("the same id again replaces it whole", async () => {
      await store().keepAnswer(answer("a"), 10);
      const again = answer("a", { at: 1_100, until: 9_000, body: "another" });
      await store().keepAnswer(again, 10);
      expect(await store().answer("7:gateway:a", 5_000)).toEqual(again);
    });

    test("over the bound those kept longest ago go, whatever their times say", async () => {
      for (const [i, key] of ["a", "b", "c", "d"].entries()) {
        await store().keepAnswer(answer(key, { at: 1_000 - i, until: 5_000 - i }), 3);
      }
      const ids = ["a", "b", "c", "d"].map((key) => answer(key).id);
      expect(await found(ids)).toEqual(ids.slice(1));
      await store().keepAnswer(answer("e"), 1);
      expect(await found([...ids, answer("e").id])).toEqual([answer("e").id]);
    });

    test("one kept again is the newest", async () => {
      for (const key of ["a", "b", "c", "a", "d"]) await store().keepAnswer(answer(key), 3);
      const ids = ["a", "b", "c", "d"].map((key) => answer(key).id);
      expect(await found(ids)).toEqual([answer("a").id, answer("c").id, answer("d").id]);
    });

    test("the bound is each account's and each kind's own", async () => {
      const others = [answer("a", { account: 8 }), answer("a", { kind: "admin" })];
      for (const other of others) await store().keepAnswer(other, 1);
      for (const key of ["a", "b"]) await store().keepAnswer(answer(key), 1);
      const ids = [...others.map(({ id }) => id), answer("a").id, answer("b").id];
      expect(await found(ids)).toEqual([...others.map(({ id }) => id), answer("b").id]);
    });

    test("dropping takes what is expired, the longest expired first, so many and no more", async () => {
      for (const [key, until] of [
        ["late", 3_000],
        ["early", 1_000],
        ["due", 2_000],
        ["good", 2_001],
      ] as const) {
        await store().keepAnswer(answer(key, { until }), 10);
      }
      const ids = ["late", "early", "due", "good"].map((key) => answer(key).id);
      expect(await store().dropAnswers(2_000, 1)).toBe(1);
      expect(await found(ids, 0)).toEqual([answer("late").id, answer("due").id, answer("good").id]);
      expect(await store().dropAnswers(2_000, 10)).toBe(1);
      expect(await store().dropAnswers(2_000, 10)).toBe(0);
      expect(await found(ids, 0)).toEqual([answer("late").id, answer("good").id]);
    });

    test("odd text survives", async () => {
      for (const [i, body] of ODD_TEXTS.entries()) {
        await store().keepAnswer(answer(`odd-${i}`, { body }), 100);
        expect((await store().answer(answer(`odd-${i}`).id, 1_500))?.body).toBe(body);
      }
    });
  });
}
