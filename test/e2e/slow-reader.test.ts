// A client that stays and does not read on: it holds up nobody for ever, and no key is to blame for it. One counted failure
// puts a key to sleep here.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { asking, type Bench, charges, startBench, until } from "./harness.ts";
import { ask, fateOf } from "./harness-keys.ts";
import { HeldTime } from "./timers.ts";

let bench: Bench;
let time: HeldTime;
beforeAll(async () => {
  time = new HeldTime();
  bench = await startBench({ settings: { KEY_FAILURES: "1", UPSTREAM_IDLE_MS: "5000" } });
});
afterAll(async () => {
  time.release();
  await bench.close();
});

test("is cut off after UPSTREAM_IDLE_MS and charged for its part, and its key has not failed", async () => {
  const owner = await bench.owner();
  const user = await bench.subaccount(owner);
  const { hostname, port } = new URL(bench.url);
  const socket = connect(Number(port), hostname);
  // More than any buffer on the way holds.
  const body = JSON.stringify({ ...asking("[[output=60000]]"), stream: true });
  const head = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: bench",
    `authorization: Bearer ${user.key}`,
    `content-length: ${body.length}`,
  ];
  socket.pause();
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  const charged = until("it is charged", async () => charges(await bench.ledger(user.key)).length === 1);
  const { passedMs } = await time.passing(charged, () => bench.provider.totals().calls > 0);
  expect(passedMs).toBeGreaterThanOrEqual(5_000);
  const [line] = charges(await bench.ledger(user.key));
  expect(line).toMatchObject({ basis: "partial", stream: true });
  expect(line.completion_tokens).toBeWithin(1, 60_000);
  let text = "";
  socket.on("data", (data) => {
    text = (text + data).slice(-1_000);
  });
  socket.resume();
  await until("it is told", () => text.endsWith("0\r\n\r\n"));
  expect(text).toContain('data: {"error":');
  expect(text).not.toContain("[DONE]");
  socket.destroy();
  expect(await fateOf(bench, owner, owner.keys[0]!)).toBe("normal");
  expect((await ask(bench, user)).told).toBe("200");
});
