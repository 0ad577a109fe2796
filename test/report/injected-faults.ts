// What can be wrong with a store, one fault for each, and the rule that names it. They are injected into a sound store by
// hand: of two accounts of a tree, the one that this is about has charges, a day of usage and a name, "blue".

import type { Database } from "bun:sqlite";
import type { Rule } from "../../src/report/verify/findings.ts";
import type { Hand, Row } from "./injected-rows.ts";

interface About {
  readonly blue: { readonly id: number };
  readonly green: { readonly id: number };
}

export type InjectedFault = readonly [error: string, rule: Rule, spoil: (hand: Hand) => void];

const chargeIn = (commit: Row) => commit.events.find(({ e }) => e.type === "charge")!.e;
const bump = (object: Record<string, number>, key: string) => {
  object[key] = object[key]! + 1;
};

/** `tree` is asked when a fault is injected. */
export function faultsIn(tree: () => About): readonly InjectedFault[] {
  const charges = (commit: Row): boolean =>
    commit.actor === `account/${tree().blue.id}` &&
    commit.seq > 2 &&
    commit.events.some(({ e }) => e.type === "charge");
  const blue = () => String(tree().blue.id);

  const usageKey = (db: Database): string =>
    db
      .query<{ key: string }, [number]>("SELECT key FROM usage WHERE account = ? ORDER BY day")
      .get(tree().blue.id)!.key;

  const faults: Partial<Record<Rule, Readonly<Record<string, InjectedFault[2]>>>> = {
    account_document: {
      "a balance in an account's document": ({ body }) => body("accounts", blue(), (b) => bump(b, "balance")),
      "a sum in an account's document": ({ body }) => body("accounts", blue(), (b) => bump(b, "creditUsed")),
      "an entry of credit in an account's document": ({ body }) =>
        body("accounts", blue(), (b) => bump(b.entries[0], "expiresAt")),
      "a field of a profile in a document": ({ body }) => body("accounts", blue(), (b) => bump(b, "gear")),
      "an account's document that is gone": ({ db }) =>
        db.run("DELETE FROM accounts WHERE key = ?", [blue()]),
      "a document of an account that the ledger does not have": ({ db }) =>
        db.run("INSERT INTO accounts (key, seq, id, body) VALUES ('99', 1, 99, '{}')"),
      "a document ahead of its ledger": ({ db }) =>
        db.run("UPDATE accounts SET seq = seq + 1000 WHERE key = ?", [blue()]),
    },
    usage_document: {
      "a day of usage off by one token": ({ db, body }) =>
        body("usage", usageKey(db), (b) =>
          bump(Object.values<Record<string, number>>(b.models)[0]!, "prompt"),
        ),
      "a day of usage with a model too many": ({ db, body }) =>
        body("usage", usageKey(db), (b) => {
          b.models.other = { requests: 1 };
        }),
      "a day of usage that is gone": ({ db }) =>
        db.run("DELETE FROM usage WHERE account = ?", [tree().blue.id]),
      "a day of usage that trails its snapshot": ({ db }) => {
        // As old as its account's first commit: nothing was charged then, so its sums are empty, and it lacks the rest.
        db.run("UPDATE usage SET seq = 1, body = json_set(body, '$.models', json('{}')) WHERE key = ?", [
          usageKey(db),
        ]);
      },
    },
    usage_sums: {
      "a row that bills add up, off by one nano-dollar": ({ db }) =>
        db.run("UPDATE usageSums SET cost = cost + 1 WHERE account = ?", [tree().blue.id]),
      "a row that bills add up in another branch": ({ db }) =>
        db.run("UPDATE usageSums SET dna = '.1.' WHERE account = ?", [tree().blue.id]),
      "a row that bills lack": ({ db }) =>
        db.run("DELETE FROM usageSums WHERE account = ?", [tree().blue.id]),
      "a row that bills add up without a document": ({ db }) =>
        db.run("INSERT INTO usageSums VALUES ('2020-01-01', '.1.', 1, 'm', 1, 1, 1, 0, 0, 0, 1)"),
    },
    line_projection: {
      "a line that filters find by another model": ({ db }) =>
        db.run("UPDATE lines SET model = 'x' WHERE type = 'charge' AND actor = ?", [`account/${blue()}`]),
      "a line that filters find at another time": ({ db }) =>
        db.run("UPDATE lines SET at = at + 1 WHERE type = 'charge' AND actor = ?", [`account/${blue()}`]),
      "a line that filters find with tags": ({ db }) =>
        db.run("UPDATE lines SET tags = ',a=b,' WHERE actor = ?", [`account/${blue()}`]),
      "lines that filters do not find": ({ db }) =>
        db.run("DELETE FROM lines WHERE actor = ?", [`account/${blue()}`]),
      "a line that filters find beyond the ledger's end": ({ db }) =>
        db.run("INSERT INTO lines VALUES (?, 9000000000000, 9999, 9999, 'charge', 'm', 0, NULL, -1)", [
          `account/${blue()}`,
        ]),
      "a line that filters find, of an account that is not there": ({ db }) =>
        db.run("INSERT INTO lines VALUES ('account/777', 1, 1, 1, 'charge', 'm', 0, NULL, -1)"),
    },
    usage_parts: {
      "a day of a tag, off by one nano-dollar": ({ db }) =>
        db.run("UPDATE usageParts SET cost = cost + 1 WHERE period LIKE 'D%' AND actor = ?", [
          `account/${blue()}`,
        ]),
      "an hour of a model, off by one request": ({ db }) =>
        db.run(
          `UPDATE usageParts SET requests = requests + 1
           WHERE actor = ?1 AND kind = 0 AND period = (SELECT max(period) FROM usageParts WHERE actor = ?1)`,
          [`account/${blue()}`],
        ),
      "a tag that is gone": ({ db }) =>
        db.run("DELETE FROM usageParts WHERE kind = 2 AND period LIKE 'D%' AND actor = ?", [
          `account/${blue()}`,
        ]),
      "another value of a tag": ({ db }) =>
        db.run("UPDATE usageParts SET value = 'z' WHERE value = 'a' AND actor = ?", [`account/${blue()}`]),
      "a part of usage of a day without any": ({ db }) =>
        db.run("INSERT INTO usageParts VALUES ('D2020-01-01', 2, ?, 'a', 'b', NULL, 1, 1, 1, 0, 0, 0, 1)", [
          `account/${blue()}`,
        ]),
      "a part of usage of an account that is not there": ({ db }) =>
        db.run(
          "INSERT INTO usageParts VALUES ('D2020-01-01', 2, 'account/777', 'a', 'b', NULL, 1, 1, 1, 0, 0, 0, 1)",
        ),
    },
    key_costs: {
      "a provider key's sum, off by one nano-dollar": ({ db }) =>
        db.run("UPDATE keyCosts SET cost = cost + 1"),
      "a sum of a provider key that answered nothing": ({ db }) =>
        db.run("INSERT INTO keyCosts SELECT max(day), 777, 5 FROM keyCosts"),
    },
    level_history: {
      "a row of what did not happen to a key": ({ db }) =>
        db.run(
          `INSERT INTO levelEvents SELECT substr(actor, 7) || '/5', 1, 2, 5,
             json_object('owner', 2, 'level', 1, 'number', 5, 'at', 5, 'type', 'wake', 'key', 1, 'reason', 'woken')
           FROM commits WHERE actor LIKE 'level/%' LIMIT 1`,
        ),
      "rows that a snapshot covers, and are not there": ({ db, edit }) => {
        const e = { type: "slept", key: 1, until: 5, sleepTimes: 1, reason: "timeout" };
        edit(
          ({ actor, seq }) => actor.startsWith("level/") && seq === 1,
          (c) => c.events.push({ at: c.at, line: false, e }),
        );
        db.run("UPDATE snapshots SET seq = 1 WHERE actor LIKE 'level/%'");
      },
    },
    money_sums: {
      "sums of credit, off by one nano-dollar": ({ db }) =>
        db.run("UPDATE money SET sums = json_set(sums, '$[1]', (sums->>'$[1]') + 1) WHERE actor = ?", [
          `account/${blue()}`,
        ]),
      "sums of credit that are missing": ({ db }) =>
        db.run("DELETE FROM money WHERE actor = ?", [`account/${blue()}`]),
      "sums of credit of before": ({ db }) =>
        db.run("UPDATE money SET seq = 1 WHERE actor = ?", [`account/${blue()}`]),
      "sums of credit beyond the ledger's end": ({ db }) =>
        db.run("UPDATE money SET seq = 9999 WHERE actor = ?", [`account/${blue()}`]),
      "sums of credit of an account that is not there": ({ db }) =>
        db.run("INSERT INTO money VALUES ('account/777', 1, '[2,0,null,[],[]]')"),
    },
    snapshot: {
      "a snapshot's state": ({ db }) =>
        db.run("UPDATE snapshots SET state = json_set(state, '$.creditUsed', 1) WHERE actor = ?", [
          `account/${blue()}`,
        ]),
      "a snapshot's state of another kind of actor": ({ db }) =>
        db.run("UPDATE snapshots SET state = json_set(state, '$.version', 77) WHERE actor LIKE 'key-pool/%'"),
      "a snapshot ahead of its ledger": ({ db }) =>
        db.run("UPDATE snapshots SET seq = seq + 9 WHERE actor = ?", [`account/${blue()}`]),
    },
    running_balance: {
      "a changed amount of a line": ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "amount")),
      "a changed balance of a line": ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "balanceAfter")),
    },
    charge: {
      "a changed amount is no cost any more": ({ edit }) => edit(charges, (c) => bump(chargeIn(c), "amount")),
      "a recomputed price that differs": ({ edit }) =>
        edit(charges, (c) => (chargeIn(c).price.multipliers.rates = 2)),
      "price numbers that cannot be computed": ({ edit }) => edit(charges, (c) => (chargeIn(c).price = {})),
      "prompt tokens that are not the usage's": ({ edit }) =>
        edit(charges, (c) => bump(chargeIn(c), "prompt")),
      "completion tokens that are not the usage's": ({ edit }) =>
        edit(charges, (c) => bump(chargeIn(c), "completion")),
      "a usage that the cost is not of": ({ edit }) =>
        edit(charges, (c) => (chargeIn(c).usage.outText += 1_000)),
    },
    sequence: {
      "a missing commit": ({ db, commits }) =>
        db.run("DELETE FROM commits WHERE row = ?", [commits().find(charges)!.row]),
    },
    charge_twice: {
      "a charge in two commits": ({ db, commits }) => {
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
      "a charge twice in one commit": ({ edit }) =>
        edit(charges, (c) => c.events.push(c.events.find(({ e }) => e.type === "charge")!)),
      "a charge of two accounts": ({ db, commits }) => {
        const { id } = chargeIn(commits().find(charges)!);
        db.run("INSERT INTO marks VALUES (?, ?, 2)", [id, `account/${tree().green.id}`]);
      },
    },
    mark: {
      "a mark that cannot be found": ({ db, commits }) =>
        db.run("DELETE FROM marks WHERE mark = ?", [chargeIn(commits().find(charges)!).id]),
      "a mark that the commit does not carry": ({ edit }) => edit(charges, (c) => (c.marks = [])),
      "a mark of a commit that is not there": ({ db }) =>
        db.run("INSERT INTO marks VALUES ('x', 'account/1', 999)"),
    },
    epoch: { "an epoch that falls": ({ edit }) => edit(charges, (c) => (c.epoch = 0)) },
    time: { "a time that falls": ({ edit }) => edit(charges, (c) => (c.events[0]!.at = 1)) },
    line_numbers: {
      "a number of lines that is wrong": ({ edit }) => edit(charges, (c) => bump(c as never, "linesTo")),
      "a line that is not marked as one": ({ edit }) => edit(charges, (c) => (c.lines = 0)),
    },
    transfer: {
      "a transfer that its receiver got otherwise": ({ edit }) =>
        edit(
          (c) => c.actor === `account/${blue()}`,
          (c) => {
            const line = c.events.find(({ e }) => e.type === "transfer_in")!.e;
            line.amount += 5;
            line.balanceAfter += 5;
          },
        ),
      "a transfer that was never taken from its giver": ({ edit }) =>
        edit(
          (c) => c.events.some(({ e }) => e.type === "transfer_out"),
          (c) => {
            c.events = c.events.filter(({ e }) => e.type !== "transfer_out");
          },
        ),
      "a transfer that nobody gave": ({ edit }) =>
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
    },
    conservation: {
      "money from nowhere": ({ commits, edit }) => {
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
      "credit minted and never given": ({ edit }) =>
        edit(
          (c) => c.events.some(({ e }) => e.type === "minted"),
          (c) => bump(c.events.find(({ e }) => e.type === "minted")!.e, "amount"),
        ),
    },
    replay: {
      "an event that the actor refuses to replay": ({ edit }) =>
        edit(
          (c) => c.actor === "owner/2",
          (c) => bump(c.events[0]!.e, "version"),
        ),
      "an actor of no kind": ({ db }) =>
        db.run("UPDATE commits SET actor = 'ghost/1' WHERE actor = 'owner/2'"),
    },
    api_key: {
      "a charge of a key that never existed": ({ edit }) =>
        edit(charges, (c) => Object.assign(chargeIn(c), { apiKey: 99, apiKeyName: "none" })),
      "a key that is added out of order": ({ edit }) =>
        edit(
          (c) => c.events.some(({ e }) => e.type === "api_key_added"),
          (c) => bump(c.events.find(({ e }) => e.type === "api_key_added")!.e.key, "id"),
        ),
    },
    claim: {
      "a secret of a named key without a claim": ({ db, commits }) => {
        const events = commits().flatMap((commit) => commit.events);
        const [first] = events.filter(({ e }) => e.type === "api_key_added");
        db.run("DELETE FROM claims WHERE key = ?", [`key:${first!.e.key.secrets[0].hash}`]);
      },
      "a claim without an account": ({ db }) =>
        db.run("INSERT INTO claims VALUES ('name:nobody', 99, 'x', 1, 1)"),
      "a claim of a name that the account does not have": ({ db }) =>
        db.run("INSERT INTO claims VALUES ('name:alias', 2, 'x', 1, 1)"),
      "an account without a claim": ({ db }) => db.run("DELETE FROM claims WHERE key = 'name:blue'"),
      "a key that is claimed for another": ({ db }) =>
        db.run("UPDATE claims SET account = 2 WHERE account = ? AND key LIKE 'key:%'", [tree().blue.id]),
    },
  };
  return Object.entries(faults).flatMap(([rule, spoils]) =>
    Object.entries(spoils).map(([error, spoil]) => [error, rule as Rule, spoil] as const),
  );
}

/** Those of rows that other stores have within what they belong to. */
export const OF_ROWS_APART: ReadonlySet<string> = new Set([
  "a row that bills add up without a document",
  "a part of usage of a day without any",
  "a provider key's sum, off by one nano-dollar",
  "a sum of a provider key that answered nothing",
  "a charge of two accounts",
  "a mark that cannot be found",
  "a mark of a commit that is not there",
]);
