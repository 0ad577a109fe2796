// Verification: a store that was only worked with is right, beside its server too; each kind of error is found and named.

import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Verified } from "../../src/report/verify.ts";
import { differences, type Rule } from "../../src/report/verify-findings.ts";
import { exactUsd, unaccounted } from "../../src/report/verify-totals.ts";
import { startTree, type Tree } from "../cli/workload.ts";
import { type Hand, plantedIn, type Row, verified } from "./planted.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-verify-"));
const sound = join(home, "sound.db");
let beside: Verified;
let tree: Tree;

const MODELS = ["gpt-4o-mini", "gpt-4o", "gpt-4.1-mini"];
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!;

beforeAll(async () => {
  tree = await startTree(sound);
  const { owner, blue, green, root } = tree;
  const callers = [root, owner, blue, green];
  const ask = async () => {
    const output = 1 + Math.floor(Math.random() * 30);
    const stream = Math.random() < 0.5;
    const cut = stream && Math.random() < 0.2 ? " fault=cut" : "";
    const request = Math.random() < 0.2 ? { request: "ticket-7" } : {};
    const content = `Do. [[output=${output}${cut}]]`;
    await tree.chat(pick(callers).key, content, { stream, model: pick(MODELS), ...request }).catch(() => {});
  };
  await Promise.all(Array.from({ length: 60 }, ask));
  const running = Promise.all(Array.from({ length: 60 }, ask));
  beside = await verified(sound);
  await running;
  tree.passTime(86_400_000);
  await Promise.all(Array.from({ length: 20 }, ask));
  await tree.user(blue.key, { Name: "small", CreditGranted: 2.000000001 });
  await tree.stop();
});
afterAll(() => rmSync(home, { recursive: true }));

describe("a store that was only worked with", () => {
  test("verifies clean, with every line read and all money accounted for", async () => {
    const { findings, totals, claims, unconfirmedClaims } = await verified(sound);
    expect(findings).toEqual([]);
    expect(totals.accounts).toBe(5);
    expect(totals.lines).toBeGreaterThan(100);
    expect([claims, unconfirmedClaims]).toEqual([10, 0]);
    expect(totals.spent.charged).toBeGreaterThan(0n);
    expect(unaccounted(totals)).toBe(0n);
  });

  test("verifies clean beside its running server", () => {
    expect(beside.findings).toEqual([]);
    expect(beside.totals.lines).toBeGreaterThan(8);
  });

  test("an unconfirmed claim is counted, not blamed", async () => {
    const { findings, unconfirmedClaims } = await planted(({ db }) => {
      db.run("INSERT INTO claims VALUES ('name:new', 99, 'x', 1, 0)");
    });
    expect(findings).toEqual([]);
    expect(unconfirmedClaims).toBe(1);
  });

  test("credit under way is in flight, not lost", async () => {
    // The receiver's first commit is taken away with all that came of it: its parent still owes it.
    const { findings, totals } = await planted(({ db, commits, edit }) => {
      const small = tree.green.id + 1;
      edit(
        (c) => c.actor === `account/${tree.blue.id}` && c.events.some(({ e }) => e.type === "settled"),
        (c) => {
          c.events = c.events.filter(({ e }) => e.type !== "settled");
        },
      );
      for (const table of ["commits", "marks", "snapshots"]) {
        db.run(`DELETE FROM ${table} WHERE actor = ?`, [`account/${small}`]);
      }
      db.run("DELETE FROM accounts WHERE id = ?", [small]);
      db.run("UPDATE claims SET confirmed = 0 WHERE account = ?", [small]);
      db.run("DELETE FROM snapshots WHERE actor = ?", [`account/${tree.blue.id}`]);
      expect(commits().length).toBeGreaterThan(0);
    });
    expect(findings).toEqual([]);
    expect(exactUsd(totals.inFlight)).toBe("2.000000001");
  });
});

