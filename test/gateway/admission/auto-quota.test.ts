// A request refused for lack of balance, of an account with AutoQuota: it waits for the parent's credit and is decided
// once more; where nothing can come it is refused, by what is true when it comes, and it never waits for long.

import { beforeEach, describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { ZERO } from "../../../actors/money.ts";
import { recharge } from "../../../src/admin/transfer-credit.ts";
import { realClock } from "../../../src/base/clock.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import type { AccountContext } from "../../../src/gateway/account/account-context.ts";
import { type AutoQuota, createAutoQuota } from "../../../src/gateway/admission/auto-quota.ts";
import { logQuotaMoves } from "../../../src/node/auto-quota-log.ts";
import { usd } from "../../actors/account-samples.ts";
import { type Born, startTree, type Tree } from "../../admin/tree.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { accountContextOf } from "../account-context-samples.ts";

const POOR = new RefusedError({ code: "insufficient_balance", message: "" });

let tree: Tree;
let owner: Born;
let team: Born;
let autoQuota: AutoQuota;
beforeEach(async () => {
  const clock = realClock();
  tree = await startTree(memoryStore({ clock }), clock);
  owner = await tree.born(ROOT, "acme", 100);
  team = await tree.born(owner.id, "team-blue", 2);
  autoQuota = createAutoQuota(tree);
});

const setQuota = (dollars: number) =>
  tree.system.ask(actorRef.account(team.id), "update", {
    by: owner.id,
    parent: null,
    change: { autoQuota: usd(dollars) },
  });

/** What a route of the account would be made from; `keep`: the Owner's UserMinBalance. */
async function accountContext(account: AccountId, keep = 0): Promise<AccountContext> {
  const { profile, version } = await tree.system.ask(actorRef.account(account), "profile", {});
  return accountContextOf({ chain: [profile], version, config: { userMinBalance: usd(keep) } });
}

const grant = (account: AccountId, dollars: number) => {
  const id = `grant-${dollars}`;
  const order = { id, bornAt: tree.clock.wall(), from: ROOT, to: account, days: 180, keep: ZERO };
  return recharge(tree, { ...order, amount: usd(dollars) });
};

/** The system, which keeps one answer back until it is released, then all later ones of that type until it is open. */
function heldSystem() {
  const seen = new Map<string, PromiseWithResolvers<void>>();
  const at = (key: string) => {
    const gate = seen.get(key) ?? Promise.withResolvers<void>();
    seen.set(key, gate);
    return gate;
  };
  let readings = 0;
  const ask = (async (...given: Parameters<Tree["system"]["ask"]>) => {
    if (given[1] !== "margins") return tree.system.ask(...given);
    const first = readings++ === 0;
    if (!first) await at("open").promise;
    const answer = await tree.system.ask(...given);
    at("asked margins").resolve();
    if (first) await at("release margins").promise;
    return answer;
  }) as Tree["system"]["ask"];
  return {
    system: { ...tree.system, ask },
    asked: (type: string) => at(`asked ${type}`).promise,
    release: (type: string) => at(`release ${type}`).resolve(),
    open: () => at("open").resolve(),
  };
}

const lifts = async (error: unknown = POOR, keep = 0) =>
  autoQuota.topUpAfter(await accountContext(team.id, keep), error);

describe("a refusal for lack of balance", () => {
  test("is lifted when the parent has given, and the credit is there by then", async () => {
    await setQuota(5);
    expect(await lifts()).toBe(true);
    expect([await tree.balance(team.id), await tree.balance(owner.id)]).toEqual([usd(7), usd(93)]);
  });

  test("is lifted for all who wait, by one move", async () => {
    await setQuota(5);
    expect(await Promise.all([lifts(), lifts(), lifts()])).toEqual([true, true, true]);
    expect(await tree.balance(team.id)).toBe(usd(7));
  });

  test("stands without AutoQuota", async () => {
    expect(await lifts()).toBe(false);
    expect(await tree.balance(team.id)).toBe(usd(2));
  });

  test("stands when the parent cannot give", async () => {
    await setQuota(500);
    expect([await lifts(), await lifts()]).toEqual([false, false]);
    expect(await tree.balance(team.id)).toBe(usd(2));
  });

  test("is lifted as soon as the parent can give, whatever it answered a moment before", async () => {
    await setQuota(500);
    // The account itself was refused too, by what a charge asked for.
    await tree.system.ask(actorRef.account(team.id), "topUp", { keep: ZERO });
    for (let i = 0; i < 100 && (await tree.affairs(team.id)).asksForQuota; i++) await Bun.sleep(5);
    expect(await lifts()).toBe(false);
    await grant(owner.id, 1_000);
    expect(await lifts()).toBe(true);
    expect(await tree.balance(team.id)).toBe(usd(502));
  });

  test("is not seen in an answer from before it came", async () => {
    await setQuota(500);
    const slow = heldSystem();
    const quota = createAutoQuota({ ...tree, system: slow.system });
    const before = quota.topUpAfter(await accountContext(team.id), POOR);
    await slow.asked("margins");
    const after = quota.topUpAfter(await accountContext(team.id), POOR);
    await slow.release("margins");
    await grant(owner.id, 1_000);
    slow.open();
    expect([await before, await after]).toEqual([false, true]);
  });

  test("stands when the parent must keep what it has", async () => {
    await setQuota(5);
    await lifts(POOR, 95);
    expect([await tree.balance(team.id), await tree.balance(owner.id)]).toEqual([usd(2), usd(98)]);
  });
});

test("no other refusal asks for anything", async () => {
  await setQuota(5);
  expect(await lifts(new RefusedError({ code: "rpm_exceeded", message: "" }))).toBe(false);
  expect(await lifts(new Error("insufficient_balance"))).toBe(false);
  expect(await tree.balance(team.id)).toBe(usd(2));
});

test("a parent that does not answer is waited for no longer than a second", async () => {
  await setQuota(5);
  const clock = manualClock();
  const asked: string[] = [];
  const system = {
    async ask(_to: unknown, type: string) {
      asked.push(type);
      return { asked: true, asksForQuota: asked.includes("topUp"), free: null };
    },
  } as unknown as Tree["system"];
  const waiting = createAutoQuota({ system, clock }).topUpAfter(await accountContext(team.id), POOR);
  await clock.advance(1_100);
  expect(await waiting).toBe(true);
  expect(asked.slice(0, 3)).toEqual(["unfinishedWork", "margins", "topUp"]);
  expect(asked.length).toBeWithin(40, 60);
});

test("a parent that cannot give is read four times a second, however many ask and for whom", async () => {
  const clock = manualClock();
  const asked: string[] = [];
  const system = {
    async ask(_to: unknown, type: string) {
      asked.push(type);
      return { asksForQuota: false, free: 0 };
    },
  } as unknown as Tree["system"];
  const quota = createAutoQuota({ system, clock });
  const { profile } = await tree.system.ask(actorRef.account(team.id), "profile", {});
  const waiting: Promise<boolean>[] = [];
  for (let tick = 0; tick < 100; tick++) {
    for (let child = 0; child < 5; child++) {
      const id = (100 + child) as AccountId;
      const poor = { ...profile, id, autoQuota: usd(5) };
      waiting.push(quota.topUpAfter(accountContextOf({ chain: [poor], version: 1 }), POOR));
    }
    await clock.advance(20);
  }
  await clock.advance(2_000);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]));
  // Two seconds of requests, and those that were left waiting.
  expect(asked.filter((type) => type === "margins").length).toBeWithin(6, 13);
  expect(asked).not.toContain("topUp");
  expect(clock.waiting).toBe(0);
});

test("each move is a line of the operation log, the account's own", async () => {
  const lines: unknown[] = [];
  logQuotaMoves(tree.system, async (line) => void lines.push(line));
  await setQuota(5);
  await lifts();
  expect(lines).toEqual([
    {
      action: "auto_quota",
      operator: team.id,
      subject: { type: "user", id: team.id, dna: `.1.${owner.id}.` },
      details: `AutoQuota: 5 USD from account ${owner.id}`,
      ip: "",
      status: "success",
    },
  ]);
});
