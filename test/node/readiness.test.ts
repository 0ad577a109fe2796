// Why a node should get no requests, as far as it knows without asking anybody: each reason by itself.

import { describe, expect, test } from "bun:test";
import { createReadinessCheck, upByNow } from "../../src/node/readiness.ts";

/** A node beside another one; what is wrong with it is passed. */
function standing(wrong: {
  readonly leaving?: boolean;
  readonly line?: boolean;
  readonly placed?: boolean;
  readonly skewMs?: number;
  readonly deaf?: boolean;
  readonly other?: "up" | "dead";
}): string | null {
  const { leaving = false, line = true, placed = true, skewMs = 0, deaf = false, other = "up" } = wrong;
  const members = [
    { name: "a", incarnation: "1", state: "up" as const },
    { name: "b", incarnation: "1", state: other },
  ];
  return createReadinessCheck({
    placement: { placed: () => placed, members: () => members, node: () => "a#1" },
    connected: () => line,
    health: { skewMs: () => skewMs, isStoreUnresponsive: () => deaf },
    leaving: () => leaving,
  })();
}

test.each([
  ["nothing is wrong", {}, null],
  ["it leaves", { leaving: true }, "the process is stopping"],
  ["no line to the others", { line: false }, "NATS cannot be reached"],
  ["the store is deaf to it", { deaf: true }, "the store answers nothing that requests need"],
  ["a shard without an owner", { placed: false }, "not every shard has an owner that is known to live"],
  ["a wrong clock", { skewMs: -2_001 }, "the clock is -2001 ms from the store's"],
  ["a wrong clock, and nobody else is up", { skewMs: 2_001, other: "dead" }, null],
] as const)("%s", (_, wrong, reason) => {
  expect(standing(wrong)).toBe(reason);
});

describe("another node", () => {
  const seen = () => {
    let table: readonly string[] = ["b#1"];
    const reads: string[] = [];
    const placement = {
      others: () => table,
      async refresh() {
        reads.push("table");
        table = ["b#1", "c#1"];
      },
    };
    return { reads, isUp: upByNow(placement) };
  };

  test("that is known is up, and nobody looks", async () => {
    const { isUp, reads } = seen();
    expect([await isUp("b#1"), reads]).toEqual([true, []]);
  });

  test("that has joined since the last look is up; one that is in no table is not", async () => {
    const { isUp, reads } = seen();
    expect([await isUp("c#1"), await isUp("d#1")]).toEqual([true, false]);
    expect(reads).toHaveLength(2);
  });
});
