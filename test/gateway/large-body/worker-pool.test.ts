// The threads for large bodies: bytes go there and come back, jobs beyond the bound are refused, those whose client has gone are
// left out, and a thread that ends badly fails its own job alone.

import { afterAll, expect, test } from "bun:test";
import { type Log, silent } from "../../../src/base/log.ts";
import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";
import type { Jobs } from "../../../src/gateway/large-body/jobs.ts";
import { LargeBodyPool } from "../../../src/gateway/large-body/worker-pool.ts";

const TEXT = JSON.stringify({ model: "m", messages: [{ role: "user", content: "word ".repeat(1_000) }] });

function reading(text = TEXT): [kind: "read", input: Jobs["read"]["input"], buffers: ArrayBuffer[]] {
  const bytes = Buffer.from(text);
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  const input = { body, path: "/v1/chat/completions", contentType: "application/json", hashPrefix: null };
  return ["read", input, [body.buffer.buffer as ArrayBuffer]];
}

const pool = new LargeBodyPool(silent, 0, { threadsMax: 1, waitingMax: 2 });
afterAll(() => pool.stop());

test("a body is handed over and comes back as it was, with what is known of its request", async () => {
  const [kind, input, buffers] = reading();
  const { body, output } = await pool.run(kind, input, buffers);
  expect(input.body.buffer.length).toBe(0);
  expect(Buffer.from(body!.buffer.subarray(body!.from, body!.to)).toString()).toBe(TEXT);
  expect(output.parsed).toMatchObject({ ok: true, request: { model: "m", stream: false } });
  expect(output.editable).toMatchObject({ fields: { fields: [{ name: "model" }, { name: "messages" }] } });
});

test("a refusal comes as one", async () => {
  await expect(pool.run(...reading("{"))).rejects.toMatchObject({ refusal: { code: "invalid_json" } });
});

test("beyond those that run and wait a job is refused, and nothing of it is taken", async () => {
  const running = [1, 2, 3].map(() => pool.run(...reading()));
  const [kind, input, buffers] = reading();
  await expect(pool.run(kind, input, buffers)).rejects.toMatchObject({
    refusal: { code: "service_unavailable", retryAfterS: 1 },
  });
  expect(input.body.buffer.length).toBeGreaterThan(0);
  expect((await Promise.all(running)).every(({ output }) => output.parsed.ok)).toBe(true);
});

test("a prompt whose answer is paid for is counted, however many bodies wait to be read", async () => {
  const { body, output } = await pool.run(...reading());
  if (!output.parsed.ok) throw new Error("it is a request");
  const running = [1, 2, 3].map(() => pool.run(...reading()));
  const { path, contentType } = reading()[1];
  const input = { body: body!, path, contentType, request: output.parsed.request };
  const counted = await pool.run("count", input, [body!.buffer.buffer as ArrayBuffer]);
  expect(counted.output).toBeWithin(1_000, 1_020);
  await Promise.all(running);
});

test("a client that goes ends its wait, and its place is free at once", async () => {
  const client = new AbortController();
  const running = pool.run(...reading());
  const [kind, input, buffers] = reading();
  const waiting = pool.run(kind, input, buffers, client.signal);
  const gone = new DOMException("gone", "AbortError");
  client.abort(gone);
  await expect(waiting).rejects.toBe(gone);
  expect(input.body.buffer.length).toBeGreaterThan(0);
  const next = [1, 2].map(() => pool.run(...reading()));
  await Promise.all([running, ...next]);
});

test("a client that goes while its body is read does not hold up the next", async () => {
  const client = new AbortController();
  const running = pool.run(...reading(), client.signal);
  await Promise.resolve();
  client.abort(new DOMException("gone", "AbortError"));
  await expect(running).rejects.toThrow("gone");
  expect((await pool.run(...reading())).output.parsed.ok).toBe(true);
});

test("a thread that cannot do its job fails it, and works on", async () => {
  const [kind, input, buffers] = reading();
  const strange = { ...input, path: "/nowhere" };
  await expect(pool.run(kind, strange, buffers)).rejects.toThrow('"path" must be one of');
  expect((await pool.run(...reading())).output.parsed.ok).toBe(true);
});

test("at the end all that runs is rejected, and nothing more is taken", async () => {
  const logged: string[] = [];
  const log: Log = (_, event) => void logged.push(event);
  const ending = new LargeBodyPool(log, 0, { threadsMax: 1, waitingMax: 2 });
  const running = [1, 2].map(() => ending.run(...reading()).catch((error: Error) => error.message));
  await Promise.resolve();
  ending.stop();
  expect(await Promise.all(running)).toEqual(["the threads were stopped", "the threads were stopped"]);
  expect(logged).toEqual([]);
});
