// Verification: a store that was only worked with is right, beside its server too; each kind of error is found and named.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { exactUsd, unaccounted } from "../../../src/report/verify/conservation.ts";
import { differences } from "../../../src/report/verify/findings.ts";
import type { Verified } from "../../../src/report/verify/verify.ts";
import { startTree, type Tree } from "../../cli/workload.ts";
import { dropDatabase, mongoServer, newDatabase } from "../../store/mongo-server.ts";
import { faultsIn, OF_ROWS_APART } from "../injected-faults.ts";
import { type Hand, projectLines, spoiltIn, verified, verifiedAt, verifyInjected } from "../injected-rows.ts";
import { mirror } from "../mirrored.ts";

const mongo = await mongoServer("verification of a store on MongoDB");
const home = mkdtempSync(join(tmpdir(), "arborgate-verify-"));
const sound = join(home, "sound.db");
let beside: Verified;
let tree: Tree;

const MODELS = ["gpt-4o-mini", "gpt-4o", "gpt-4.1-mini"];
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

beforeAll(async () => {
  tree = await startTree(sound);
  const { owner, blue, green, root } = tree;
  const named = (Name: string) => tree.call(blue.key, "POST", "/dashboard/keys", { Name });
  const [kept, gone, turned] = [await named("kept"), await named("gone"), await named("turned")];
  const callers = [root, owner, blue, green, ...[kept, gone, turned].map(({ secret }) => ({ key: secret }))];
  const ask = async () => {
    const output = 1 + Math.floor(Math.random() * 30);
    const stream = Math.random() < 0.5;
    const cut = stream && Math.random() < 0.2 ? " fault=cut" : "";
    const request = Math.random() < 0.2 ? { request: "ticket-7" } : {};
    const tagged = Math.random() < 0.5 ? { tags: `team=${pick(["a", "b"])},env=x` } : {};
    const content = `Do. [[output=${output}${cut}]]`;
    await tree
      .chat(pick(callers).key, content, { stream, model: pick(MODELS), ...request, ...tagged })
      .catch(() => {});
  };
  await Promise.all(Array.from({ length: 60 }, ask));
  const running = Promise.all(Array.from({ length: 60 }, ask));
  beside = await verified(sound);
  await running;
  await tree.call(blue.key, "DELETE", `/dashboard/keys/${gone.key.id}`);
  const rotated = { OverlapSeconds: 7 * 86_400 };
  const { secret } = await tree.call(blue.key, "POST", `/dashboard/keys/${turned.key.id}/rotate`, rotated);
  callers.push({ key: secret });
  tree.passTime(86_400_000);
  await Promise.all(Array.from({ length: 20 }, ask));
  await tree.chat(blue.key, "Do. [[output=3]]", { tags: "team=a" });
  await tree.user(blue.key, { Name: "small", CreditGranted: 2.000000001 });
  await tree.stop();
  await projectLines(sound);
});
afterAll(() => rmSync(home, { recursive: true }));

describe("a store that was only worked with", () => {
  test("verifies clean, with every line read and all money accounted for", async () => {
    const { findings, totals, claims, unconfirmedClaims } = await verified(sound);
    expect(findings).toEqual([]);
    expect(totals.accounts).toBe(5);
    expect(totals.lines).toBeGreaterThan(100);
    // A name and a key of each account; secrets of two keys, of a deleted one, and one that overlaps.
    expect([claims, unconfirmedClaims]).toEqual([14, 0]);
    expect(totals.spent.charged).toBeGreaterThan(0n);
    expect(unaccounted(totals)).toBe(0n);
  });

  test("verifies clean beside its running server", () => {
    expect(beside.findings).toEqual([]);
    expect(beside.totals.lines).toBeGreaterThan(8);
  });

  test("an unconfirmed claim is counted, not blamed", async () => {
    const { findings, unconfirmedClaims } = await injected(({ db }) => {
      db.run("INSERT INTO claims VALUES ('name:new', 99, 'x', 1, 0)");
    });
    expect(findings).toEqual([]);
    expect(unconfirmedClaims).toBe(1);
  });

  test("credit under way is in flight, not lost", async () => {
    // The receiver's first commit is taken away with all that came of it: its parent still owes it.
    const { findings, totals } = await injected(({ db, commits, edit }) => {
      const small = tree.green.id + 1;
      edit(
        (c) => c.actor === `account/${tree.blue.id}` && c.events.some(({ e }) => e.type === "settled"),
        (c) => {
          c.events = c.events.filter(({ e }) => e.type !== "settled");
        },
      );
      for (const table of ["commits", "marks", "snapshots", "lines", "usageParts"]) {
        db.run(`DELETE FROM ${table} WHERE actor = ?`, [`account/${small}`]);
      }
      db.run("DELETE FROM accounts WHERE id = ?", [small]);
      db.run("UPDATE claims SET confirmed = 0 WHERE account = ?", [small]);
      db.run("DELETE FROM snapshots WHERE actor = ?", [`account/${tree.blue.id}`]);
      // The sums of credit are made again.
      db.run("DELETE FROM money");
      db.run("UPDATE meta SET value = 0 WHERE key = 'lines'");
      expect(commits().length).toBeGreaterThan(0);
    });
    expect(findings).toEqual([]);
    expect(exactUsd(totals.inFlight)).toBe("2.000000001");
  });
});

