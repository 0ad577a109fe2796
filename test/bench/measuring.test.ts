// The steps that measures of the benchmark share: rounds in turn, repeated calls, and the body of an answer in chunks.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unchunked } from "../../bench/connection.ts";
import { time } from "../../bench/micro/timing.ts";
import { startProgram } from "../../bench/process.ts";
import { inTurns, ratiosOf } from "../../bench/rounds.ts";
import { freePort } from "../store/tcp.ts";

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

test("a child that has ended, and that its parent has not asked for yet, has no memory", async () => {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-process-"));
  const port = await freePort();
  // What a shell started before it became another program is left as it ended: the program does not know of it.
  const program = await startProgram(
    [
      "sh",
      "-c",
      `true & exec "$0" -e "$1"`,
      process.execPath,
      `Bun.serve({ port: ${port}, fetch: () => new Response() })`,
    ],
    { env: {}, directory, logFile: join(directory, "log"), readyUrl: `http://127.0.0.1:${port}` },
  );
  try {
    const children = readFileSync(`/proc/${program.pid}/task/${program.pid}/children`, "utf8").trim();
    expect(readFileSync(`/proc/${children}/status`, "utf8")).toContain("zombie");
    expect(program.rssBytes()).toBeGreaterThan(0);
  } finally {
    await program.stop();
    rmSync(directory, { recursive: true });
  }
});
