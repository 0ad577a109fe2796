// Rules of sums of usage: whose, of which days, by what; and that they say what the usage documents say, to the last digit.

import { beforeEach, describe, expect, test } from "bun:test";
import type {
  AccountUsage,
  Store,
  TotalsField,
  TotalsQuery,
  TotalsRow,
  UsageReportQuery,
} from "../../src/store/store.ts";
import { document, ODD_TEXTS, save } from "./store-samples.ts";

/** One request of these tokens and this cost: every figure differs, so that none can stand for another. */
const used = (n: number, cost = n * 10) => ({
  requests: 1,
  prompt: n,
  completion: n * 2,
  cached: n * 3,
  cacheWrite: n * 4,
  reasoning: n * 5,
  cost,
});

const sum = (requests: number, n: number, cost = n * 10) => ({ ...used(n), requests, cost: BigInt(cost) });

const day = (account: number, dna: string, date: string, models: object, seq = 1) =>
  document("usage", `${account}/${date}`, seq, { account, dna, day: date, models });

// Owner 2 with its accounts 7 and 8, of which 7 has 70; Owner 20 beside it.
const USAGE = [
  day(2, ".1.", "2026-01-01", { a: used(1) }),
  day(7, ".1.2.", "2026-01-01", { a: used(10), b: used(20) }),
  day(7, ".1.2.", "2026-01-02", { b: used(40) }),
  day(8, ".1.2.", "2026-01-02", { a: used(80) }),
  day(70, ".1.2.7.", "2026-01-31", { c: used(100) }),
  day(9, ".1.20.", "2026-01-02", { a: used(1_000) }),
];

const YEAR = { from: "2026-01-01", to: "2026-12-31" };
const UNDER_2 = { dna: ".1.2." };

