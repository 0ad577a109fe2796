// Verification of everything that moves money besides requests: recharges, refunds, fees, AutoQuota, moves, deletions,
// losses, figures set by hand. A store that was only worked with is right; each kind of error is found and named.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChargeFacts } from "../../actors/account/state.ts";
import { type ApiKeyId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { ZERO } from "../../actors/money.ts";
import { NO_USAGE } from "../../actors/pricing/usage.ts";
import { addApiKey } from "../../src/admin/api-keys.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { moveAccount } from "../../src/admin/move-account.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { realClock, sleep } from "../../src/base/clock.ts";
import { chargedRequest } from "../../src/report/charged-request.ts";
import { FORMATS } from "../../src/report/ledger-export.ts";
import { lineShape, numberedLines } from "../../src/report/ledger-lines.ts";
import { exactUsd, unaccounted } from "../../src/report/verify/conservation.ts";
import type { Rule } from "../../src/report/verify/findings.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { factsOf, usd } from "../actors/account-samples.ts";
import { type Born, byMainKey, openSettings, startTree } from "../admin/tree.ts";
import { type Hand, type Row, verified, verifyInjected } from "./injected-rows.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-verify-money-"));
const sound = join(home, "sound.db");
afterAll(() => rmSync(home, { recursive: true }));

const MULTIPLIERS = { model: 1, rates: 1, factor: 1 };
/** A charge of so many dollars, which its usage and price explain. */
function charged(id: string, dollars: number, over: Partial<ChargeFacts> = {}): ChargeFacts {
  const outText = dollars * 1_000_000;
  return factsOf({
    ...{ id, usage: { ...NO_USAGE, outText }, prompt: 0, completion: outText, cost: usd(dollars) },
    price: { group: "ChatPricing", name: "m", prices: { OutputText: 1 }, multipliers: MULTIPLIERS },
    ...over,
  });
}

let owner: Born;
let blue: Born;
let green: Born;
let gone: Born;
let shapes: ReturnType<typeof lineShape>[];
let late: Awaited<ReturnType<typeof chargedRequest>>;
let second: typeof late;

beforeAll(async () => {
  const clock = realClock();
  const store: Store = await openStore(`sqlite:${sound}`, { clock });
  const tree = await startTree(store, clock);
  const { system } = tree;
  const minted = () => ({ id: tree.random.id(), bornAt: clock.wall() });
  const charge = (one: Born, facts: ChargeFacts) =>
    system.ask(actorRef.account(one.id), "charge", facts, { id: facts.id });
  const change = (one: Born, change: object) =>
    system.ask(actorRef.account(one.id), "update", { change, parent: null, by: ROOT });

  owner = await tree.born(ROOT, "acme", 100);
  blue = await tree.born(owner.id, "blue", 10);
  green = await tree.born(owner.id, "green", 10);
  gone = await tree.born(owner.id, "gone", 5);
  const indebted = await tree.born(owner.id, "indebted", 3);
  const give = { from: owner.id, to: blue.id, amount: usd(7), days: 30, keep: ZERO };
  await recharge(tree, { ...minted(), ...give });
  await recharge(tree, { ...minted(), ...give, from: ROOT, to: green.id });
  await refund(tree, { ...minted(), from: blue.id, amount: usd(2) });
  await refund(tree, { ...minted(), from: owner.id, amount: usd(20) });
  await charge(blue, charged("first", 4));
  const addition = { settings: openSettings("night"), ...byMainKey(blue), command: minted() };
  const { id: apiKey, name: apiKeyName } = (await addApiKey(tree, blue.id, addition)).row;
  const fee = minted();
  await system.ask(actorRef.account(blue.id), "fee", { id: fee.id, amount: usd(0.05), apiKey }, fee);
  const adjust = { ...minted(), creditUsed: usd(40), xCredit: usd(1), by: ROOT };
  await system.ask(actorRef.account(blue.id), "adjust", adjust, adjust);
  const later = { apiKey, apiKeyName, tags: { env: "prod" }, costIn: usd(0.7) };
  await charge(blue, charged("second", 1, later));
  second = await chargedRequest(store, blue.id, "second");
  await change(green, { autoQuota: usd(3), softLimit: usd(5) });
  await charge(green, charged("third", 16.5, { keep: usd(1) }));
  for (let i = 0; i < 200 && (await tree.balance(green.id)) < usd(3); i++) await sleep(clock, 10);
  await moveAccount(tree, { ...minted(), account: green.id, parent: blue.id, dna: null, by: ROOT });
  await charge(indebted, charged("too-much", 4));
  for (const { id } of [gone, indebted]) {
    await deleteAccount(tree, { account: id, by: owner.id, recursive: false });
  }
  await charge(gone, charged("late", 2));
  shapes = (await numberedLines(store, gone.id, 1, 99)).map(lineShape);
  late = await chargedRequest(store, gone.id, "late");
  await system.drain(5_000);
  await store.close();
});

