// Requests in flight while their account moves from node to node: what they hold counts at the new owner before it admits
// anybody, exactly as it did; and nothing stays held when they have ended.

import { expect, test } from "bun:test";
import { usd } from "../../actors/account-samples.ts";
import { accountRig, RPM } from "../money/account-nodes.ts";

test("an owner that crashes: what the others' requests hold counts before the next one admits", async () => {
  const { nodes, owner, front, other, isOwner, admit, held } = await accountRig();
  for (let i = 0; i < RPM; i++) expect(await admit(front, `r${i}`)).toMatchObject({ cost: usd(1) });
  expect(await admit(other, "more")).toBe("rpm_exceeded");
  owner.crash();
  const asked = admit(other, "more");
  await nodes.until(() => [front, other].some(isOwner));
  expect(await asked).toBe("rpm_exceeded");
  expect(await held(other)).toBe(usd(RPM));
});

test("an owner that hands over: its own requests count at the next one too", async () => {
  const { nodes, owner, front, other, isOwner, admit, held, come } = await accountRig();
  for (const [i, node] of [owner, front, other].entries()) {
    expect(await admit(node, `r${i}`)).toMatchObject({ cost: usd(1) });
  }
  const given = come(owner.system.handOff(10_000));
  await nodes.until(() => !isOwner(owner));
  const asked = admit(front, "more");
  expect([await given, await asked, await held(front)]).toEqual([true, "rpm_exceeded", usd(RPM)]);
});

test("requests that end while their account moves leave nothing held, and each is counted once", async () => {
  const { nodes, owner, front, other, isOwner, settleAt, admit, held, come, events } = await accountRig();
  for (let i = 0; i < RPM; i++) await admit(i === 0 ? front : other, `r${i}`);
  owner.crash();
  const charged = come(settleAt(other).charge("r1"));
  settleAt(other).cancel("r2");
  await nodes.until(() => [front, other].some(isOwner));
  await charged;
  await nodes.run(12_000);
  expect(await held(front)).toBe(usd(1));
  settleAt(front).cancel("r0");
  await nodes.run(2_000);
  expect(await held(front)).toBe(usd(0));
  expect(await events()).toEqual(["charge r1", "released r0", "released r2"]);
});

test("a front end that freezes keeps nobody waiting for longer than a second", async () => {
  const { nodes, owner, front, other, isOwner, admit } = await accountRig();
  await admit(front, "r0");
  front.freeze();
  owner.crash();
  await nodes.until(() => isOwner(other), 30_000);
  const before = nodes.clock.mono();
  expect(await admit(other, "more")).toMatchObject({ cost: usd(1) });
  expect(nodes.clock.mono() - before).toBeLessThan(1_500);
});

test("an owner whose commits wait for longer than a second refuses all new requests, and lets the others go on", async () => {
  const { nodes, owner, front, other, settleAt, admit, come } = await accountRig();
  await admit(front, "r0");
  const open = owner.store.holdAppends();
  const charged = come(settleAt(other).charge("r1"));
  await nodes.run(1_100);
  expect(front.system.lagMs()).toBe(0);
  expect(await admit(front, "more")).toBe("service_unavailable");
  expect(await admit(front, "r0", { model: "gpt-4.1" })).toMatchObject({ cost: usd(1) });
  open();
  expect(await charged).toBeUndefined();
  expect(await admit(front, "more")).toMatchObject({ cost: usd(1) });
});
