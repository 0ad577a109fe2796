// A whole answer that breaks off, or cannot be decoded, does not leave its connection waiting to be read on.

import { expect, test } from "bun:test";
import { Cancellation } from "../../../src/base/cancellation.ts";
import { AttemptReader } from "../../../src/gateway/attempt/attempt-reader.ts";
import type { UpstreamHead } from "../../../src/upstream/upstream.ts";
import { manualClock } from "../../runtime/manual-clock.ts";

class Reader extends AttemptReader<never, never> {
  answer(head: UpstreamHead) {
    return this.read(head);
  }
}

const BROKEN = Object.assign(new Error("incorrect header check"), { name: "ZlibError" });

test.each([
  [
    "at once",
    () => {
      throw BROKEN;
    },
  ],
  ["later", () => Promise.reject(BROKEN)],
])("a body whose coding is broken, found %s, is cancelled", async (_, read) => {
  let cancelled = 0;
  const body = { read, cancel: () => cancelled++, finish: () => undefined };
  const parts = { clock: manualClock(), limits: { upstreamIdleMs: 1_000 } };
  const input = { answers: "json", request: { stream: false }, abort: new Cancellation() };
  const reader = new Reader(parts as never, input as never);
  const headers = new Headers({ "content-type": "application/json" });
  const reading = await reader.answer({ ok: true, status: 200, headers, body } as unknown as UpstreamHead);
  expect(reading).toMatchObject({ name: "server_error", note: "ZlibError" });
  expect(cancelled).toBe(1);
});
