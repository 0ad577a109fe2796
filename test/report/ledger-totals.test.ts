// Ledgers by filters over random lines, on every store: the pages have the lines that pass, whichever way they are reached, and the
// totals are the sums of just these lines.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountId } from "../../actors/ids.ts";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import { realClock } from "../../src/base/clock.ts";
import { allLines, type LedgerFilter, LedgerPages } from "../../src/report/ledger-page.ts";
import { ledgerTotals } from "../../src/report/ledger-totals.ts";
import { passingLines } from "../../src/store/line-rows.ts";
import { openStore } from "../../src/store/open.ts";
import type { Commit, Save, Store } from "../../src/store/store.ts";
import { manualClock, NOON } from "../runtime/manual-clock.ts";
import { type SimRandom, simRandom } from "../sim/random.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { dropDatabase, mongoServer, newDatabase } from "../store/mongo-server.ts";
import { commit, document, save } from "../suites/store-samples.ts";

const LINES = 700;
const DAYS = 6;
/** Looks, 20 ms apart, until the lines of an account are found. */
const LOOKS_MAX = 500;
const MODELS = ["m", "n", "o", "(other)"];
const signal = new AbortController().signal;

type Event = Readonly<Record<string, unknown>>;

/** An account whose lines move its balance, with charges of four models and others between them. */
function randomEvent(random: SimRandom, i: number, balance: number): Event {
  const amount = -random.between(0, 5_000);
  const line = { id: `l${i}`, amount, balanceAfter: balance + amount };
  if (random.below(5) > 0) {
    const facts = { model: MODELS[random.below(3)]!, cost: -amount, request: `r${random.below(40)}` };
    const key = random.below(3);
    return {
      ...{ type: random.below(40) === 0 ? "late_charge" : "charge" },
      ...{ ...line, ...facts },
      ...(key > 0 && { apiKey: key, apiKeyName: `key ${key}` }),
      ...(random.below(2) > 0 && { tags: { team: `t${random.below(3)}`, env: "prod" } }),
    };
  }
  const type = random.pick(["query_fee", "transfer_out", "refund", "refund_out", "returned", "grant"]);
  const gain = type === "refund" || type === "returned" || type === "grant" ? -3 * amount : amount;
  return { type, ...line, amount: gain, balanceAfter: balance + gain };
}

interface Ledger {
  readonly commits: readonly Commit[];
  /** What the projections are made of. */
  readonly saves: readonly Save[];
}

/** A ledger that ends at noon of its last day, with usage documents as the account writes them. */
function randomLedger(random: SimRandom, id: number): Ledger {
  const actor = `account/${id}`;
  const commits: Commit[] = [];
  const days = new Map<string, Map<string, { requests: number; cost: number }>>();
  let at = NOON - DAYS * DAY_MS;
  let balance = 0;
  for (let linesTo = 0; linesTo < LINES; ) {
    const count = random.between(0, 4);
    const events = Array.from({ length: count }, (_, i) => {
      // Now and then exactly at midnight.
      const later = at + random.below(Math.floor((DAYS * DAY_MS) / LINES) * 2);
      const midnight = Math.ceil(at / DAY_MS) * DAY_MS;
      at = Math.min(later > midnight && random.below(2) > 0 ? Math.max(at, midnight) : later, NOON);
      const e = randomEvent(random, linesTo + i, balance);
      balance = e.balanceAfter as number;
      return { at, line: true, e };
    });
    for (const { at, e } of events) {
      if (e.type !== "charge") continue;
      const models = days.get(dayOf(at)) ?? new Map();
      const used = models.get(e.model) ?? { requests: 0, cost: 0 };
      models.set(e.model, { requests: used.requests + 1, cost: used.cost + (e.cost as number) });
      days.set(dayOf(at), models);
    }
    linesTo += count;
    const marks = events.flatMap(({ e }) => [e.id, ...(e.request ? [`request:${e.request}`] : [])]);
    commits.push(
      commit(actor, commits.length + 1, { at, linesTo, lines: count, events, marks: marks.map(String) }),
    );
  }
  const last = commits.at(-1)!;
  const documents = [...days].map(([day, models]) =>
    document("usage", `${id}/${day}`, last.seq, {
      ...{ account: id, dna: ".1.", day },
      models: Object.fromEntries(models),
    }),
  );
  return { commits, saves: [save(actor, last.seq, documents, { linesTo: last.linesTo })] };
}

/** Times around the ends of days, so that whole days and rests of any length are asked for. */
const randomTime = (random: SimRandom): number =>
  Math.floor(NOON / DAY_MS - random.below(DAYS + 2)) * DAY_MS +
  random.pick([0, 0, 1, -1, random.below(DAY_MS), DAY_MS / 2]);

function randomFilter(random: SimRandom): LedgerFilter {
  const some = <T extends object>(field: T): Partial<T> => (random.below(3) === 0 ? field : {});
  const [a, b] = [randomTime(random), randomTime(random)];
  return {
    ...some({ from: Math.min(a, b) }),
    ...some({ until: Math.max(a, b) }),
    ...(random.below(2) === 0 && {
      types: random.pick([
        ["charge"],
        ["charge"],
        ["refund", "refund_out", "returned"],
        ["late_charge"],
        ["grant"],
      ]),
    }),
    ...some({ model: random.pick(MODELS) }),
    ...(random.below(4) === 0 && { apiKey: random.below(4) }),
    ...(random.below(4) === 0 && { tags: { team: `t${random.below(4)}` } }),
    ...(random.below(6) === 0 && {
      request: random.pick([`r${random.below(41)}`, `l${random.below(LINES)}`]),
    }),
  };
}