export function totalsRules(store: () => Store): void {
  const keep = (documents: ReturnType<typeof day>[], seq = 1) =>
    store().save([save("account/1", seq, documents)]);
  const totals = (query: Partial<TotalsQuery>) =>
    store().usageTotals({ accounts: UNDER_2, ...YEAR, by: [], ...query });

  describe("totals", () => {
    beforeEach(() => keep(USAGE));

    const BY: readonly (readonly [string, Partial<TotalsQuery>, readonly TotalsRow[]])[] = [
      ["a branch as one row", {}, [sum(5, 250)]],
      [
        "by day",
        { by: ["day"] },
        [
          { day: "2026-01-01", ...sum(2, 30) },
          { day: "2026-01-02", ...sum(2, 120) },
          { day: "2026-01-31", ...sum(1, 100) },
        ],
      ],
      [
        "by model",
        { by: ["model"] },
        [
          { model: "a", ...sum(2, 90) },
          { model: "b", ...sum(2, 60) },
          { model: "c", ...sum(1, 100) },
        ],
      ],
      [
        "by account, in order of its number",
        { by: ["account"] },
        [
          { account: 7, ...sum(3, 70) },
          { account: 8, ...sum(1, 80) },
          { account: 70, ...sum(1, 100) },
        ],
      ],
      [
        "by model and account, in the order that was named",
        { by: ["model", "account"], to: "2026-01-02" },
        [
          { model: "a", account: 7, ...sum(1, 10) },
          { model: "a", account: 8, ...sum(1, 80) },
          { model: "b", account: 7, ...sum(2, 60) },
        ],
      ],
      [
        "by all three",
        { by: ["day", "account", "model"], from: "2026-01-02", to: "2026-01-02" },
        [
          { day: "2026-01-02", account: 7, model: "b", ...sum(1, 40) },
          { day: "2026-01-02", account: 8, model: "a", ...sum(1, 80) },
        ],
      ],
      ["of some accounts", { accounts: { ids: [8, 2, 8, 99] } }, [sum(2, 81)]],
      [
        "of some accounts by day",
        { accounts: { ids: [8] }, by: ["day"] },
        [{ day: "2026-01-02", ...sum(1, 80) }],
      ],
      ["of everybody", { accounts: { dna: "" } }, [sum(7, 1_251)]],
      ["both ends included", { from: "2026-01-02", to: "2026-01-31" }, [sum(3, 220)]],
      ["one day", { from: "2026-01-01", to: "2026-01-01" }, [sum(2, 30)]],
      ["no day", { from: "2026-01-02", to: "2026-01-01" }, []],
      ["no usage", { from: "2026-02-01", by: ["day"] }, []],
      ["of a branch without usage", { accounts: { dna: ".1.2.8." } }, []],
      ["of no account", { accounts: { ids: [] } }, []],
    ];

    test.each(BY)("%s", async (_title, query, expected) => {
      expect(await totals(query)).toEqual([...expected]);
    });

    test("a newer document stands in place of the older one, an older one changes nothing", async () => {
      await keep([day(7, ".1.2.", "2026-01-01", { a: used(11), c: used(1) }, 3)], 3);
      await keep([day(7, ".1.2.", "2026-01-01", { a: used(5_000) }, 2)], 4);
      const query = { accounts: { ids: [7] }, to: "2026-01-01", by: ["model"] as TotalsField[] };
      expect(await totals(query)).toEqual([
        { model: "a", ...sum(1, 11) },
        { model: "c", ...sum(1, 1) },
      ]);
      await keep([day(7, ".1.2.", "2026-01-01", {}, 4)], 5);
      expect(await totals(query)).toEqual([]);
    });

    test("an account that moved counts where it stood: the days before stay, no day counts twice", async () => {
      await keep(
        [
          day(7, ".1.20.", "2026-01-02", { b: used(41) }, 2),
          day(7, ".1.20.", "2026-01-03", { b: used(1) }, 2),
        ],
        2,
      );
      const seven = async (dna: string) =>
        (await totals({ accounts: { dna }, by: ["account", "day"] })).filter(({ account }) => account === 7);
      expect(await seven(".1.2.")).toEqual([{ account: 7, day: "2026-01-01", ...sum(2, 30) }]);
      expect(await seven(".1.20.")).toEqual([
        { account: 7, day: "2026-01-02", ...sum(1, 41) },
        { account: 7, day: "2026-01-03", ...sum(1, 1) },
      ]);
    });

    test("costs are exact beyond what a number holds", async () => {
      const most = Number.MAX_SAFE_INTEGER;
      await keep([100, 101, 102].map((id) => day(id, ".1.9.", "2026-03-01", { m: used(1, most) })));
      const [found] = await totals({ accounts: { dna: ".1.9." } });
      expect(found?.cost).toBe(3n * BigInt(most));
    });

    test("odd names of models survive, and are ordered by code point", async () => {
      const named = Object.fromEntries(ODD_TEXTS.map((text) => [text, used(1)]));
      await keep([day(50, ".1.5.", "2026-01-01", named)]);
      const found = (await totals({ accounts: { dna: ".1.5." }, by: ["model"] })).map(({ model }) => model!);
      const byBytes = ODD_TEXTS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(found).toEqual(byBytes);
    });

    test("a usage document with a sum that is no exact integer is refused whole", async () => {
      const bad = day(60, ".1.6.", "2026-01-01", { a: used(1), b: { ...used(1), cost: 0.5 } });
      await expect(keep([bad])).rejects.toThrow("exact integers");
      expect(await totals({ accounts: { dna: ".1.6." } })).toEqual([]);
    });

    const REFUSED: readonly (readonly [string, unknown])[] = [
      ["a day that is none", { from: "2026-1-1" }],
      ["SQL in a day", { to: "2026-01-01' OR 1=1" }],
      ["an unknown field", { by: ["dna"] }],
      ["a field twice", { by: ["day", "day"] }],
      ["too many accounts", { accounts: { ids: Array.from({ length: 1_001 }, (_, i) => i) } }],
      ["half an account", { accounts: { ids: [0.5] } }],
      ["a DNA that is no text", { accounts: { dna: 1 } }],
    ];

    test.each(REFUSED)("refuses %s", async (_title, query) => {
      await expect(totals(query as Partial<TotalsQuery>)).rejects.toThrow();
    });

    test("takes as many accounts as it may", async () => {
      const ids = Array.from({ length: 1_000 }, (_, i) => i);
      expect(await totals({ accounts: { ids } })).toEqual([sum(7, 1_251)]);
    });

    test("an aborted one is not answered", async () => {
      const query = { accounts: UNDER_2, ...YEAR, by: [] };
      await expect(store().usageTotals(query, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    });
  });

  describe("what accounts used", () => {
    beforeEach(() => keep(USAGE));

    /** A report with all of its accounts. */
    const asked = async (query: Partial<UsageReportQuery>) => {
      const whole = { accounts: UNDER_2, ...YEAR, accountFields: [], ...query };
      const { days, accounts } = await store().usageReport(whole);
      return { days, accounts: (await Array.fromAsync(accounts)).flat() };
    };

    test("by day and model, and by account: the dearest first, each with what it used most", async () => {
      expect(await asked({})).toEqual({
        days: [
          { day: "2026-01-01", model: "a", ...sum(1, 10) },
          { day: "2026-01-01", model: "b", ...sum(1, 20) },
          { day: "2026-01-02", model: "a", ...sum(1, 80) },
          { day: "2026-01-02", model: "b", ...sum(1, 40) },
          { day: "2026-01-31", model: "c", ...sum(1, 100) },
        ],
        accounts: [
          { account: 70, topCost: "c", topRequest: "c", fieldValues: [], total: sum(1, 100) },
          { account: 8, topCost: "a", topRequest: "a", fieldValues: [], total: sum(1, 80) },
          { account: 7, topCost: "b", topRequest: "b", fieldValues: [], total: sum(3, 70) },
        ],
      });
    });

    test("of these days and accounts only", async () => {
      const { days, accounts } = await asked({ accounts: { ids: [7, 9] }, to: "2026-01-01" });
      expect(days.map(({ day, model }) => `${day} ${model}`)).toEqual(["2026-01-01 a", "2026-01-01 b"]);
      expect(accounts).toMatchObject([{ account: 7, total: sum(2, 30) }]);
    });

    test("of nobody is nothing", async () => {
      expect(await asked({ accounts: { ids: [] } })).toEqual({ days: [], accounts: [] });
    });

    test("of many accounts has each of them once, at whatever pace it is read", async () => {
      const ids = Array.from({ length: 1_100 }, (_, i) => 2_000 + i);
      const names = ids.map((id) => document("accounts", String(id), 2, { id, name: `name ${id}` }));
      const usage = ids.map((id) => day(id, ".1.7.", "2026-01-01", { m: used(1, 5_000 - id) }));
      await keep([...names, ...usage], 2);
      const query = { accounts: { dna: ".1.7." }, ...YEAR, accountFields: ["name"] };
      const [slow, fast] = [await store().usageReport(query), await store().usageReport(query)];
      const reported: AccountUsage[] = [];
      for await (const some of slow.accounts) {
        reported.push(...some);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(reported).toEqual((await Array.fromAsync(fast.accounts)).flat());
      expect(reported.map(({ account, fieldValues: [name] }) => [account, name])).toEqual(
        ids.map((id) => [id, `name ${id}`]),
      );
    });

    test("is there as text of any kind: names with quotes, lines and no field at all", async () => {
      const texts = ['say "x"', "a\nb\tc", "\\", "héllo 👋", ""];
      await keep(
        texts.flatMap((alias, i) => [
          document("accounts", `t${i}`, 2, { id: 3_000 + i, alias, level: 7, status: true }),
          day(3_000 + i, ".1.8.", "2026-01-01", { m: used(1, 100 - i) }),
        ]),
        2,
      );
      const { accounts } = await asked({ accounts: { dna: ".1.8." }, accountFields: ["alias", "level"] });
      expect(accounts.map(({ fieldValues }) => fieldValues)).toEqual(texts.map((alias) => [alias, "7"]));
    });

    test("an aborted one is not answered", async () => {
      const query = { accounts: UNDER_2, ...YEAR, accountFields: [] };
      await expect(store().usageReport(query, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    });

    test("accounts that cost the same go by id, models by name", async () => {
      const same = { z: used(0), y: used(0) };
      await keep([day(31, ".1.3.", "2026-01-01", same), day(30, ".1.3.", "2026-01-01", same)], 2);
      const { accounts } = await asked({ accounts: { dna: ".1.3." } });
      expect(accounts.map(({ account, topCost, topRequest }) => [account, topCost, topRequest])).toEqual([
        [30, "y", "y"],
        [31, "y", "y"],
      ]);
    });

    test("what documents say is returned; what they do not say is empty", async () => {
      await keep([document("accounts", "7", 2, { id: 7, name: "seven" })], 2);
      const { accounts } = await asked({ accountFields: ["name", "alias"] });
      expect(accounts.map(({ account, fieldValues }) => [account, fieldValues])).toEqual([
        [70, ["", ""]],
        [8, ["", ""]],
        [7, ["seven", ""]],
      ]);
    });

    test("is exact beyond what a number holds", async () => {
      const cost = Number.MAX_SAFE_INTEGER;
      const dear = Array.from({ length: 5 }, (_, i) =>
        day(40, ".1.4.", `2026-02-0${i + 1}`, { m: used(1, cost - i) }),
      );
      await keep(dear, 2);
      const { accounts, days } = await asked({ accounts: { dna: ".1.4." } });
      expect(accounts[0]!.total.cost).toBe(5n * BigInt(cost) - 10n);
      expect(days.map((row) => row.cost)).toEqual([0, 1, 2, 3, 4].map((i) => BigInt(cost - i)));
    });
  });
}
