// Requests that begin in one turn of the event loop are written together at its end, each once and in order.

import { expect, test } from "bun:test";
import { realClock } from "../../../src/base/clock.ts";
import { TurnWrites } from "../../../src/upstream/http1/turn-writes.ts";

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("writes at the end of the turn, in order, and what is added meanwhile in the next", async () => {
  const writes = new TurnWrites(realClock());
  const written: string[] = [];
  const writer = (name: string, then?: () => void) => ({
    writeRequest: () => {
      written.push(name);
      then?.();
    },
  });
  writes.add(writer("a", () => writes.add(writer("c"))));
  await Promise.resolve();
  writes.add(writer("b"));
  await Promise.resolve();
  expect(written).toEqual([]);
  await endOfTurn();
  expect(written).toEqual(["a", "b"]);
  await endOfTurn();
  expect(written).toEqual(["a", "b", "c"]);
  await endOfTurn();
  expect(written).toEqual(["a", "b", "c"]);
});
