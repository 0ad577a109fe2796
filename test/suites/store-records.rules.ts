// Rules of records that no actor owns, the operation log and the news, and of walks: lists without pages.

import { describe, expect, test } from "bun:test";
import type { ScanQuery, Store, Where } from "../../src/store/store.ts";
import type { DocumentBody } from "../../src/store/tables.ts";
import { ODD_TEXTS, record } from "./store-samples.ts";

/** A line about account 7 under Owner 2, unless it says otherwise. */
const line = (id: number, over: DocumentBody = {}) =>
  record("logs", {
    id,
    at: 1_000 + id,
    ...{ action: "update_user", operator: 2, target: 7, targetType: "user", targetDna: ".1.2.7." },
    ...{ status: "success" },
    ...over,
  });

const item = (id: number, over: DocumentBody = {}) =>
  record("news", { id, kind: "system", publisher: 2, publisherDna: ".1.", at: 5, until: 10, ...over });

export function recordRules(store: () => Store): void {
  const ids = async (where: readonly Where<"logs">[]) => {
    const found = await store().find({ table: "logs", where, order: "id" });
    return found.map(({ id }) => id);
  };

  describe("records", () => {
    test("a record is there as it was put, in its table alone", async () => {
      await store().putRecords([line(1, { details: { before: 1 } }), item(1)]);
      expect(await store().find({ table: "logs", where: [], order: "id" })).toEqual([
        line(1, { details: { before: 1 } }).body,
      ]);
      expect(await store().find({ table: "news", where: [], order: "id" })).toEqual([item(1).body]);
      await store().putRecords([]);
    });

    test("the same id again replaces it whole", async () => {
      await store().putRecords([line(1)]);
      await store().putRecords([record("logs", { id: 1, at: 9 })]);
      expect(await store().find({ table: "logs", where: [], order: "id" })).toEqual([{ id: 1, at: 9 }]);
      expect(await ids([{ field: "operator", is: "=", value: 2 }])).toEqual([]);
    });

    test("what is removed is gone, and nothing else", async () => {
      await store().putRecords([line(1), line(2), line(3), item(1)]);
      await store().removeRecords("logs", ["1", "3", "unknown"]);
      await store().removeRecords("logs", []);
      expect(await ids([])).toEqual([2]);
      expect(await store().count({ table: "news", where: [] })).toBe(1);
    });

    test("a value that its field cannot hold is refused, and nothing of that call is stored", async () => {
      await expect(store().putRecords([line(1), line(2, { at: "noon" })])).rejects.toThrow("integer");
      expect(await ids([])).toEqual([]);
    });

    test("what the caller changes later does not change what is stored", async () => {
      const body = { id: 1, details: "kept" };
      await store().putRecords([record("logs", body)]);
      body.details = "changed";
      expect(await store().find({ table: "logs", where: [], order: "id" })).toEqual([
        { id: 1, details: "kept" },
      ]);
    });

    test("odd text survives, as an id and as a value", async () => {
      await store().putRecords(
        ODD_TEXTS.map((action, id) => ({ table: "logs", id: action, body: { id, action } })),
      );
      expect(await ids([])).toEqual([...ODD_TEXTS.keys()]);
      await store().removeRecords("logs", ODD_TEXTS);
      expect(await ids([])).toEqual([]);
    });

    test("a list of the log: what is about a branch, or was done by one account, newest first", async () => {
      await store().putRecords([
        line(1),
        line(2, { target: 8, targetDna: ".1.2.8." }),
        line(3, { operator: 7, target: null, targetType: "config", targetDna: null }),
        line(4, { operator: 7, target: 70, targetDna: ".1.2.7.70." }),
        line(5, { operator: 70, target: 70, targetDna: ".1.2.7.70.", status: "failed" }),
      ]);
      const anyOf: readonly (readonly Where<"logs">[])[] = [
        [{ field: "targetDna", is: "starts", value: ".1.2.7." }],
        [{ field: "operator", is: "=", value: 7 }],
      ];
      const list = { table: "logs", where: [], anyOf, order: "id", descending: true } as const;
      expect((await store().find({ ...list, limit: 3 })).map(({ id }) => id)).toEqual([5, 4, 3]);
      expect((await store().find({ ...list, offset: 3, limit: 3 })).map(({ id }) => id)).toEqual([1]);
      expect(await store().count(list)).toBe(4);
      const where: readonly Where<"logs">[] = [{ field: "status", is: "=", value: "success" }];
      expect(await store().count({ ...list, where })).toBe(3);
    });
  });

  describe("walks", () => {
    const COUNT = 1_200;
    const all = Array.from({ length: COUNT }, (_, i) => i + 1);

    async function walked(over: Partial<ScanQuery<"logs">> = {}, meanwhile?: (n: number) => Promise<void>) {
      const found: unknown[] = [];
      for await (const { id } of store().scan({ table: "logs", where: [], order: "id", ...over })) {
        found.push(id);
        await meanwhile?.(found.length);
      }
      return found;
    }

    test("give everything once, in order, either way", async () => {
      await store().putRecords(all.map((id) => line(id)));
      expect(await walked()).toEqual(all);
      expect(await walked({ descending: true })).toEqual(all.toReversed());
    });

    test("of nothing are empty", async () => {
      expect(await walked()).toEqual([]);
    });

    test("mind conditions and groups", async () => {
      await store().putRecords(
        all.map((id) => line(id, { operator: id % 3, targetDna: id % 2 ? ".1.2." : ".1.3." })),
      );
      const where: readonly Where<"logs">[] = [{ field: "id", is: "<=", value: 900 }];
      const anyOf: readonly (readonly Where<"logs">[])[] = [
        [{ field: "operator", is: "=", value: 0 }],
        [{ field: "targetDna", is: "starts", value: ".1.2." }],
      ];
      const expected = all.filter((id) => id <= 900 && (id % 3 === 0 || id % 2 === 1));
      expect(await walked({ where, anyOf })).toEqual(expected);
    });

    test("go on through values that many have, and leave out what has none", async () => {
      await store().putRecords(all.map((id) => line(id, { at: id % 2, target: id > 1_000 ? null : id % 3 })));
      const byAt = await walked({ order: "at" });
      expect(new Set(byAt).size).toBe(COUNT);
      expect(byAt.slice(0, COUNT / 2).every((id) => Number(id) % 2 === 0)).toBe(true);
      expect((await walked({ order: "target" })).length).toBe(1_000);
    });

    test("what goes meanwhile moves no other", async () => {
      await store().putRecords(all.map((id) => line(id)));
      const found = await walked({}, async (n) => {
        if (n === 100) await store().removeRecords("logs", all.slice(0, 100).map(String));
      });
      expect(found).toEqual(all);
    });

    test("the loop turns while one is read as fast as can be", async () => {
      await store().putRecords(all.map((id) => line(id)));
      let turns = 0;
      let reading = true;
      const watch = () => {
        turns++;
        if (reading) setImmediate(watch);
      };
      setImmediate(watch);
      await walked();
      reading = false;
      expect(turns).toBeGreaterThanOrEqual(4);
    });
  });
}
