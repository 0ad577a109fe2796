// What is added in one turn of the event loop is handled together at its end, each item once and in order.

import { expect, test } from "bun:test";
import { realClock } from "../../src/base/clock.ts";
import { TurnQueue } from "../../src/base/turn-queue.ts";

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("handles at the end of the turn, in order, and what is added meanwhile in the next", async () => {
  const handled: string[] = [];
  const queue = new TurnQueue<string>(realClock(), (item) => {
    handled.push(item);
    if (item === "a") queue.add("c");
  });
  queue.add("a");
  await Promise.resolve();
  queue.add("b");
  await Promise.resolve();
  expect(handled).toEqual([]);
  await endOfTurn();
  expect(handled).toEqual(["a", "b"]);
  await endOfTurn();
  expect(handled).toEqual(["a", "b", "c"]);
  await endOfTurn();
  expect(handled).toEqual(["a", "b", "c"]);
});
