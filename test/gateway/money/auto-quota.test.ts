// A request refused for lack of balance, of an account with AutoQuota: it waits for the parent's credit and is decided
// once more; where nothing can come it is refused at once, and it never waits for long.

import { beforeEach, describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../../actors/ids.ts";
import { to } from "../../../actors/index.ts";
import { type AutoQuota, createAutoQuota } from "../../../src/gateway/money/auto-quota.ts";
import { logQuotaMoves } from "../../../src/gateway/money/quota-moves.ts";
import type { Lineage } from "../../../src/gateway/replicas.ts";
import { realClock } from "../../../src/runtime/clock.ts";
import { Refused } from "../../../src/runtime/system.ts";
import { memoryStore } from "../../../src/store/memory.ts";
import { usd } from "../../actors/account-samples.ts";
import { type Born, startTree, type Tree } from "../../admin/tree.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { lineageOf } from "../lineage-samples.ts";

const POOR = new Refused({ code: "insufficient_balance", message: "" });

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
  tree.system.ask(to.account(team.id), "update", {
    by: owner.id,
    parent: null,
    change: { autoQuota: usd(dollars) },
  });

/** What a route of the account would be made from; `keep`: the Owner's UserMinBalance. */
async function lineage(account: AccountId, keep = 0): Promise<Lineage> {
  const { profile, version } = await tree.system.ask(to.account(account), "profile", {});
  return lineageOf({ chain: [profile], version, config: { userMinBalance: usd(keep) } });
}

const lifts = async (error: unknown = POOR, keep = 0) => autoQuota.lifts(await lineage(team.id, keep), error);

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

  test("is decided once more when the parent refused, and stands from then on", async () => {
    await setQuota(500);
    expect(await lifts()).toBe(true);
    expect(await lifts()).toBe(false);
    expect(await tree.balance(team.id)).toBe(usd(2));
  });

  test("stands when the parent must keep what it has", async () => {
    await setQuota(5);
    await lifts(POOR, 95);
    expect([await tree.balance(team.id), await tree.balance(owner.id)]).toEqual([usd(2), usd(98)]);
  });
});

test("no other refusal asks for anything", async () => {
  await setQuota(5);
  expect(await lifts(new Refused({ code: "rpm_exceeded", message: "" }))).toBe(false);
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
      return { asked: true, asksForQuota: true };
    },
  } as unknown as Tree["system"];
  const waiting = createAutoQuota({ system, clock }).lifts(await lineage(team.id), POOR);
  await clock.advance(1_100);
  expect(await waiting).toBe(true);
  expect(asked[0]).toBe("topUp");
  expect(asked.length).toBeWithin(40, 60);
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
