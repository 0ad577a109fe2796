// The contract of a store as code: every store runs these rules, and a rule added here binds all of them.
// Knows nothing of any store but its interface; what only one store promises is tested beside that store.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Store } from "../../src/store/store.ts";
import { answerRules } from "./store-answers.rules.ts";
import { documentRules } from "./store-documents.rules.ts";
import { groupRules } from "./store-groups.rules.ts";
import { keyCostRules } from "./store-key-costs.rules.ts";
import { ledgerRules } from "./store-ledger.rules.ts";
import { lineRules } from "./store-lines.rules.ts";
import { moneyRules } from "./store-money.rules.ts";
import { recordRules } from "./store-records.rules.ts";
import { rowRules } from "./store-rows.rules.ts";
import { commit, document, record, save } from "./store-samples.ts";
import { totalsRules } from "./store-totals.rules.ts";

interface StoreSuite {
  /** Closes a store and opens what it kept; absent: the store keeps nothing. */
  readonly reopen?: (store: Store) => Promise<Store>;
}

/** Runs every rule of the contract, each on a store of its own. */
export function testStore(name: string, open: () => Promise<Store>, { reopen }: StoreSuite = {}): void {
  describe(name, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    ledgerRules(() => store);
    lineRules(() => store);
    keyCostRules(() => store);
    moneyRules(() => store);
    documentRules(() => store);
    rowRules(() => store);
    answerRules(() => store);
    recordRules(() => store);
    totalsRules(() => store);
    groupRules(() => store);

    test("the store's clock is in wall milliseconds and does not run backwards", async () => {
      const first = await store.now();
      expect(first).toBeGreaterThan(Date.UTC(2020, 0));
      expect(await store.now()).toBeGreaterThanOrEqual(first);
    });

    if (!reopen) return;

    test("everything is still there after closing and opening again", async () => {
      await store.append([commit("account/1", 1, { marks: ["charge:x"] })]);
      const usage = { account: 1, dna: ".", day: "2026-01-01", models: { m: { requests: 1, cost: 5 } } };
      await store.save([
        save("account/1", 1, [
          document("accounts", "1", 1, { id: 1, dna: "1" }),
          document("usage", "1/2026-01-01", 1, usage),
          document("outbox", "mail", 1, { id: "mail", state: "waiting", dueAt: 5 }),
          document("configs", "1/7", 1, { owner: 1, version: 7, at: 5, by: 1, changes: {} }),
          document("levelEvents", "1.2/3", 1, { owner: 1, level: 2, number: 3, at: 5, type: "wake" }),
        ]),
      ]);
      await store.putRecords([
        record("logs", { id: 1, action: "add_user" }),
        record("news", { id: 1, title: "new" }),
        { table: "objects", id: "1:resp", body: { id: "1:resp", account: 1, until: 5, key: 2 } },
      ]);
      await store.claim("name:ada", 1, "me", 5);
      await store.reserveIds("accounts", 20);
      await store.cas("table", 0, "v1");
      await store.keepAnswer(
        { id: "1:gateway:a", account: 1, kind: "gateway", at: 5, until: 9, body: "b" },
        1,
      );
      const before = await everything(store);
      store = await reopen(store);
      expect(await everything(store)).toEqual(before);
      expect(await store.reserveIds("accounts", 20)).toBe(21);
      expect(await store.append([commit("account/1", 1, { by: "another" })])).toEqual(["lost"]);
    });

    test("what was handed over before closing is stored", async () => {
      const answer = store.append([commit("account/1", 1)]);
      store = await reopen(store);
      expect(await answer).toEqual(["committed"]);
      expect(await store.readCommits("account/1", 0, 10)).toHaveLength(1);
    });
  });
}

const everything = async (store: Store) => ({
  commits: await store.readCommits("account/1", 0, 10),
  marked: await store.commitsByDedupId("charge:x", 10),
  snapshot: await store.loadSnapshot("account/1"),
  bodies: await store.find({ table: "accounts", where: [], order: "id" }),
  mails: await store.find({
    table: "outbox",
    where: [{ field: "dueAt", is: "<=", value: 9 }],
    order: "dueAt",
  }),
  configs: await store.find({ table: "configs", where: [], order: "version" }),
  levelEvents: await store.find({ table: "levelEvents", where: [], order: "at" }),
  logs: await store.find({ table: "logs", where: [], order: "id" }),
  news: await store.find({ table: "news", where: [], order: "id" }),
  objects: await store.find({ table: "objects", where: [], order: "until" }),
  totals: await store.usageTotals({
    accounts: { dna: "" },
    from: "2026-01-01",
    to: "2026-01-01",
    by: ["model"],
  }),
  claim: await store.findClaim("name:ada"),
  row: await store.read("table"),
  answer: await store.answer("1:gateway:a", 6),
});
