// Bills as folds of usage documents: over random usage each way of adding up gives the same to the last nano-dollar.

import { describe, expect, test } from "bun:test";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import {
  type AccountBill,
  accountsBillOf,
  type Bill,
  type BillQuery,
  billOf,
  rowsOfDay,
  sumOf,
  type UsageFigures,
  usedDays,
} from "../../src/report/usage-bill.ts";
import type { Store } from "../../src/store/store.ts";
import { StoreBusyError } from "../../src/store/store-errors.ts";
import { manualClock, NOON } from "../runtime/manual-clock.ts";
import { type SimRandom, simRandom } from "../sim/random.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { document, save } from "../suites/store-samples.ts";

const TODAY = dayOf(NOON);
const daysAgo = (days: number): string => dayOf(NOON - days * DAY_MS);

interface Used
  extends Record<"requests" | "prompt" | "completion" | "cached" | "cacheWrite" | "reasoning", number> {
  readonly account: number;
  readonly day: string;
  readonly model: string;
  readonly cost: number;
}

const DNAS = [".1.2.", ".1.2.7.", ".1.3."];
const dnaOf = (account: number): string => DNAS[account % DNAS.length]!;

async function stored(used: readonly Used[]): Promise<Store> {
  const store = memoryStore({ clock: manualClock() });
  const byDay = Map.groupBy(used, ({ account, day }) => `${account}/${day}`);
  let seq = 0;
  for (const [id, rows] of byDay) {
    const { account, day } = rows[0]!;
    const models = Object.fromEntries(rows.map(({ model, account: _, day: __, ...sums }) => [model, sums]));
    seq++;
    await store.save([
      save(`account/${account}`, seq, [
        document("usage", id, seq, { account, dna: dnaOf(account), day, models }),
      ]),
    ]);
  }
  return store;
}

function randomUsage(random: SimRandom): Used[] {
  const used = new Map<string, Used>();
  for (let i = random.between(0, 60); i > 0; i--) {
    const [account, ago, model] = [
      random.between(4, 12),
      random.pick([0, 1, 2, 3, 40, 364, 365]),
      random.below(4),
    ];
    const row: Used = {
      account,
      day: daysAgo(ago),
      model: `model-${model}`,
      requests: random.between(1, 1_000),
      prompt: random.below(1_000_000),
      completion: random.below(1_000_000),
      cached: random.below(1_000),
      cacheWrite: random.below(1_000),
      reasoning: random.below(1_000),
      // Sums of these pass what a number holds exactly.
      cost: random.below(2) === 0 ? random.below(100) : Number.MAX_SAFE_INTEGER - random.below(1_000),
    };
    used.set(`${account} ${ago} ${model}`, row);
  }
  return [...used.values()];
}

const FIGURES = ["requests", "prompt", "completion", "cached", "cacheWrite", "reasoning"] as const;
const exactly = (rows: readonly Used[]) => ({
  ...Object.fromEntries(FIGURES.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])),
  cost: rows.reduce((sum, row) => sum + BigInt(row.cost), 0n),
});

const over = (more: Partial<BillQuery> = {}): BillQuery => ({
  ...{ whose: [{ dna: ".1.2." }], from: daysAgo(364), to: TODAY },
  ...more,
});

/** A bill with all of its accounts. */
async function whole(store: Store, query: BillQuery) {
  const { accounts, ...bill } = await accountsBillOf(store, query);
  return { bill, accounts: (await Array.fromAsync(accounts)).flat() };
}

const plain = (figures: UsageFigures): object => ({ ...figures });

function expectSame(bill: Bill, rows: readonly Used[]): void {
  expect(plain(bill.total)).toEqual(exactly(rows));
  expect(plain(sumOf(bill.models.values()))).toEqual(exactly(rows));
  for (const [model, figures] of bill.models) {
    expect(plain(figures)).toEqual(exactly(rows.filter((row) => row.model === model)));
  }
  for (const [day, models] of bill.days) {
    expect(plain(sumOf(models.values()))).toEqual(exactly(rows.filter((row) => row.day === day)));
  }
  expect([...bill.days.keys()]).toEqual([...new Set(rows.map(({ day }) => day))].sort());
  expect([...bill.models.keys()]).toEqual([...new Set(rows.map(({ model }) => model))].sort());
}

async function expectWhole(store: Store, query: BillQuery, rows: readonly Used[]): Promise<void> {
  const { bill, accounts } = await whole(store, query);
  expectSame(bill, rows);
  expectAccounts(accounts, rows);
}

function expectAccounts(accounts: readonly AccountBill[], rows: readonly Used[]): void {
  expect(plain(sumOf(accounts.map(({ total }) => total)))).toEqual(exactly(rows));
  expect(accounts.map(({ id }) => id).sort((a, b) => a - b)).toEqual(
    [...new Set(rows.map(({ account }) => account))].sort((a, b) => a - b),
  );
  for (const [i, one] of accounts.entries()) {
    const own = rows.filter(({ account }) => account === one.id);
    expect(plain(one.total)).toEqual(exactly(own));
    const next = accounts[i + 1];
    if (next === undefined) continue;
    expect(one.total.cost > next.total.cost || (one.total.cost === next.total.cost && one.id < next.id)).toBe(
      true,
    );
  }
}

