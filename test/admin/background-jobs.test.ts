// What happens once in a cluster is done by the node that serves the account that it concerns, and by nobody else.

import { describe, expect, test } from "bun:test";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { sweepDeletions } from "../../src/admin/delete-account.ts";
import { startSweeps, sweepClaims, TURN } from "../../src/admin/periodic-sweeps.ts";
import { logQuotaMoves } from "../../src/node/auto-quota-log.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { memoryTree, type Tree } from "./tree.ts";

const tree = preparedEach(() => memoryTree());
const owner = preparedEach(() => tree.born(ROOT, "acme", 100));
const team = preparedEach(() => tree.born(owner.id, "team-blue", 20));

/** A node that serves these accounts, and no other. */
const serving = (...ids: number[]): Tree => ({
  ...tree,
  system: { ...tree.system, owns: ({ id }) => ids.includes(Number(id)) },
});

describe("a claim that nobody confirmed", () => {
  test("is looked after where its account is served", async () => {
    await tree.store.claim("name:left-behind", team.id, "some-creation", tree.clock.wall() - 120_000);
    expect(await sweepClaims(serving(owner.id))).toBe(0);
    expect(await sweepClaims(serving(team.id))).toBe(1);
    expect(await tree.store.findClaim("name:left-behind")).toBeNull();
  });

  test("is reported when it is released, to be counted", async () => {
    const clock = manualClock(tree.clock.wall());
    await tree.store.claim("name:left-behind", team.id, "some-creation", clock.wall() - 120_000);
    const swept: number[] = [];
    const claimsSwept = (count: number) => void swept.push(count);
    const stop = startSweeps({ ...tree, clock, log: tree.log, logDays: 1, claimsSwept });
    await clock.advance(60_000);
    for (let i = 0; i < 100 && swept.length === 0; i++) await Bun.sleep(5);
    stop();
    expect(swept).toEqual([1]);
  });

  test("and is a turn at work is released after two minutes, not sooner", async () => {
    const now = tree.clock.wall();
    await tree.store.claim(`${TURN}young`, team.id, "a node", now - 110_000);
    await tree.store.claim(`${TURN}old`, team.id, "a node", now - 121_000);
    expect(await sweepClaims(tree)).toBe(1);
    expect((await tree.store.findClaim(`${TURN}young`))?.by).toBe("a node");
  });
});

test("a deletion that was cut off is ended where its account is served, however many others there are", async () => {
  const mint = { id: "close-it", bornAt: tree.clock.wall() };
  await tree.system.ask(actorRef.account(team.id), "close", { ...mint, by: owner.id, recursive: false });
  expect(await sweepDeletions(serving(owner.id))).toBe(0);
  expect((await tree.affairs(team.id)).stage).toBe("closing");
  for (let i = 0; i < 50 && (await tree.affairs(team.id)).stage !== "closed"; i++) {
    await sweepDeletions(serving(team.id));
    // Its credit returns to the parent in commits, which are made at the end of a turn.
    await Bun.sleep(5);
  }
  expect((await tree.affairs(team.id)).stage).toBe("closed");
});

test("what is no account's is swept where Root is served", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const row = { id: "7:gateway:1", account: 7, kind: "gateway", at: 0, until: 1, body: "" } as const;
  const left = async () => (await store.dropAnswers(1, 10)) > 0;
  for (const [ids, isLeft] of [
    [[team.id], true],
    [[ROOT], false],
  ] as const) {
    await store.keepAnswer(row, 10);
    const { system, random, log } = serving(...ids);
    const stop = startSweeps({ system, store, clock, random, log, logDays: 1, claimsSwept: () => {} });
    await clock.advance(61_000);
    stop();
    expect([ids, await left()]).toEqual([ids, isLeft]);
  }
});

test("a move of AutoQuota is a line of the log where the account is served", async () => {
  const lines: number[] = [];
  const listen = (node: Tree) =>
    logQuotaMoves(node.system, async ({ operator }) => void lines.push(operator));
  listen(serving(owner.id));
  listen(serving(team.id));
  const give = { id: "quota-1", bornAt: tree.clock.wall(), to: team.id, amount: 1, days: 1, keep: 0 };
  await tree.system.ask(actorRef.account(owner.id), "startTransfer", {
    ...give,
    kind: "auto_quota",
  } as never);
  for (let i = 0; i < 100 && (await tree.affairs(owner.id)).owes.length > 0; i++) await Bun.sleep(5);
  expect(lines).toEqual([team.id]);
});
