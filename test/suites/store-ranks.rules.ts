// Rules of lists of accounts in the order of a name or a figure: who comes first, what ties, what another month has cost, and that
// pages of a list are its parts.

import { beforeEach, describe, expect, test } from "bun:test";
import type { RankQuery, Store, Where } from "../../src/store/store.ts";
import { document, save } from "./store-samples.ts";

const MONTH = "2026-03";

/** Accounts as they are stored, in the order of their ids. */
const ACCOUNTS = [
  { id: 2, parent: 1, nameLower: "zoe", balance: 50, month: MONTH, monthCost: 7, closed: 0, level: 1 },
  {
    id: 3,
    parent: 1,
    nameLower: "émile",
    balance: -4,
    month: "2026-02",
    monthCost: 900,
    closed: 0,
    level: 2,
  },
  { id: 4, parent: 1, nameLower: "ada", balance: 50, month: "", monthCost: 0, closed: 0, level: 1 },
  { id: 5, parent: 9, nameLower: "bob", balance: 1, month: MONTH, monthCost: 1, closed: 0, level: 1 },
  {
    id: 10,
    parent: 1,
    nameLower: "👩",
    balance: 9_000_000_000_000_000,
    month: MONTH,
    monthCost: 9_000_000_000,
  },
  { id: 11, parent: 1, nameLower: "über", balance: 0, month: MONTH, monthCost: 0, closed: 0, level: 2 },
  { id: 12, parent: 1, nameLower: "gone", balance: 3, month: MONTH, monthCost: 3, closed: 2, level: 2 },
  { id: 20, parent: 1, nameLower: "Ada", balance: 50, month: MONTH, monthCost: 7, closed: 0, level: 1 },
].map((one) => ({ dna: `.${one.parent}.`, closed: 0, level: 1, ...one }));

const CHILDREN: readonly Where<"accounts">[] = [
  { field: "parent", is: "=", value: 1 },
  { field: "closed", is: "=", value: 0 },
];

/** The children of account 1 in each order, upwards. */
const ORDERS = {
  id: [2, 3, 4, 10, 11, 20],
  name: [20, 4, 2, 3, 11, 10],
  balance: [3, 11, 2, 4, 20, 10],
  // What another month cost, and what costs nothing, ties.
  month_cost: [3, 4, 11, 2, 20, 10],
} as const;
const BY = Object.keys(ORDERS) as (keyof typeof ORDERS)[];

export function rankRules(store: () => Store): void {
  const ranked = (query: Partial<RankQuery>) =>
    store().rankAccounts({ table: "accounts", where: CHILDREN, by: "id", month: MONTH, ...query });
  const ids = async (query: Partial<RankQuery>) => (await ranked(query)).map(({ id }) => id);

  describe("accounts in an order", () => {
    beforeEach(async () => {
      const documents = ACCOUNTS.map((body) => document("accounts", String(body.id), 1, body));
      await store().save([save("account/1", 1, documents)]);
    });

    test.each(BY)("by %s, upwards and downwards, whole and part by part", async (by) => {
      const expected = ORDERS[by];
      expect(await ids({ by })).toEqual([...expected]);
      expect(await ids({ by, descending: true })).toEqual(expected.toReversed());
      for (const descending of [false, true]) {
        const whole = descending ? expected.toReversed() : [...expected];
        for (const limit of [1, 2, 4, 5, 100]) {
          for (let offset = 0; offset <= whole.length + 1; offset++) {
            expect(await ids({ by, descending, offset, limit })).toEqual(whole.slice(offset, offset + limit));
          }
        }
      }
      expect(await ids({ by, limit: 0 })).toEqual([]);
    });

    test("each with what the month has cost it", async () => {
      expect(await ranked({})).toEqual([
        ...[
          { id: 2, monthCost: 7 },
          { id: 3, monthCost: 0 },
          { id: 4, monthCost: 0 },
        ],
        ...[
          { id: 10, monthCost: 9_000_000_000 },
          { id: 11, monthCost: 0 },
          { id: 20, monthCost: 7 },
        ],
      ]);
    });

    test("a month begins at 0 for all, without a write", async () => {
      const next = { by: "month_cost", descending: true, month: "2026-04" } as const;
      expect(await ranked(next)).toEqual(ORDERS.id.toReversed().map((id) => ({ id, monthCost: 0 })));
      const saved = { ...ACCOUNTS[1]!, month: "2026-04", monthCost: 1 };
      await store().save([save("account/3", 2, [document("accounts", "3", 2, saved)])]);
      expect(await ranked({ ...next, limit: 2 })).toEqual([
        { id: 3, monthCost: 1 },
        { id: 20, monthCost: 0 },
      ]);
    });

    test("of those that meet the conditions", async () => {
      const level: Where<"accounts"> = { field: "level", is: "=", value: 2 };
      expect(await ids({ by: "balance", where: [...CHILDREN, level] })).toEqual([3, 11]);
      const anyOf: readonly (readonly Where<"accounts">[])[] = [
        [{ field: "nameLower", is: "has", value: "o" }],
        [{ field: "nameLower", is: "starts", value: "z" }],
        [{ field: "nameLower", is: "=", value: "ada" }],
      ];
      expect(await ids({ by: "month_cost", anyOf })).toEqual([4, 2]);
      expect(await ids({ by: "balance", anyOf: [] })).toEqual([]);
      expect(await ids({ by: "name", where: [] })).toEqual([20, 4, 5, 12, 2, 3, 11, 10]);
    });

    test("a newer document changes its place, an older one does not", async () => {
      const put = (seq: number, balance: number) =>
        store().save([
          save("account/3", seq, [document("accounts", "3", seq, { ...ACCOUNTS[1]!, balance })]),
        ]);
      await put(3, 51);
      await put(2, 1);
      expect(await ids({ by: "balance" })).toEqual([11, 2, 4, 20, 3, 10]);
    });

    test("a document without figures counts as one of nothing", async () => {
      await store().save([
        save("account/6", 1, [document("accounts", "6", 1, { id: 6, parent: 1, closed: 0 })]),
      ]);
      expect(await ids({ by: "balance" })).toEqual([3, 6, 11, 2, 4, 20, 10]);
      expect((await ranked({ by: "month_cost", limit: 3 })).map(({ id }) => id)).toEqual([3, 4, 6]);
    });
  });

  test.each([
    ["an order that there is not", { by: "level" }],
    ["a month that is none", { month: "2026" }],
    ["a broken offset", { offset: 1.5 }],
    ["a limit below 0", { limit: -1 }],
    ["a field that there is not", { where: [{ field: "secret", is: "=", value: 1 }] }],
  ] as const)("%s is refused", async (_what, query) => {
    await expect(ranked(query as unknown as Partial<RankQuery>)).rejects.toThrow();
  });
}