const server = await mongoServer("ledgers by filters on MongoDB");
const KINDS = ["memory", "sqlite", ...(server === null ? [] : ["mongodb"])];

describe.each(KINDS)("ledgers by filters on %s", (kind) => {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-ledger-"));
  const url = kind === "mongodb" ? newDatabase(server!) : `sqlite:${join(directory, "ledger.db")}`;
  const random = simRandom(20);
  // The stand-in for MongoDB reads whole collections.
  const rounds = kind === "mongodb" ? { totals: 100, pages: 8 } : { totals: 250, pages: 30 };
  const ROOT = 1;
  const ledgers = new Map([ROOT, 7, 8].map((id) => [id, randomLedger(random, id)]));
  let store: Store;
  beforeAll(async () => {
    store =
      kind === "memory"
        ? memoryStore({ clock: manualClock() })
        : await openStore(url, { clock: realClock() });
    for (const [id, { commits, saves }] of ledgers) {
      await store.append(commits);
      await store.save(saves);
      const { linesTo } = commits.at(-1)!;
      const newest = async () => (await store.lines({ actor: `account/${id}` }, null, 1)).lines[0]?.number;
      for (let looks = 0; (await newest()) !== linesTo && looks < LOOKS_MAX; looks++) await Bun.sleep(20);
    }
  });
  afterAll(async () => {
    await store.close();
    if (kind === "mongodb") await dropDatabase(url);
    rmSync(directory, { recursive: true });
  });

  const passing = (id: number, filter: LedgerFilter) =>
    passingLines({ ...filter, actor: `account/${id}` }, null, ledgers.get(id)!.commits.toReversed());

  test("totals are the sums of the lines that pass", async () => {
    for (let i = 0; i < rounds.totals; i++) {
      const id = random.pick([ROOT, 7, 8]);
      const filter = randomFilter(random);
      const lines = passing(id, filter);
      const totals = await ledgerTotals(store, id as AccountId, filter, { now: NOON, signal });
      const amount = lines.reduce((sum, { e }) => sum + BigInt((e as { amount: number }).amount), 0n);
      expect([id, filter, totals]).toEqual([id, filter, { count: lines.length, amount }]);
    }
  });

  test("a model that usage documents do not have apart is counted by its lines", async () => {
    const body = {
      account: 8,
      dna: ".1.",
      day: dayOf(NOON - 2 * DAY_MS),
      models: { "(other)": { requests: 1, cost: 1 } },
    };
    await store.save([
      save("account/8", 99_999, [document("usage", "8/other", 99_999, body)], { linesTo: LINES }),
    ]);
    const filter = { types: ["charge"], model: "m" };
    const totals = await ledgerTotals(store, 8 as AccountId, filter, { now: NOON, signal });
    expect(totals.count).toBe(passing(8, filter).length);
  });

  test("pages are the lines that pass, turned one by one or reached at once", async () => {
    for (let i = 0; i < rounds.pages; i++) {
      const id = 7 as AccountId;
      const filter = randomFilter(random);
      const size = random.pick([1, 7, 100, 150, 1_000]);
      const lines = passing(id, filter).map(({ at, number, e }) => ({ at, number, event: e }));
      const last = Math.ceil(lines.length / size);
      const turning = new LedgerPages(store, manualClock());
      const pages = [
        ...Array.from({ length: Math.min(last, 12) }, (_, n) => n + 1),
        last,
        last + 1,
        1,
        2,
        3,
        1,
        3,
      ];
      for (const page of pages.filter((one) => one > 0)) {
        const reached = new LedgerPages(store, manualClock());
        const wanted = {
          lines: lines.slice((page - 1) * size, page * size),
          hasMore: lines.length > page * size,
        };
        for (const one of [turning, reached]) {
          const found = await one.read(id, filter, { page, size }, signal);
          expect([filter, page, size, found] as unknown[]).toEqual([filter, page, size, wanted]);
        }
      }
      const parts = await Array.fromAsync(allLines(store, id, filter));
      expect(parts.flat() as unknown[]).toEqual(lines);
    }
  });

  test("a page follows the one that was answered before it, whatever is written meanwhile", async () => {
    const id = 9;
    const { commits, saves } = randomLedger(random, id);
    const half = Math.floor(commits.length / 2);
    const write = async (from: number, to: number) => {
      await store.append(commits.slice(from, to));
      const { seq, linesTo } = commits[to - 1]!;
      await store.save([save(`account/${id}`, seq, [], { linesTo })]);
      const newest = async () => (await store.lines({ actor: `account/${id}` }, null, 1)).lines[0]?.number;
      for (let looks = 0; (await newest()) !== linesTo && looks < LOOKS_MAX; looks++) await Bun.sleep(20);
    };
    const pages = new LedgerPages(store, manualClock());
    const read = async (page: number) =>
      (await pages.read(id as AccountId, { types: ["charge"] }, { page, size: 10 }, signal)).lines.map(
        ({ number }) => number,
      );
    expect(saves).toHaveLength(1);
    await write(0, half);
    const [first, second] = [await read(1), await read(2)];
    await write(half, commits.length);
    const third = await read(3);
    expect(third[0]!).toBeLessThan(second.at(-1)!);
    expect(await read(2)).toEqual(second);
    const newer = await read(1);
    expect(newer[0]!).toBeGreaterThan(first[0]!);
    expect((await read(2))[0]!).toBeLessThan(newer.at(-1)!);
    expect(await read(2)).not.toEqual(second);
  });
});
