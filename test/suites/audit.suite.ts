// The contract of an audit as code: what it answers of a store at rest, whichever store it is, and that opening it makes
// nothing. What verification makes of it is tested there (test/report).

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { AuditView } from "../../src/store/audit.ts";
import { lineRows } from "../../src/store/line-rows.ts";
import { openAudit } from "../../src/store/open.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import { document, commit as sample, save } from "./store-samples.ts";

interface Audited {
  readonly url: string;
  readonly store: Store;
}

const usage = (cost: number) => ({
  account: 1,
  dna: ".",
  day: "2026-01-01",
  models: { m: { requests: 1, cost }, n: { requests: 2 } },
});

/** Commits carry the time at which they are made, as those of a service do. */
const commit = (actor: string, seq: number, over: Partial<Commit> = {}): Commit =>
  sample(actor, seq, { at: Date.now(), ...over });

/** Looks, 20 ms apart, until lines are projected. */
const LOOKS_MAX = 500;

const actorOf = (account: number) => `account/${account}`;
const NOTHING = {
  commits: 0,
  marks: 0,
  snapshots: 0,
  accounts: 0,
  usage: 0,
  usageSums: 0,
  lineRows: 0,
  usageParts: 0,
  moneyRows: 0,
};

export function testAudit(name: string, open: () => Promise<Audited>): void {
  describe(`the audit of ${name}`, () => {
    let store: Store;
    let url: string;
    let audit: AuditView;

    beforeEach(async () => {
      ({ store, url } = await open());
      await store.append([
        ...[1, 2, 3].map((seq) => commit("account/1", seq, { marks: [`mark-${seq}`] })),
        commit("account/2", 1, { marks: ["mark-2"] }),
        commit("level/1", 1),
      ]);
      await store.save([
        save("account/1", 2, [
          document("accounts", "1", 2, { id: 1 }),
          document("usage", "1/2026-01-01", 1, usage(2 ** 52)),
        ]),
      ]);
      await store.claim("name:a", 1, "me", 5);
      await store.confirm("name:a", "me");
      await store.claim("name:b", 2, "me", 6);
      audit = await openAudit(url);
    });
    afterEach(async () => {
      await audit.close();
      await store.close();
    });

    test("lists actors in order, page by page", async () => {
      expect(await audit.listActors("", "", 10)).toEqual(["account/1", "account/2", "level/1"]);
      expect(await audit.listActors("account/", "account/1", 10)).toEqual(["account/2"]);
      expect(await audit.listActors("", "", 1)).toEqual(["account/1"]);
    });

    test("reads the whole ledger of an actor", async () => {
      expect((await audit.readCommits("account/1", 1, 10)).map(({ seq }) => seq)).toEqual([2, 3]);
      expect((await audit.readCommits("account/1", 0, 2)).map(({ seq }) => seq)).toEqual([1, 2]);
    });

    test("lists what was derived, each with its seq", async () => {
      const { snapshot, documents, newer } = await audit.derivedOf("account/1", 1);
      expect(snapshot?.seq).toBe(2);
      expect(documents).toEqual([
        { table: "usage", id: "1/2026-01-01", seq: 1 },
        { table: "accounts", id: "1", seq: 2 },
      ]);
      expect(newer).toEqual([]);
      expect(await audit.derivedOf("level/1", null)).toMatchObject({
        ...{ snapshot: null, documents: [], newer: [] },
      });
    });

    test("lists the projected lines of an actor, and up to which line they are all there", async () => {
      const found = () => store.lines({ actor: "account/1" }, null, 9);
      for (let looks = 0; (await found()).lines.length < 2 && looks < LOOKS_MAX; looks++) await Bun.sleep(20);
      await audit.close();
      audit = await openAudit(url);
      const { projectedLines } = await audit.derivedOf("account/1", 1);
      expect(projectedLines).toBeGreaterThanOrEqual(2);
      const wanted = (await audit.readCommits("account/1", 0, projectedLines)).flatMap(lineRows);
      expect(await audit.lines("account/1", null, 9)).toEqual(wanted);
      expect(await audit.lines("account/1", wanted[0]!, 1)).toEqual([wanted[1]!]);
      expect(await audit.lines("account/1", wanted.at(-1)!, 9)).toEqual([]);
    });

    test("gives a document with what bills add up for it", async () => {
      const found = await audit.document({ table: "usage", id: "1/2026-01-01", seq: 1 });
      expect(found?.body).toEqual(usage(2 ** 52));
      const row = { day: "2026-01-01", dna: ".", account: 1 };
      expect(found?.sums).toEqual([
        { ...row, model: "m", sums: [1, 0, 0, 0, 0, 0, 2 ** 52] },
        { ...row, model: "n", sums: [2, 0, 0, 0, 0, 0, 0] },
      ]);
      expect(await audit.document({ table: "accounts", id: "1", seq: 2 })).toEqual({
        body: { id: 1 },
        sums: [],
        figures: { account: 1, balance: 0, month: "", monthCost: 0 },
      });
    });

    test("counts, and finds what belongs to nothing", async () => {
      expect(await audit.counts()).toMatchObject({ commits: 5, claims: 2, unconfirmed: 1 });
      const actors = ["account/1", "account/2", "level/1"];
      const rows = await Promise.all(actors.map((actor) => audit.lines(actor, null, 9)));
      const lineRows = rows.flat().length;
      const sums = await Promise.all(actors.map((actor) => audit.derivedOf(actor, null)));
      const moneyRows = sums.filter(({ money }) => money !== null).length;
      const projected = { lineRows, usageParts: 0, moneyRows };
      const derived = { snapshots: 1, accounts: 1, usage: 1, usageSums: 2, ...projected };
      const met = { commits: 5, marks: 4, ...derived };
      expect(await audit.strays(met, actorOf)).toEqual(NOTHING);
      await store.save([
        save("account/9", 1, [
          document("accounts", "9", 1, { id: 9 }),
          document("usage", "9/2026-01-01", 1, { ...usage(1), account: 9 }),
        ]),
      ]);
      await audit.close();
      audit = await openAudit(url);
      const strays = await audit.strays({ ...met, commits: 4 }, actorOf);
      expect(strays).toMatchObject({ commits: 1, snapshots: 1, accounts: 1, usage: 1 });
    });

    test("knows where marks stand", async () => {
      expect(await audit.holders("mark-2", 10)).toEqual([
        { mark: "mark-2", actor: "account/1", seq: 2 },
        { mark: "mark-2", actor: "account/2", seq: 1 },
      ]);
      expect(await audit.holders("mark-2", 1)).toHaveLength(1);
      expect((await audit.marked("mark-2", 10)).map(({ actor, seq }) => [actor, seq])).toEqual([
        ["account/1", 2],
        ["account/2", 1],
      ]);
      expect(await audit.repeated(["mark-1", "mark-2", "mark-9"])).toEqual(["mark-2"]);
      expect(await audit.missing("account/1", [{ mark: "mark-1", seq: 1 }])).toEqual([]);
    });

    test("lists claims, and asks for one", async () => {
      expect((await audit.claims("", 10)).map(({ key, confirmed }) => [key, confirmed])).toEqual([
        ["name:a", true],
        ["name:b", false],
      ]);
      expect(await audit.claims("name:a", 10)).toHaveLength(1);
      expect((await audit.findClaim("name:a"))?.account).toBe(1);
      expect(await audit.findClaim("name:c")).toBeNull();
    });

    test("stays at its moment while others write", async () => {
      await store.append([commit("account/1", 4, { marks: ["mark-1"] }), commit("account/3", 1)]);
      expect(await audit.readCommits("account/1", 0, 10)).toHaveLength(3);
      expect(await audit.listActors("", "", 10)).toHaveLength(3);
      expect(await audit.repeated(["mark-1"])).toEqual([]);
      expect(await audit.holders("mark-1", 10)).toHaveLength(1);
      expect((await audit.counts()).commits).toBe(5);
    });

    test("has nothing to compare of what was derived from what came later", async () => {
      await store.append([commit("account/1", 4)]);
      const bodies = [
        document("accounts", "1", 4, { id: 1, level: 2 }),
        document("usage", "1/2026-01-01", 4, usage(9)),
      ];
      const key = (await audit.derivedOf("account/1", 1)).documents.at(-1)!;
      await store.save([save("account/1", 4, bodies)]);
      const { snapshot, documents, newer } = await audit.derivedOf("account/1", 1);
      // As of the moment, or separately.
      for (const { seq } of [...documents, ...(snapshot === null ? [] : [snapshot])])
        expect(seq).toBeLessThan(4);
      expect(documents.length + newer.length).toBe(2);
      const body = (await audit.document(key))?.body ?? { id: 1 };
      expect(body).toEqual({ id: 1 });
    });

    test("what no commit stands for is shown, not taken for newer", async () => {
      await store.save([save("account/1", 40, [document("accounts", "1", 40, { id: 1 })])]);
      await audit.close();
      audit = await openAudit(url);
      const { snapshot, documents, newer } = await audit.derivedOf("account/1", 1);
      expect([snapshot?.seq, documents.at(-1)?.seq, newer]).toEqual([40, 40, []]);
    });
  });
}
