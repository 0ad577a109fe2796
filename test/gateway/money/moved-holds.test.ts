// Requests in flight while their account moves from node to node: what they hold counts at the new owner before it admits
// anybody, exactly as it did; and nothing stays held when they have ended.

import { expect, test } from "bun:test";
import { account } from "../../../actors/account/account.ts";
import { NO_LIMITS } from "../../../actors/account/state.ts";
import { ROOT } from "../../../actors/ids.ts";
import { type Protocol, to } from "../../../actors/index.ts";
import { createSettle, type Settle } from "../../../src/gateway/money/settle.ts";
import type { Late } from "../../../src/gateway/money/spool.ts";
import { silent } from "../../../src/runtime/log.ts";
import { type ActorSystem, Refused } from "../../../src/runtime/system.ts";
import { admitInput, factsOf, KEY, usd } from "../../actors/account-samples.ts";
import { nodesRig, type TestNode } from "../../runtime/nodes.ts";

const RPM = 3;

/** Root's account on three nodes, with a limit of requests; `owner` serves it, the others are front ends. */
async function rig() {
  const nodes = nodesRig();
  const behavior = account as never;
  for (const name of ["a", "b", "c"]) await nodes.start(name, { behavior });
  await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards >= 80));
  await nodes.run(1_500);
  const systemOf = ({ system }: TestNode) => system as unknown as ActorSystem<Protocol>;
  const isOwner = (node: TestNode) => systemOf(node).owns(to.account(ROOT));
  const owner = nodes.nodes.find(isOwner)!;
  const [front, other] = nodes.nodes.filter((node) => node !== owner) as [TestNode, TestNode];

  const settles = new Map<TestNode, Settle>();
  for (const node of nodes.nodes) {
    const spool = new Map<string, Late>();
    settles.set(
      node,
      createSettle({
        ...{ system: systemOf(node), clock: nodes.clock, log: silent, chargeWaitMs: 5_000 },
        spool: {
          keep: async (late) => void spool.set(late.facts.id, late),
          forget: async (id) => void spool.delete(id),
          all: async () => [...spool.values()],
        },
      }),
    );
  }
  const settleAt = (node: TestNode): Settle => settles.get(node)!;

  /** What came of it, once it has: time passes meanwhile. */
  async function come<T>(work: Promise<T>): Promise<T | string> {
    let over = false;
    const outcome = work
      .catch((error) => (error instanceof Refused ? error.refusal.code : String(error)))
      .finally(() => {
        over = true;
      });
    await nodes.until(() => over, 30_000);
    return outcome;
  }
  const admit = (node: TestNode, id: string) =>
    come(settleAt(node).admit(ROOT, admitInput({ id, version: 2 }), { id, budgetMs: 20_000 }));
  const held = async (node: TestNode) => {
    const record = await come(systemOf(node).ask(to.account(ROOT), "read", {}, { budgetMs: 20_000 }));
    return typeof record === "string" ? record : record.held;
  };

  const asked = systemOf(front);
  await come(asked.ask(to.account(ROOT), "found", { keyHash: KEY }));
  const change = { limits: { ...NO_LIMITS, rpm: RPM } };
  await come(asked.ask(to.account(ROOT), "update", { by: ROOT, parent: null, change }));
  return { nodes, owner, front, other, isOwner, settleAt, admit, held, come };
}

test("an owner that crashes: what the others' requests hold counts before the next one admits", async () => {
  const { nodes, owner, front, other, isOwner, admit, held } = await rig();
  for (let i = 0; i < RPM; i++) expect(await admit(front, `r${i}`)).toMatchObject({ cost: usd(1) });
  expect(await admit(other, "more")).toBe("rpm_exceeded");
  owner.crash();
  const asked = admit(other, "more");
  await nodes.until(() => [front, other].some(isOwner));
  expect(await asked).toBe("rpm_exceeded");
  expect(await held(other)).toBe(usd(RPM));
});

test("an owner that hands over: its own requests count at the next one too", async () => {
  const { nodes, owner, front, other, isOwner, admit, held, come } = await rig();
  for (const [i, node] of [owner, front, other].entries()) {
    expect(await admit(node, `r${i}`)).toMatchObject({ cost: usd(1) });
  }
  const given = come(owner.system.handOver(10_000));
  await nodes.until(() => !isOwner(owner));
  const asked = admit(front, "more");
  expect([await given, await asked, await held(front)]).toEqual([true, "rpm_exceeded", usd(RPM)]);
});

test("requests that end while their account moves leave nothing held, and each is counted once", async () => {
  const { nodes, owner, front, other, isOwner, settleAt, admit, held, come } = await rig();
  for (let i = 0; i < RPM; i++) await admit(i === 0 ? front : other, `r${i}`);
  owner.crash();
  const settle = settleAt(other);
  const charged = come(settle.charge(ROOT, factsOf({ id: "r1", admittedAt: nodes.clock.wall() })));
  settle.cancel(ROOT, "r2", false);
  await nodes.until(() => [front, other].some(isOwner));
  await charged;
  await nodes.run(12_000);
  expect(await held(front)).toBe(usd(1));
  settleAt(front).cancel(ROOT, "r0", false);
  await nodes.run(2_000);
  expect(await held(front)).toBe(usd(0));
  const commits = await nodes.inner.tail("account/1", 0, 1_000);
  const ended = commits.flatMap(({ events }) => events.map(({ e }) => e as { type: string; id?: string }));
  const counted = ended.filter(({ type }) => type === "charge" || type === "released");
  expect(counted.map(({ type, id }) => `${type} ${id}`).sort()).toEqual([
    "charge r1",
    "released r0",
    "released r2",
  ]);
});

test("a front end that freezes keeps nobody waiting for longer than a second", async () => {
  const { nodes, owner, front, other, isOwner, admit } = await rig();
  await admit(front, "r0");
  front.freeze();
  owner.crash();
  await nodes.until(() => isOwner(other), 30_000);
  const before = nodes.clock.mono();
  expect(await admit(other, "more")).toMatchObject({ cost: usd(1) });
  expect(nodes.clock.mono() - before).toBeLessThan(1_500);
});