describe("a store that was only worked with", () => {
  test("verifies clean, with all money accounted for", async () => {
    const { findings, totals } = await verified(sound);
    expect(findings).toEqual([]);
    expect(unaccounted(totals)).toBe(0n);
  });

  test("adds up each way in which credit ceases to be", async () => {
    const { totals } = await verified(sound);
    const spent = Object.fromEntries(
      Object.entries(totals.spent).map(([kind, sum]) => [kind, exactUsd(sum)]),
    );
    expect(spent).toEqual({ charged: "25.5", fees: "0.25", expired: "0", "written off": "-1" });
    expect(exactUsd(totals.minted)).toBe("87");
  });
});

test("a line keeps what it cost at the provider, and no answer shows it", () => {
  expect(second?.event).toMatchObject({
    apiKey: 1 as ApiKeyId,
    apiKeyName: "night",
    tags: { env: "prod" },
    costIn: usd(0.7),
  });
  const shown = [
    lineShape({ number: 1, ...second! }),
    ...Object.values(FORMATS).map(({ line }) =>
      line({ account: blue.id, name: "blue", number: 1, ...second! }),
    ),
  ];
  expect(JSON.stringify(shown)).toContain("second");
  expect(JSON.stringify(shown)).not.toMatch(/cost_?in|700000000/i);
});

describe("the lines of a deleted account", () => {
  test("are shown in the contract's kinds, with their operation and the other side", () => {
    expect(shapes.map(({ type, amount }) => [type, amount])).toEqual([
      ["write_off", 2],
      ["late_charge", -2],
      ["refund", -4.8],
      ["delete_fee", -0.2],
      ["transfer_in", 5],
    ]);
    expect(shapes[2]).toMatchObject({ operation_id: expect.any(String), to: owner.id, balance_after: 0 });
    expect(shapes[4]).toMatchObject({ operation_id: expect.any(String), from: owner.id });
    expect(shapes[1]).toMatchObject({ request_id: "late", model: "m" });
  });

  test("a late charge is found by its request", () => {
    expect(late?.event).toMatchObject({ type: "late_charge", id: "late" });
  });
});

type Event = Row["events"][number]["e"];

const accounts = () => ({ root: { id: ROOT }, owner, blue, green, gone });
/** Changes the first event of a kind in an account's ledger. */
const change =
  (of: keyof ReturnType<typeof accounts>, type: string, spoil: (e: Event, commit: Row) => void) =>
  ({ edit }: Hand) =>
    edit(
      (c) => c.actor === `account/${accounts()[of].id}` && c.events.some(({ e }) => e.type === type),
      (c) => spoil(c.events.find(({ e }) => e.type === type)!.e, c),
    );
const without = (of: keyof ReturnType<typeof accounts>, type: string) =>
  change(of, type, (_, c) => {
    c.events = c.events.filter(({ e }) => e.type !== type);
  });
const more = (e: Event, nano = 5) => {
  e.amount += nano;
  e.balanceAfter += nano;
};

