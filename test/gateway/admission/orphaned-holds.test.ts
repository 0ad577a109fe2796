// A front end that dies, or is taken for dead: what its requests hold is free as soon as it is declared dead. One that lives
// holds it again, and each request is charged once.

import { expect, test } from "bun:test";
import type { AdmitInput } from "../../../actors/account/admit.ts";
import { usd } from "../../actors/account-samples.ts";
import { accountRig, RPM } from "../money/account-nodes.ts";

const KEY = { key: "k".repeat(64), body: "b".repeat(64) };
/** Rows run out, and two looks more. */
const KNOWN_MS = 8_500;

const keyed: Partial<AdmitInput> = { idempotency: KEY };

test("a front end that dies: within the time of a takeover a keyed repeat runs elsewhere, and nothing is held", async () => {
  const { nodes, owner, front, other, isOwner, admit, held, events } = await accountRig();
  expect(await admit(front, "r0", keyed)).toMatchObject({ cost: usd(1) });
  await admit(front, "r1");
  expect(await admit(other, "r2", keyed)).toBe("repeat_running");
  front.crash();
  await nodes.run(KNOWN_MS);
  expect(isOwner(owner)).toBe(true);
  expect(await held(other)).toBe(usd(0));
  expect(await events()).toEqual(["released r0", "released r1"]);
  // Both count, and the limit leaves one.
  expect(await admit(other, "r2", keyed)).toMatchObject({ cost: usd(1) });
  expect(await admit(other, "r3")).toBe("rpm_exceeded");
  expect(RPM).toBe(3);
});

test("a front end that freezes and wakes: its requests are held again, though the account has not moved", async () => {
  const { nodes, owner, front, other, isOwner, admit, held, settleAt, come, events } = await accountRig();
  for (const id of ["r0", "r1"]) await admit(front, id);
  const name = front.placement.node();
  front.freeze();
  await nodes.run(KNOWN_MS);
  expect([isOwner(owner), await held(other)]).toEqual([true, usd(0)]);
  front.thaw();
  await nodes.run(3_000);
  expect(front.placement.node()).not.toBe(name);
  expect([isOwner(owner), await held(other)]).toEqual([true, usd(2)]);
  // Its charge stands once, and no hold is left.
  await come(settleAt(front).charge("r0"));
  settleAt(front).cancel("r1");
  await nodes.run(1_000);
  expect(await held(other)).toBe(usd(0));
  expect(await events()).toEqual(["charge r0", "released r0", "released r1"]);
  expect(await admit(other, "r2")).toMatchObject({ cost: usd(1) });
  expect(await admit(other, "r3")).toBe("rpm_exceeded");
});

test("a charge that a frozen front end sends as it wakes is taken, whatever it is called by then", async () => {
  const { nodes, front, other, admit, held, settleAt, come, events } = await accountRig();
  await admit(front, "r0");
  front.freeze();
  await nodes.run(KNOWN_MS);
  const charged = come(settleAt(front).charge("r0"));
  front.thaw();
  expect(await charged).toBeUndefined();
  await nodes.run(3_000);
  expect(await held(other)).toBe(usd(0));
  expect(await events()).toEqual(["charge r0", "released r0"]);
});

test("a keyed request that was repeated elsewhere while its front end was frozen is not charged again", async () => {
  const { nodes, front, other, admit, held, settleAt, come, events } = await accountRig();
  await admit(front, "r0", keyed);
  front.freeze();
  await nodes.run(KNOWN_MS);
  expect(await admit(other, "r1", keyed)).toMatchObject({ cost: usd(1) });
  await come(settleAt(other).charge("r1", { idempotency: KEY }));
  front.thaw();
  await nodes.run(3_000);
  expect(await come(settleAt(front).charge("r0", { idempotency: KEY }))).toBe("service_unavailable");
  await nodes.run(3_000);
  expect(await held(other)).toBe(usd(0));
  expect(await events()).toEqual(["charge r1", "released r0"]);
});

test("an admission in the name of one that is taken for dead is asked again in its new name", async () => {
  const { nodes, front, other, admit, held, systemOf } = await accountRig();
  front.freeze();
  await nodes.run(KNOWN_MS);
  const asked = admit(front, "r0");
  front.thaw();
  expect(await asked).toMatchObject({ cost: usd(1) });
  expect(await held(other)).toBe(usd(1));
  expect(systemOf(front).stats().counters.notOwner).toBeGreaterThan(0);
  front.crash();
  await nodes.run(KNOWN_MS);
  expect(await held(other)).toBe(usd(0));
});
