// Credit that is due leaves idle accounts in one sweep, however many fell due together (contract section 3: within 60 s).

import { expect, test } from "bun:test";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { DAY_MS } from "../../actors/time.ts";
import { sweepExpiry } from "../../src/admin/periodic-sweeps.ts";
import { realClock } from "../../src/base/clock.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { startTree } from "./tree.ts";

const MANY = 600;
const half = 180 * DAY_MS;

/** An Owner's accounts, all of whose credit is due. */
async function overdue(many: number) {
  let shift = 0;
  const real = realClock();
  const clock = { ...real, wall: () => real.wall() + shift };
  const tree = await startTree(memoryStore({ clock }), clock);
  const born = (i: number) => tree.born(ROOT, `account-${i}`, 5);
  const ids = (await Promise.all(Array.from({ length: many }, (_, i) => born(i)))).map(({ id }) => id);
  shift = half + 60_000;
  return { tree, ids };
}

const due = async ({ tree }: Awaited<ReturnType<typeof overdue>>) =>
  (
    await tree.store.find({
      table: "accounts",
      where: [{ field: "dueAt", is: "<=", value: tree.clock.wall() }],
      order: "dueAt",
    })
  ).length;

test("of more accounts than are read at once, all are asked in one sweep", async () => {
  const all = await overdue(MANY);
  expect(await due(all)).toBe(MANY);
  expect(await sweepExpiry(all.tree)).toBe(MANY);
  expect(await due(all)).toBe(0);
  const { balance, credits } = await all.tree.system.ask(actorRef.account(all.ids.at(-1)!), "read", {});
  expect([balance as number, credits.length]).toEqual([0, 0]);
});

test("an account that cannot be reached keeps nobody else's credit, and is asked again", async () => {
  const all = await overdue(5);
  const { system } = all.tree;
  const broken = all.ids[0]!;
  const ask: typeof system.ask = (actor, ...rest) =>
    actor.id === String(broken)
      ? Promise.reject(new RefusedError({ code: "service_unavailable", message: "not now" }))
      : system.ask(actor, ...rest);
  expect(await sweepExpiry({ ...all.tree, system: { ...system, ask } })).toBe(5);
  expect(await due(all)).toBe(1);
  expect(await sweepExpiry(all.tree)).toBe(1);
  expect(await due(all)).toBe(0);
});

test("each node asks the accounts that it serves: together all, none twice", async () => {
  const all = await overdue(6);
  const { system } = all.tree;
  const odd = ({ id }: { id: string }) => Number(id) % 2 === 1;
  const even = { ...system, owns: (actor: { id: string }) => !odd(actor) };
  expect(await sweepExpiry({ ...all.tree, system: { ...system, owns: odd } })).toBe(3);
  expect(await due(all)).toBe(3);
  expect(await sweepExpiry({ ...all.tree, system: even })).toBe(3);
  expect(await due(all)).toBe(0);
});