describe("over random usage", () => {
  test.each(Array.from({ length: 40 }, (_, i) => i + 1))(
    "days, models and accounts add up to the same, exactly (seed %d)",
    async (seed) => {
      const random = simRandom(seed);
      const used = randomUsage(random);
      const store = await stored(used);
      for (const from of [TODAY, daysAgo(1), daysAgo(2), daysAgo(3), daysAgo(364)]) {
        for (const to of [TODAY, daysAgo(1), daysAgo(2), daysAgo(30)]) {
          if (from > to) continue;
          const spanned = used.filter(({ day }) => day >= from && day <= to);
          const below = spanned.filter(({ account }) => dnaOf(account).startsWith(".1.2."));
          await expectWhole(store, over({ from, to }), below);
          const account = random.between(4, 12);
          expectSame(
            await billOf(store, over({ from, to, whose: [{ ids: [account] }] })),
            spanned.filter((row) => row.account === account),
          );
        }
      }
    },
  );

  test.each([1, 2, 3, 4, 5])("a table day by day adds up to the bill (seed %d)", async (seed) => {
    const store = await stored(randomUsage(simRandom(seed)));
    const { whose, from, to } = over();
    const bill = await billOf(store, over());
    const days = await usedDays(store, whose, { from, to });
    expect(days).toEqual([...bill.days.keys()]);
    for (const day of days) {
      const rows = await rowsOfDay(store, whose, day);
      expect(plain(sumOf(rows))).toEqual(plain(sumOf(bill.days.get(day)!.values())));
      const places = rows.map(({ account, model }) => `${String(account).padStart(3, "0")} ${model}`);
      expect(places).toEqual([...places].sort());
    }
  });
});

const use = (account: number, day: string, model: string, requests: number, cost: number): Used => ({
  ...{ account, day, model, requests, cost },
  ...{ prompt: 1, completion: 1, cached: 0, cacheWrite: 0, reasoning: 0 },
});

describe("the figures of an account", () => {
  test("its dearest and its most asked model need not be the same; of equal ones the first by name", async () => {
    const store = await stored([
      use(4, TODAY, "b", 1, 900),
      use(4, daysAgo(9), "c", 1, 100),
      use(4, TODAY, "a", 7, 5),
      use(7, TODAY, "z", 2, 3),
      use(7, TODAY, "y", 2, 3),
    ]);
    const { accounts } = await whole(store, over());
    expect(accounts.map(({ id, topCost, topRequest }) => [id, topCost, topRequest])).toEqual([
      [4, "b", "a"],
      [7, "y", "y"],
    ]);
  });
});

describe("groups of accounts", () => {
  test("are added up together, as they are to be when there are too many to be named at once", async () => {
    const used = [use(4, TODAY, "a", 1, 10), use(5, daysAgo(3), "a", 2, 20), use(6, TODAY, "b", 3, 30)];
    const store = await stored(used);
    await expectWhole(store, over({ whose: [{ ids: [6] }, { ids: [4, 5] }] }), used);
    const rows = await rowsOfDay(store, [{ ids: [6] }, { ids: [4, 5] }], TODAY);
    expect(rows.map(({ account }) => account)).toEqual([4, 6]);
    expect(await usedDays(store, [{ ids: [6] }, { ids: [4, 5] }], over())).toEqual([daysAgo(3), TODAY]);
  });

  test("none of them is a bill of nothing", async () => {
    const store = await stored([use(4, TODAY, "a", 1, 10)]);
    await expectWhole(store, over({ whose: [] }), []);
  });
});

describe("a tree of many accounts", () => {
  const many = Array.from({ length: 1_203 }, (_, i) => use(4 + 3 * i, TODAY, "a", 1 + (i % 7), 10_000 - i));

  test("comes some accounts at a time, each once and in order", async () => {
    const { accounts } = await accountsBillOf(await stored(many), over());
    const parts = await Array.fromAsync(accounts);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(250);
    expectAccounts(parts.flat(), many);
  });

  test("of which some are named has each of them once and in order, too", async () => {
    const ids = many.map(({ account }) => account);
    const whose = [{ ids: ids.slice(0, 700) }, { ids: ids.slice(700) }];
    const { accounts } = await accountsBillOf(await stored(many), over({ whose }));
    expectAccounts((await Array.fromAsync(accounts)).flat(), many);
  });

  test("breaks off with the error of a store that cannot read the rest", async () => {
    async function* failing() {
      yield [];
      throw new Error("the disk is gone");
    }
    const broken: Store = {
      ...(await stored([])),
      usageReport: async () => ({ days: [], groups: [], hourly: [], accounts: failing() }),
    };
    const { accounts } = await accountsBillOf(broken, over());
    await expect(Array.fromAsync(accounts)).rejects.toThrow("the disk is gone");
  });
});

describe("what the store says of it", () => {
  test("a store that has too much to add up already says so", async () => {
    const busy: Store = {
      ...(await stored([])),
      usageReport: () => Promise.reject(new StoreBusyError("64 wait for their turn already")),
    };
    await expect(accountsBillOf(busy, over())).rejects.toBeInstanceOf(StoreBusyError);
  });
});
