// What no node of this version says: news that cannot be read, commands that nobody knows here, as a newer program sends
// them in a rolling deploy. Nobody breaks of it, and nothing of what was said stands in the log.

import { expect, test } from "bun:test";
import { unreachable } from "../../src/base/errors.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { settled } from "./manual-clock.ts";
import { nodesRig } from "./nodes.ts";
import { ledgerOf, rig } from "./rig.ts";

/** An array that does not end. */
const NONSENSE = "[1,";

test("publications that cannot be read are logged and passed over; the next are received", async () => {
  const bus = memoryBus();
  const { system, logged } = await rig({ bus });
  const received: unknown[] = [];
  system.subscribe("purse.>", (_topic, body) => void received.push(body));
  bus.publish("purse.a", NONSENSE);
  await settled();
  await system.ask({ kind: "account", id: "a" }, "announce", { word: "rain" });
  await settled();
  expect(received).toEqual(["rain"]);
  expect(logged.filter(({ event }) => event === "news_failed")).toHaveLength(1);
});

test("publications that one listener fails at are received by the others", async () => {
  const { system, ask, logged } = await rig();
  const received: unknown[] = [];
  system.subscribe("purse.>", () => {
    throw new Error("of another shape");
  });
  system.subscribe("purse.>", (_topic, body) => void received.push(body));
  await ask("a", "announce", { word: "rain" });
  await settled();
  expect(received).toEqual(["rain"]);
  expect(logged.filter(({ event }) => event === "news_failed")).toHaveLength(1);
});

test("a command that this program does not know is not executed, and breaks no actor", async () => {
  const { ask, outcome, store, logged, system } = await rig();
  await ask("a", "add", { amount: 5 });
  await ask("a", "hold", { open: true });
  expect(await outcome("a", "multiply" as "add", { amount: 2 }, { budgetMs: 0 })).toBe(
    "unavailable: overloaded",
  );
  expect(await ask("a", "hold", { open: true })).toBe(2);
  expect(await ledgerOf(store, "a")).toHaveLength(1);
  expect(system.stats().counters.broken).toBe(0);
  expect(logged.map(({ event }) => event)).toContain("command_unknown");
});

test("a command that its node does not know is asked for until a node of a newer program has the actor", async () => {
  const nodes = nodesRig();
  const older = await nodes.start("older");
  const newer = await nodes.start("newer");
  await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards === 128));
  const asked = newer.ask(nodes.idAt(older), "multiply" as "add", { amount: 2 }, { budgetMs: 500 });
  await nodes.run(2_000);
  expect(await asked).toBe("unavailable: overloaded");
  expect(older.system.stats().counters.broken).toBe(0);
});

test("what is said of a case that nobody knows is its type, and none of its body", () => {
  const command = { type: "multiply", secret: "sk-1" } as unknown as never;
  expect(() => unreachable(command)).toThrow(/^no case for multiply$/);
  expect(() => unreachable("sk-1" as never)).toThrow(/^no case for a string$/);
});