const injected = (spoil: (hand: Hand) => void): Promise<Verified> => verifyInjected(sound, spoil);
const ERRORS = faultsIn(() => tree);
const blue = () => String(tree.blue.id);

describe("an error is found and named", () => {
  test.each(ERRORS)("%s: %s", async (_, rule, spoil) => {
    const { findings, findingCount } = await injected(spoil);
    expect(findings.map((finding) => finding.rule)).toContain(rule);
    expect(findingCount).toBe(findings.length);
  });
});

if (mongo !== null) {
  describe("of a store on MongoDB", () => {
    const urls: string[] = [];
    afterAll(() => Promise.all(urls.map(dropDatabase)));
    /** Spoils a copy of the sound store and verifies the same on MongoDB. */
    const verifiedThere = async (spoil: (hand: Hand) => void): Promise<Verified> => {
      const url = newDatabase(mongo);
      urls.push(url);
      const path = spoiltIn(sound, spoil);
      await mirror(path, url);
      return verifiedAt(url);
    };

    test("a sound one verifies clean", async () => {
      const [there, here] = [await verifiedThere(() => {}), await verified(sound)];
      expect(there).toEqual(here);
    });

    test("a provider key's sum of an account is compared up to its seq", async () => {
      const url = newDatabase(mongo);
      urls.push(url);
      await mirror(sound, url);
      await using client = new MongoClient(url);
      const sums = client.db().collection<{ _id: string }>("keyCosts");
      const sum = { actor: `account/${blue()}`, day: "2020-01-01", key: 1, after: 0 };
      await sums.insertOne({ _id: "right", ...sum, cost: 0, seq: 1 } as { _id: string });
      await sums.insertOne({ _id: "newer", ...sum, key: 2, cost: 5, seq: 999_999 } as { _id: string });
      expect((await verifiedAt(url)).findings).toEqual([]);
      await sums.insertOne({ _id: "wrong", ...sum, key: 3, cost: 5, seq: 1 } as { _id: string });
      const { findings } = await verifiedAt(url);
      expect(findings).toMatchObject([{ rule: "key_costs", what: "the sum is 0.000000005 USD, computed 0" }]);
    });

    test.each(ERRORS.filter(([error]) => !OF_ROWS_APART.has(error)))("%s: %s", async (_, rule, spoil) => {
      const { findings } = await verifiedThere(spoil);
      expect(findings.map((finding) => finding.rule)).toContain(rule);
    });
  });
}

describe("what it says", () => {
  test("names the place, what is there and what it should be", async () => {
    const { findings } = await injected(({ body }) =>
      body("accounts", blue(), (b) => {
        b.balance = 7;
      }),
    );
    expect(findings).toHaveLength(1);
    expect(findings[0]!.where).toStartWith(`accounts ${blue()} at #`);
    expect(findings[0]!.what).toMatch(/^balance is 7, computed \d+$/);
  });

  test("differences name the path, five at most", () => {
    expect(differences({ a: { b: 1 } }, { a: { b: 2 } })).toEqual(["a.b is 1, computed 2"]);
    expect(differences([1], [1, 2])).toEqual(["1 is absent, computed 2"]);
    expect(differences({ a: 1 }, { a: 1 })).toEqual([]);
    expect(differences(Array(9).fill(1), Array(9).fill(2))).toHaveLength(5);
  });

  test("amounts are exact, however large", () => {
    expect(exactUsd(0n)).toBe("0");
    expect(exactUsd(-1n)).toBe("-0.000000001");
    expect(exactUsd(12_345_678_901_234_567_890n)).toBe("12345678901.23456789");
  });
});
