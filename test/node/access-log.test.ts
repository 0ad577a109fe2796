// The buffer of the access log: lines leave whole and in order, one batch at a time, and are dropped and counted at its bound;
// and its output, which other processes may share.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type AccessLine, accessLineOf } from "../../src/gateway/traffic/access-line.ts";
import { BufferedAccessLog } from "../../src/node/access-log.ts";
import { piecesOf, WHOLE_BYTES_MAX } from "../../src/node/line-pieces.ts";
import { endedRequest } from "../gateway/traffic/ended.ts";
import { manualClock, settled } from "../runtime/manual-clock.ts";
import { LINES_OF_WRITER } from "./pipe-writer.ts";

/** A log whose reader takes a write only when the test lets it. */
function slowLog(most: number, node: string | null = null) {
  const clock = manualClock();
  const writes: { readonly text: string; readonly done: PromiseWithResolvers<void> }[] = [];
  const log = new BufferedAccessLog(
    clock,
    (text) => {
      const done = Promise.withResolvers<void>();
      writes.push({ text, done });
      return done.promise;
    },
    node,
    most,
  );
  return { clock, writes, log };
}

const line = (request_id: string): AccessLine => ({ ...accessLineOf(endedRequest(), 1_100), request_id });
const SIZE = JSON.stringify(line("00")).length + 1;
const idsIn = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((one) => JSON.parse(one).request_id);

test("lines are collected, written one batch at a time, and dropped when too much is unwritten", async () => {
  const { clock, writes, log } = slowLog(3 * SIZE + 1);
  log.write(line("01"));
  log.write(line("02"));
  expect(writes).toEqual([]);
  clock.advance(20);
  await settled();
  expect(writes.map(({ text }) => idsIn(text))).toEqual([["01", "02"]]);
  // What is being written takes room until the reader has it.
  for (const id of ["03", "04", "05"]) log.write(line(id));
  expect(log.dropped()).toBe(2);
  writes[0]!.done.resolve();
  await settled();
  expect(idsIn(writes[1]!.text)).toEqual(["03"]);
  writes[1]!.done.resolve();
  await log.close();
  log.write(line("06"));
  clock.advance(20);
  await settled();
  expect(idsIn(writes[2]!.text)).toEqual(["06"]);
  expect(log.dropped()).toBe(2);
});

test("what nobody can read any more is counted as dropped, and later lines are still tried", async () => {
  const { clock, writes, log } = slowLog(1_000_000);
  log.write(line("01"));
  clock.advance(20);
  await settled();
  log.write(line("02"));
  writes[0]!.done.reject(new Error("EPIPE"));
  await settled();
  expect(log.dropped()).toBe(1);
  expect(idsIn(writes[1]!.text)).toEqual(["02"]);
});

test("at the end of the process the last lines get a second", async () => {
  const { clock, writes, log } = slowLog(1_000_000);
  log.write(line("01"));
  const closing = log.close();
  clock.advance(20);
  await settled();
  expect(writes).toHaveLength(1);
  clock.advance(1_000);
  await closing;
});

test("each line names its node where several write to one output", async () => {
  const { clock, writes, log } = slowLog(1_000_000, 'gw-"1"');
  log.write(line("01"));
  clock.advance(20);
  await settled();
  expect(JSON.parse(writes[0]!.text)).toEqual({ ...line("01"), node: 'gw-"1"' });
});

describe("pieces", () => {
  const cut = (text: string) => [...piecesOf(Buffer.from(text))].map(String);
  const long = `${"x".repeat(WHOLE_BYTES_MAX - 1)}\n`;
  test.each([
    ["nothing", "", []],
    ["lines that fit together", "a\nb\n", ["a\nb\n"]],
    ["a line that just fits, between others", `a\n${long}b\n`, ["a\n", long, "b\n"]],
    ["a line that does not fit, between others", `a\nx${long}b\n`, ["a\n", `x${long}`, "b\n"]],
    ["characters of several bytes", "é\n".repeat(2_000), ["é\n".repeat(1_365), "é\n".repeat(635)]],
  ])("%s", (_, text, pieces) => {
    expect(cut(text)).toEqual(pieces);
  });
});

test("lines of two processes on one pipe come out whole: of the access log, and of the log", async () => {
  const writer = `${process.execPath} ${join(import.meta.dir, "pipe-writer.ts")}`;
  // A pipe of the shell's, since that of this process to a child may be a socket. Its reader takes little at a time, so it is full.
  const script = `{ ${writer} gw-1 2>&1 & ${writer} gw-2 2>&1 & wait; } | dd bs=1000 status=none`;
  const child = Bun.spawn(["sh", "-c", script], { stdout: "pipe", stderr: "inherit" });
  const lines = (await new Response(child.stdout).text()).trimEnd().split("\n");
  const read = lines.map((text) => JSON.parse(text));
  for (const node of ["gw-1", "gw-2"]) {
    const own = read.filter((one) => one.node === node);
    expect(own.filter(({ msg }) => msg === "told")).toHaveLength(LINES_OF_WRITER);
    expect(new Set(own.map((one) => one.request_id)).size).toBe(LINES_OF_WRITER + 1);
  }
}, 60_000);
