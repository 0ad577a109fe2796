// What a large body costs beyond its own bytes, measured in a process of its own.

import { expect, test } from "bun:test";
import { join } from "node:path";

const SIZE = 20_000_000;

/** Reads a body of `SIZE` bytes, edits it twice, and prints the most memory that was in use beyond the beginning's. */
const SCRIPT = `
  import { makeRoom } from "${join(import.meta.dir, "../../../src/dialect/payload/patched-bytes.ts")}";
  import { jsonBytesPayload } from "${join(import.meta.dir, "../../../src/dialect/payload/payload-json-bytes.ts")}";
  const used = () => { const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
  const run = (size) => {
    const head = Buffer.from('{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,');
    const body = makeRoom(size);
    body.buffer.fill(65, body.from, body.to);
    body.buffer.set(head, body.from);
    body.buffer.set(Buffer.from('"}}]}],"n":1}'), body.to - 13);
    const payload = jsonBytesPayload(body);
    payload.edited({ model: "another-model", user: "u" });
    return { payload, sent: payload.edited({ model: "x", n: 2 }) };
  };
  run(1_000_000);
  Bun.gc(true);
  const before = used();
  const peakBefore = process.resourceUsage().maxRSS;
  const { payload, sent } = run(${SIZE});
  const after = used();
  const peak = process.resourceUsage().maxRSS;
  console.log(JSON.stringify({ used: after - before, peak: (peak - peakBefore) * (process.platform === "darwin" ? 1 : 1024), sent: sent.length, model: payload.value.model }));
`;

test("a body of 20 MB with a picture in it costs less than 1.3 times its size", async () => {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT], { stdout: "pipe", stderr: "inherit" });
  const measured = JSON.parse(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(measured.model).toBe("m");
  expect(measured.sent).toBe(SIZE);
  expect(measured.used).toBeGreaterThanOrEqual(0);
  expect(measured.used).toBeLessThan(1.3 * SIZE);
  // What was in use in between and has been let go of shows in the peak alone.
  expect(measured.peak).toBeLessThan(1.3 * SIZE + 8_000_000);
}, 90_000);