const ERRORS: Partial<Record<Rule, Record<string, (hand: Hand) => void>>> = {
  transfer: {
    "a refund that was never taken from the child": without("blue", "refund_out"),
    "a refund that its parent got otherwise": change("owner", "refund", (e) => more(e)),
    "a recharge that its child got otherwise": change("green", "grant", (e) => more(e)),
    "a recharge minted twice as large": change("root", "owing", (e) => (e.transfer.amount *= 2)),
    "AutoQuota that its child got otherwise": change("green", "auto_quota", (e) => more(e)),
  },
  conservation: {
    "a refund to Root that is still minted": ({ edit }) =>
      edit(
        (c) => c.actor === "account/1" && c.events.some(({ e }) => e.type === "minted" && e.amount < 0),
        (c) => {
          c.events = c.events.filter(({ e }) => e.type !== "minted");
        },
      ),
  },
  running_balance: {
    "a refund line that adds": change("blue", "refund_out", (e) => (e.amount *= -1)),
    "a fee that adds": change("blue", "query_fee", (e) => (e.amount *= -1)),
    "a fee that is less than it took": change("blue", "query_fee", (e) => e.amount++),
    "a deletion's fee that adds": change("gone", "delete_fee", (e) => (e.amount *= -1)),
    "figures set by hand that move money": change("blue", "adjust", (e) => more(e)),
    "a loss that takes": change("gone", "write_off", (e) => (e.amount *= -1)),
  },
  mark: { "a fee without its mark": change("blue", "query_fee", (_, c) => (c.marks = [])) },
  adjust: {
    "figures set by hand from what they were not": change("blue", "adjust", (e) => e.before.creditUsed++),
  },
  account_document: {
    "figures set by hand that are not in the document": change("blue", "adjust", (e) => e.after.creditUsed++),
    "an account that is there in the lists, and gone in its ledger": ({ body }) =>
      body("accounts", String(gone.id), (b) => (b.closed = 0)),
    "a parent in the lists that is not the ledger's": ({ body }) =>
      body("accounts", String(green.id), (b) => (b.parent = owner.id)),
    "a child too many": change("owner", "child_left", (_, c) => {
      c.events = c.events.filter(({ e }) => e.type !== "child_left");
    }),
  },
  charge: { "a late charge that costs what it does not": change("gone", "late_charge", (e) => e.cost++) },
  charge_twice: {
    "a late charge that stands twice": change("gone", "late_charge", (e, c) =>
      c.events.push({ at: c.at, line: true, e }),
    ),
  },
  write_off: { "a loss that leaves a debt": change("gone", "write_off", (e) => more(e, -5)) },
  deletion: { "credit on an account that is gone": change("gone", "write_off", (e) => more(e, 5)) },
  claim: {
    "an account that is gone and has its name": ({ db }) =>
      db.run("INSERT INTO claims VALUES ('name:gone', ?, 'x', 1, 1)", [gone.id]),
  },
};

describe("children", () => {
  const rules = async (spoil: (hand: Hand) => void) => {
    const { findings } = await verifyInjected(sound, spoil);
    return findings.flatMap(({ rule, where, what }) => (rule === "children" ? [`${where}: ${what}`] : []));
  };
  /** The word never came, in the ledger and in all that was derived from it. */
  const undelivered = (of: "owner" | "blue", type: string) => (hand: Hand) => {
    without(of, type)(hand);
    hand.db.run("DELETE FROM snapshots");
  };

  test("one too many: it never learned that one has left", async () => {
    const found = await rules(undelivered("owner", "child_left"));
    expect(found).toEqual([`account/${owner.id}: it counts 1 too many`]);
  });

  test("one too few: it never took the one that was moved", async () => {
    const found = await rules(undelivered("blue", "child_joined"));
    expect(found).toEqual([`account/${blue.id}: it counts 1 too few`]);
  });

  test("one on its way out is still counted, until its parent knows", async () => {
    const found = await rules(({ db, edit }) => {
      for (const [actor, type] of [
        [`account/${owner.id}`, "child_left"],
        [`account/${green.id}`, "left"],
      ]) {
        edit(
          (c) => c.actor === actor && c.events.some(({ e }) => e.type === type),
          (c) => {
            c.events = c.events.filter(({ e }) => e.type !== type);
          },
        );
      }
      db.run("DELETE FROM marks WHERE actor = ? AND mark LIKE '%:left'", [`account/${owner.id}`]);
      db.run("DELETE FROM snapshots");
    });
    expect(found).toEqual([]);
  });
});

describe.each(Object.entries(ERRORS))("an error against the rule %s is found and named:", (rule, spoils) => {
  test.each(Object.entries(spoils))("%s", async (_, spoil) => {
    const { findings } = await verifyInjected(sound, spoil);
    expect(findings.map((finding) => finding.rule)).toContain(rule as Rule);
  });
});

test("an account that is being deleted may have lost its claims already", async () => {
  const { findings } = await verifyInjected(sound, ({ db, edit }) => {
    // As if the process had died between the release of the claims and the end.
    edit(
      (c) => c.actor === `account/${gone.id}` && c.events.some(({ e }) => e.type === "closed"),
      (c) => {
        c.events = c.events.filter(({ e }) => e.type !== "closed");
      },
    );
    db.run("DELETE FROM snapshots WHERE actor = ?", [`account/${gone.id}`]);
    db.run("DELETE FROM accounts WHERE id = ?", [gone.id]);
  });
  expect(findings.filter(({ rule }) => rule === "claim")).toEqual([]);
});
