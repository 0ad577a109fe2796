// The steps that measures of the benchmark share: rounds in turn, repeated calls, and the body of an answer in chunks.

import { describe, expect, test } from "bun:test";
import { unchunked } from "../../bench/connection.ts";
import { time } from "../../bench/micro/timing.ts";
import { inTurns, ratiosOf } from "../../bench/rounds.ts";

describe("rounds in turn", () => {
  test("begin with another side each time, and the first does not count", async () => {
    const order: string[] = [];
    let figure = 0;
    const side = (name: string) => async () => {
      order.push(name);
      return figure++;
    };
    const figures = await inTurns([side("a"), side("b"), side("c")], 2);
    expect(order.join("")).toBe("abcbcacab");
    expect(figures).toEqual([
      [5, 7],
      [3, 8],
      [4, 6],
    ]);
  });

  test("give one ratio each", () => {
    expect(ratiosOf([6, 4], [3, 4])).toEqual([2, 1]);
  });
});

describe("repeated calls", () => {
  const repetitions = { repetitions: 2, callsMax: 8, msMax: Number.POSITIVE_INFINITY };

  test("are made in chunks, numbered through, with one repetition more to warm up", async () => {
    const numbers: number[] = [];
    let chunks = 0;
    const { calls } = await time(
      { chunk: 4, call: (nth) => numbers.push(nth), between: () => chunks++ },
      repetitions,
    );
    expect(numbers).toEqual(Array.from({ length: 24 }, (_, nth) => nth));
    expect([calls, chunks]).toEqual([8, 6]);
  });

  test("wait for a promise before the next", async () => {
    let open = 0;
    let most = 0;
    const call = async () => {
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
    };
    await time({ chunk: 4, call }, repetitions);
    expect(most).toBe(1);
  });
});

test("a body is put together from its chunks, wherever they were cut", () => {
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  const answer = Buffer.from(`${head}c\r\ndata: [DONE]\r\n1;x=y\r\n\n\r\n1\r\n\n\r\n0\r\n\r\n`);
  expect(unchunked(answer).toString()).toBe("data: [DONE]\n\n");
});
