// The output of the log: lines leave whole and in order, one piece at a time; what cannot be written is dropped, counted and told, and
// neither holds up the process nor its end.

import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorOutput, LogOutput } from "../../src/node/log-output.ts";
import { guarded } from "../children.ts";
import { SECRETS_KEY } from "../cli/workload.ts";
import { until } from "../e2e/harness.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { freePort } from "../store/tcp.ts";

const failure = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** An output that takes a write only when the test lets it, or at once where the process ends. */
function output(most?: number) {
  const clock = manualClock();
  const writes: { readonly text: string; readonly end: (error: string | null, written?: number) => void }[] =
    [];
  const atEnd: string[] = [];
  const failures: string[] = [];
  const dropped: number[] = [];
  const out: ErrorOutput = {
    write: (bytes, done) =>
      void writes.push({
        text: bytes.toString(),
        end: (error, written = bytes.length) => done(error === null ? null : failure(error), written),
      }),
    writeSync(bytes) {
      const code = failures.shift();
      if (code !== undefined) throw failure(code);
      atEnd.push(bytes.toString());
      return bytes.length;
    },
  };
  const log = new LogOutput(clock, out, (lines) => void dropped.push(lines), most);
  return { clock, log, writes, atEnd, failures, dropped };
}

describe("the log's output", () => {
  test("writes one piece at a time, and the rest of what was taken in part", () => {
    const { log, writes } = output();
    for (const line of ["a\n", "b\n", "c\n"]) log.write(line);
    expect(writes.map(({ text }) => text)).toEqual(["a\n"]);
    writes[0]!.end(null, 1);
    writes[1]!.end(null);
    expect(writes.map(({ text }) => text)).toEqual(["a\n", "\n", "b\nc\n"]);
  });

  test("tries again a little later when the reader takes nothing", async () => {
    const { clock, log, writes } = output();
    log.write("a\n");
    writes[0]!.end("EAGAIN");
    expect(writes).toHaveLength(1);
    await clock.advance(100);
    expect(writes.map(({ text }) => text)).toEqual(["a\n", "a\n"]);
  });

  test("drops what does not fit behind a reader that takes nothing, and tells it when all is written", () => {
    const { log, writes, dropped } = output(6);
    for (const line of ["a\n", "b\n", "c\n", "d\n", "e\n"]) log.write(line);
    writes[0]!.end(null);
    expect(dropped).toEqual([]);
    writes[1]!.end(null);
    expect(writes.map(({ text }) => text)).toEqual(["a\n", "b\nc\n"]);
    expect(dropped).toEqual([2]);
    log.write("f\n");
    expect(writes.at(-1)!.text).toBe("f\n");
  });

  test("drops what cannot be written, and tells it once something is", () => {
    const { log, writes, dropped } = output();
    for (const line of ["a\n", "b\n", "c\n"]) log.write(line);
    writes[0]!.end("ENOSPC");
    writes[1]!.end("ENOSPC");
    expect(dropped).toEqual([]);
    log.write("d\n");
    writes[2]!.end(null);
    expect(writes.map(({ text }) => text)).toEqual(["a\n", "b\nc\n", "d\n"]);
    expect(dropped).toEqual([3]);
  });

  test("writes at the end of the process what waits, and gives up at the first failure", () => {
    const written = output();
    for (const line of ["a\n", "b\n"]) written.log.write(line);
    written.log.flushSync();
    expect(written.atEnd).toEqual(["b\n"]);

    const failed = output();
    failed.failures.push("ENOSPC");
    for (const line of ["a\n", `${"x".repeat(4_096)}\n`, "c\n"]) failed.log.write(line);
    failed.log.flushSync();
    expect(failed.atEnd).toEqual([]);
  });
});

describe("serve whose standard error", () => {
  const home = mkdtempSync(join(tmpdir(), "arborgate-stderr-"));
  const main = join(import.meta.dir, "../../src/main.ts");
  afterAll(() => rmSync(home, { recursive: true }));

  test.each([
    ["is on a full disk", "json"],
    ["is on a full disk, in lines for a person,", "pretty"],
    ["has no reader any more", "json"],
  ])("%s serves, and ends in order", async (what, format) => {
    const port = await freePort();
    const full = openSync("/dev/full", "w");
    const child = guarded(
      Bun.spawn([process.execPath, main, "serve"], {
        cwd: home,
        env: {
          STORE_URL: `sqlite:${join(home, `${port}.db`)}`,
          ...{ SECRETS_KEY, PORT: String(port), LOG_LEVEL: "debug", LOG_FORMAT: format },
        },
        stdout: "ignore",
        stderr: what.includes("disk") ? full : "pipe",
      }),
    );
    closeSync(full);
    if (child.stderr instanceof ReadableStream) await child.stderr.cancel();
    const serves = async () =>
      (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null))?.status === 200;
    await until("it serves", async () => child.exitCode !== null || (await serves()));
    child.kill("SIGTERM");
    await until("it ends", () => Promise.resolve(child.exitCode !== null || child.signalCode !== null));
    expect(child.exitCode).toBe(0);
  });
});
