// Limits stay exact while an owner lives on but its account breaks, since the store does not take what it decides: every
// request that was admitted goes on counting, whether it runs, was cancelled, or was charged and nobody knows it yet.

import { describe, expect, test } from "bun:test";
import { usd } from "../../actors/account-samples.ts";
import type { TestNode } from "../../runtime/nodes.ts";
import { accountRig, RPM } from "../money/account-nodes.ts";

/** All of the limit is used, each request by another node; from then on the store takes nothing, or nobody knows it did. */
async function used() {
  const rig = await accountRig();
  const { nodes, owner, front, other, admit, come, settleAt } = rig;
  for (const [i, node] of [owner, front, other].entries()) await admit(node, `r${i}`);
  const { faults } = owner.store;

  /** Each node asks again and again, until it is stopped: how many were admitted. */
  function pressing(): () => Promise<number> {
    let over = false;
    let admitted = 0;
    const press = async (node: TestNode) => {
      for (let i = 0; !over; i++) {
        const answer = settleAt(node).admit(`${node.name}${i}`);
        admitted += await answer.then(
          () => 1,
          () => 0,
        );
        await new Promise<void>((resolve) => void nodes.clock.after(20, resolve));
      }
    };
    const done = Promise.all([owner, front, other].map(press));
    return async () => {
      over = true;
      await come(done);
      return admitted;
    };
  }

  return {
    ...rig,
    pressing,
    faults,
    breaks: () => owner.system.stats().counters.broken,
    fail: (most = 10_000) => void faults.push(...Array.from({ length: most }, () => "unknown" as const)),
    heal: () => void faults.splice(0),
  };
}

describe("an owner whose store does not answer for a moment", () => {
  test("admits nobody before it knows again what runs", async () => {
    const { nodes, other, settleAt, fail, heal, pressing, held, come, breaks } = await used();
    const stop = pressing();
    fail(1);
    await come(settleAt(other).charge("r2"));
    heal();
    await nodes.run(2_000);
    expect([await stop(), breaks(), await held(other)]).toEqual([0, 1, usd(RPM - 1)]);
  });

  test("nor where it breaks again and again, and its actors cannot be read", async () => {
    const { nodes, owner, front, settleAt, fail, heal, pressing, held, breaks } = await used();
    const stop = pressing();
    fail();
    settleAt(front).cancel("r1");
    for (let i = 0; i < 3; i++) {
      await nodes.run(1_000);
      const open = owner.store.holdLoads();
      await nodes.run(1_000);
      open();
    }
    heal();
    await nodes.run(3_000);
    expect([await stop(), await held(front)]).toEqual([0, usd(RPM - 1)]);
    expect(breaks()).toBeGreaterThan(3);
  });
});

describe("of requests that ended meanwhile", () => {
  test("one that was cancelled counts, however long that is not stored", async () => {
    const { nodes, other, settleAt, fail, heal, pressing, held, events } = await used();
    fail();
    settleAt(other).cancel("r2");
    const stop = pressing();
    await nodes.run(25_000);
    heal();
    await nodes.run(8_000);
    expect([await stop(), await held(other)]).toEqual([0, usd(RPM - 1)]);
    expect(await events()).toEqual(["released r2"]);
  });

  test("one that was cancelled by an append that landed unheard of counts once, and holds nothing", async () => {
    const { nodes, other, settleAt, faults, pressing, held, events } = await used();
    faults.push("stored_unknown");
    const stop = pressing();
    settleAt(other).cancel("r2");
    await nodes.run(5_000);
    expect([await stop(), await held(other)]).toEqual([0, usd(RPM - 1)]);
    expect(await events()).toEqual(["released r2"]);
  });

  test("one that was charged, and waits in the spool, counts until its charge is stored, and then by that", async () => {
    const { nodes, other, settleAt, fail, heal, pressing, held, come, events } = await used();
    fail();
    const stop = pressing();
    await come(settleAt(other).charge("r2"));
    expect([settleAt(other).lateCharges(), await events()]).toEqual([1, []]);
    await nodes.run(10_000);
    heal();
    await nodes.run(8_000);
    expect([await stop(), await held(other)]).toEqual([0, usd(RPM - 1)]);
    expect(await events()).toEqual(["charge r2"]);
  });
});

test("an owner cut off for six seconds that has lost its lease meanwhile admits nobody beyond the limit", async () => {
  const { nodes, owner, front, other, settleAt, isOwner, pressing, fail, heal, events, come } = await used();
  fail();
  const stop = pressing();
  settleAt(front).cancel("r1");
  const charged = come(settleAt(other).charge("r2"));
  await nodes.run(500);
  owner.freeze();
  await nodes.until(() => [front, other].some(isOwner));
  owner.thaw();
  heal();
  await charged;
  await nodes.run(8_000);
  expect(await stop()).toBe(0);
  expect(await events()).toEqual(["charge r2", "released r1"]);
});
