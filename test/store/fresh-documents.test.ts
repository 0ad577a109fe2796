// What lists and bills read of accounts and usage is at most some time old, for one save in that time; everything else is the
// store's own.

import { describe, expect, test } from "bun:test";
import { withFreshDocuments } from "../../src/store/fresh-documents.ts";
import type { Store } from "../../src/store/store.ts";
import { manualClock, settled } from "../runtime/manual-clock.ts";
import { memoryStore } from "./memory/memory.ts";

const ACCOUNTS = { table: "accounts", where: [], order: "id" } as const;
const LOGS = { table: "logs", where: [], order: "at" } as const;
const USAGE = { table: "usage", where: [], order: "day" } as const;
const DAY = { accounts: { dna: "" }, from: "2026-01-01", to: "2026-01-01" };

/** A store that notes its reads, below the view; a save ends when the test says so, or at once. */
function rig({ saveMs = 0 } = {}) {
  const clock = manualClock();
  const noted: string[] = [];
  const noting =
    <A extends unknown[], R>(name: string, method: (...args: A) => R) =>
    (...args: A): R => {
      noted.push(name);
      return method(...args);
    };
  const inner = memoryStore({ clock });
  const store = {
    ...inner,
    find: noting("find", inner.find.bind(inner)),
    count: noting("count", inner.count.bind(inner)),
    scan: noting("scan", inner.scan.bind(inner)),
    rankAccounts: noting("rank", inner.rankAccounts.bind(inner)),
    usageTotals: noting("totals", inner.usageTotals.bind(inner)),
    usageReport: noting("report", inner.usageReport.bind(inner)),
  } as Store;
  const save = async () => {
    noted.push("save");
    if (saveMs > 0) await new Promise<void>((resolve) => clock.after(saveMs, resolve));
    noted.push("saved");
  };
  return { clock, noted, store, fresh: withFreshDocuments(store, { clock, save }) };
}

const READS: readonly [name: string, (store: Store) => unknown][] = [
  ["find", (store) => store.find(ACCOUNTS)],
  ["find", (store) => store.find(USAGE)],
  ["count", (store) => store.count(ACCOUNTS)],
  ["scan", (store) => Array.fromAsync(store.scan(ACCOUNTS))],
  ["rank", (store) => store.rankAccounts({ table: "accounts", where: [], by: "balance", month: "2026-01" })],
  ["totals", (store) => store.usageTotals({ ...DAY, by: [] })],
  ["report", (store) => store.usageReport({ ...DAY, accountFields: [] })],
];

describe("fresh documents", () => {
  test.each(READS)("are saved before a %s", async (name, read) => {
    const { noted, fresh } = rig();
    await read(fresh);
    expect(noted).toEqual(["save", "saved", name]);
  });

  test("are saved once for the reads of some time", async () => {
    const { clock, noted, fresh } = rig();
    await Promise.all(READS.map(([, read]) => read(fresh)));
    await clock.advance(1_400);
    await Promise.all(READS.map(([, read]) => read(fresh)));
    expect(noted.filter((one) => one === "save")).toHaveLength(1);
    await clock.advance(200);
    await fresh.count(ACCOUNTS);
    expect(noted.filter((one) => one === "save")).toHaveLength(2);
  });

  test("wait for a save that began lately, and for another one where it began too long ago", async () => {
    const { clock, noted, fresh } = rig({ saveMs: 4_000 });
    const reads = [fresh.count(ACCOUNTS)];
    await clock.advance(1_000);
    reads.push(fresh.count(ACCOUNTS));
    await clock.advance(2_000);
    reads.push(fresh.count(ACCOUNTS));
    await clock.advance(1_000);
    await Promise.all(reads.slice(0, 2));
    expect(noted).toEqual(["save", "saved", "save", "count", "count"]);
    await clock.advance(4_000);
    await reads[2];
    expect(noted.slice(-2)).toEqual(["saved", "count"]);
  });

  test("are not asked for by reads of other tables, by writes, and by reads of the ledger", async () => {
    const { noted, fresh } = rig();
    await fresh.find(LOGS);
    await fresh.count(LOGS);
    await Array.fromAsync(fresh.scan(LOGS));
    await fresh.readCommits("account/7", 0, 10);
    await fresh.save([]);
    await settled();
    expect(noted).not.toContain("save");
  });

  test("need no save where documents follow snapshots", () => {
    const { clock, store } = rig();
    const following = { ...store, followsSnapshots: true };
    expect(withFreshDocuments(following, { clock, save: async () => {} })).toBe(following);
  });
});