const planted = (spoil: (hand: Hand) => void): Promise<Verified> => plantedIn(sound, spoil);

const charges = (commit: Row): boolean =>
  commit.actor === `account/${tree.blue.id}` &&
  commit.seq > 2 &&
  commit.events.some(({ e }) => e.type === "charge");
const chargeIn = (commit: Row) => commit.events.find(({ e }) => e.type === "charge")!.e;
const blue = () => String(tree.blue.id);
const bump = (object: Record<string, number>, key: string) => {
  object[key] = object[key]! + 1;
};

const usageKey = (db: Database): string =>
  db
    .query<{ key: string }, [number]>("SELECT key FROM usage WHERE account = ? ORDER BY day")
    .get(tree.blue.id)!.key;

const ERRORS: [error: string, rule: Rule, spoil: (hand: Hand) => void][] = [
  [
    "a balance in an account's document",
    "account_document",
    ({ body }) => body("accounts", blue(), (b) => bump(b, "balance")),
  ],
  [
    "a sum in an account's document",
    "account_document",
    ({ body }) => body("accounts", blue(), (b) => bump(b, "creditUsed")),
  ],
  [
    "an entry of credit in an account's document",
    "account_document",
    ({ body }) => body("accounts", blue(), (b) => bump(b.entries[0], "expiresAt")),
  ],
  [
    "a field of a profile in a document",
    "account_document",
    ({ body }) => body("accounts", blue(), (b) => bump(b, "gear")),
  ],
  [
    "an account's document that is gone",
    "account_document",
    ({ db }) => db.run("DELETE FROM accounts WHERE key = ?", [blue()]),
  ],
  [
    "a document of an account that the ledger does not have",
    "account_document",
    ({ db }) => db.run("INSERT INTO accounts (key, seq, id, body) VALUES ('99', 1, 99, '{}')"),
  ],
  [
    "a document ahead of its ledger",
    "account_document",
    ({ db }) => db.run("UPDATE accounts SET seq = seq + 1000 WHERE key = ?", [blue()]),
  ],
  [
    "a day of usage off by one token",
    "usage_document",
    ({ db, body }) =>
      body("usage", usageKey(db), (b) => bump(Object.values<Record<string, number>>(b.models)[0]!, "prompt")),
  ],
  [
    "a day of usage with a model too many",
    "usage_document",
    ({ db, body }) =>
      body("usage", usageKey(db), (b) => {
        b.models.other = { requests: 1 };
      }),
  ],
  [
    "a row that bills add up, off by one nano-dollar",
    "usage_sums",
    ({ db }) => db.run("UPDATE usageSums SET cost = cost + 1 WHERE account = ?", [tree.blue.id]),
  ],
  [
    "a row that bills add up in another branch",
    "usage_sums",
    ({ db }) => db.run("UPDATE usageSums SET dna = '.1.' WHERE account = ?", [tree.blue.id]),
  ],
  [
    "a row that bills lack",
    "usage_sums",
    ({ db }) => db.run("DELETE FROM usageSums WHERE account = ?", [tree.blue.id]),
  ],
  [
    "a row that bills add up without a document",
    "usage_sums",
    ({ db }) => db.run("INSERT INTO usageSums VALUES ('2020-01-01', '.1.', 1, 'm', 1, 1, 1, 0, 0, 0, 1)"),
  ],
  [
    "a day of usage that is gone",
    "usage_document",
    ({ db }) => db.run("DELETE FROM usage WHERE account = ?", [tree.blue.id]),
  ],
  [
    "a day of usage that trails its snapshot",
    "usage_document",
    ({ db }) => {
      // As old as its account's first commit: nothing was charged then, so its sums are empty, and it lacks the rest.
      db.run("UPDATE usage SET seq = 1, body = json_set(body, '$.models', json('{}')) WHERE key = ?", [
        usageKey(db),
      ]);
    },
  ],
  [
    "a snapshot's state",
    "snapshot",
    ({ db }) =>
      db.run("UPDATE snapshots SET state = json_set(state, '$.creditUsed', 1) WHERE actor = ?", [
        `account/${blue()}`,
      ]),
  ],
  [
    "a snapshot's state of another kind of actor",
    "snapshot",
    ({ db }) =>
      db.run("UPDATE snapshots SET state = json_set(state, '$.version', 77) WHERE actor LIKE 'key-pool/%'"),
  ],
  [
    "a snapshot ahead of its ledger",
    "snapshot",
    ({ db }) => db.run("UPDATE snapshots SET seq = seq + 9 WHERE actor = ?", [`account/${blue()}`]),
  ],
  [
    "a changed amount of a line",
    "running_balance",
    ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "amount")),
  ],
  [
    "a changed balance of a line",
    "running_balance",
    ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "balanceAfter")),
  ],
  [
    "a changed amount is no cost any more",
    "charge",
    ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "amount")),
  ],
  [
    "a recomputed price that differs",
    "charge",
    ({ edit }) => edit(charges, (c) => (chargeIn(c).price.multipliers.rates = 2)),
  ],
  [
    "price numbers that cannot be computed",
    "charge",
    ({ edit }) => edit(charges, (c) => (chargeIn(c).price = {})),
  ],
  [
    "prompt tokens that are not the usage's",
    "charge",
    ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "prompt")),
  ],
  [
    "completion tokens that are not the usage's",
    "charge",
    ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "completion")),
  ],
  [
    "a usage that the cost is not of",
    "charge",
    ({ edit }) => edit(charges, (c) => (chargeIn(c).usage.outText += 1_000)),
  ],
  [
    "a missing commit",
    "sequence",
    ({ db, commits }) => db.run("DELETE FROM commits WHERE row = ?", [commits().find(charges)!.row]),
  ],
  [
    "a charge in two commits",
    "charge_twice",
    ({ db, commits }) => {
      const { actor, events } = commits().find(charges)!;
      const { seq, linesTo } = commits().findLast((c) => c.actor === actor)!;
      const { id } = events.find(({ e }) => e.type === "charge")!.e;
      db.run(
        `INSERT INTO commits (actor, seq, shard, epoch, at, linesTo, lines, v, "by", done, marks, events)
         SELECT actor, ?, shard, 9, at + 1e9, ?, lines, v, "by", '[]', marks, events FROM commits WHERE row = ?`,
        [seq + 1, linesTo + 1, commits().find(charges)!.row],
      );
      db.run("INSERT INTO marks VALUES (?, ?, ?)", [id, actor, seq + 1]);
    },
  ],
  [
    "a charge twice in one commit",
    "charge_twice",
    ({ edit }) => edit(charges, (c) => c.events.push(c.events.find(({ e }) => e.type === "charge")!)),
  ],
  [
    "a charge of two accounts",
    "charge_twice",
    ({ db, commits }) => {
      const { id } = chargeIn(commits().find(charges)!);
      db.run("INSERT INTO marks VALUES (?, ?, 2)", [id, `account/${tree.green.id}`]);
    },
  ],
  [
    "a mark that cannot be found",
    "mark",
    ({ db, commits }) => db.run("DELETE FROM marks WHERE mark = ?", [chargeIn(commits().find(charges)!).id]),
  ],
  ["a mark that the commit does not carry", "mark", ({ edit }) => edit(charges, (c) => (c.marks = []))],
  [
    "a mark of a commit that is not there",
    "mark",
    ({ db }) => db.run("INSERT INTO marks VALUES ('x', 'account/1', 999)"),
  ],
  ["an epoch that falls", "epoch", ({ edit }) => edit(charges, (c) => (c.epoch = 0))],
  ["a time that falls", "time", ({ edit }) => edit(charges, (c) => (c.events[0]!.at = 1))],
  [
    "a number of lines that is wrong",
    "line_numbers",
    ({ edit }) => edit(charges, (c) => bump(c as never, "linesTo")),
  ],
  ["a line that is not marked as one", "line_numbers", ({ edit }) => edit(charges, (c) => (c.lines = 0))],
  [
    "a transfer that its receiver got otherwise",
    "transfer",
    ({ edit }) =>
      edit(
        (c) => c.actor === `account/${blue()}`,
        (c) => {
          const line = c.events.find(({ e }) => e.type === "transfer_in")!.e;
          line.amount += 5;
          line.balanceAfter += 5;
        },
      ),
  ],
  [
    "a transfer that was never taken from its giver",
    "transfer",
    ({ edit }) =>
      edit(
        (c) => c.events.some(({ e }) => e.type === "transfer_out"),
        (c) => {
          c.events = c.events.filter(({ e }) => e.type !== "transfer_out");
        },
      ),
  ],
  [
    "a transfer that nobody gave",
    "transfer",
    ({ edit }) =>
      edit(charges, (c) => {
        const amount = 1_000;
        const { balanceAfter } = chargeIn(c);
        const e = {
          type: "refund",
          id: "nobody",
          from: 2,
          amount,
          balanceAfter: balanceAfter + amount,
          expiresAt: 1,
        };
        c.events.push({ at: c.at, line: true, e });
      }),
  ],
  [
    "money from nowhere",
    "conservation",
    ({ commits, edit }) => {
      const last = commits().findLast((c) => c.actor === `account/${blue()}` && c.lines > 0)!;
      edit(
        (c) => c.row === last.row,
        (c) => {
          const balanceAfter = c.events.findLast(({ line }) => line)!.e.balanceAfter + 5;
          const e = { type: "refund", id: "nobody", from: 2, amount: 5, balanceAfter, expiresAt: c.at + 1 };
          c.events.push({ at: c.at, line: true, e });
          bump(c as never, "lines");
          bump(c as never, "linesTo");
        },
      );
    },
  ],
  [
    "credit minted and never given",
    "conservation",
    ({ edit }) =>
      edit(
        (c) => c.events.some(({ e }) => e.type === "minted"),
        (c) => bump(c.events.find(({ e }) => e.type === "minted")!.e, "amount"),
      ),
  ],
  [
    "an event that the actor refuses to replay",
    "replay",
    ({ edit }) =>
      edit(
        (c) => c.actor === "owner/2",
        (c) => bump(c.events[0]!.e, "version"),
      ),
  ],
  [
    "an actor of no kind",
    "replay",
    ({ db }) => db.run("UPDATE commits SET actor = 'ghost/1' WHERE actor = 'owner/2'"),
  ],
  [
    "a claim without an account",
    "claim",
    ({ db }) => db.run("INSERT INTO claims VALUES ('name:nobody', 99, 'x', 1, 1)"),
  ],
  [
    "a claim of a name that the account does not have",
    "claim",
    ({ db }) => db.run("INSERT INTO claims VALUES ('name:alias', 2, 'x', 1, 1)"),
  ],
  ["an account without a claim", "claim", ({ db }) => db.run("DELETE FROM claims WHERE key = 'name:blue'")],
  [
    "a key that is claimed for another",
    "claim",
    ({ db }) =>
      db.run("UPDATE claims SET account = 2 WHERE account = ? AND key LIKE 'key:%'", [tree.blue.id]),
  ],
];

describe("an error is found and named", () => {
  test.each(ERRORS)("%s: %s", async (_, rule, spoil) => {
    const { findings, findingCount } = await planted(spoil);
    expect(findings.map((finding) => finding.rule)).toContain(rule);
    expect(findingCount).toBe(findings.length);
  });
});

describe("what it says", () => {
  test("names the place, what is there and what it should be", async () => {
    const { findings } = await planted(({ body }) =>
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
