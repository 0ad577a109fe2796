// What comes up in one turn of the event loop goes on together at its end, each item once and in order.

import { expect, test } from "bun:test";
import { realClock } from "../../src/base/clock.ts";
import { TurnEnd, TurnQueue } from "../../src/base/turn-queue.ts";

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

test("all that await the end of a turn go on in their order, and what asks after it waits for the next", async () => {
  const went: string[] = [];
  const end = new TurnEnd(realClock());
  const wait = async (name: string) => {
    await end.reached();
    went.push(name);
  };
  const first = wait("a");
  await Promise.resolve();
  const second = wait("b");
  expect(went).toEqual([]);
  await first;
  const third = wait("c");
  await second;
  expect(went).toEqual(["a", "b"]);
  await third;
  expect(went).toEqual(["a", "b", "c"]);
});
