// Sound as it is read: every byte passes as it came, but the last one, which waits for the charge.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Cancellation } from "../../../src/base/cancellation.ts";
import type { WholeBody } from "../../../src/dialect/dialect.ts";
import { AudioSource } from "../../../src/gateway/attempt/audio-source.ts";
import type { StreamPart } from "../../../src/gateway/call.ts";
import type { StreamEnd } from "../../../src/gateway/codec/provider-answer.ts";
import { FetchBody } from "../../../src/upstream/fetch-transport.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { bytesOfParts } from "./stream-parts.ts";

function sourceOf(chunks: readonly Uint8Array[], fails: boolean) {
  const seen: NonNullable<WholeBody["sound"]>[] = [];
  let at = 0;
  const source = new AudioSource({
    body: new FetchBody(
      new ReadableStream({
        pull(controller) {
          if (at < chunks.length) controller.enqueue(chunks[at++]!);
          else if (fails) controller.error(new Error("reset"));
          else controller.close();
        },
      }),
    ),
    read(sound) {
      seen.push(sound);
      return {
        ok: true,
        body: null,
        usage: null,
        serviceTier: null,
        texts: [],
        measured: { seconds: sound.bytes },
      };
    },
    clock: manualClock(),
    idleMs: 1_000,
    abort: new Cancellation(),
  });
  return { source, seen };
}

async function passed(source: ReturnType<typeof sourceOf>["source"]) {
  const parts: StreamPart[] = [];
  let end: StreamEnd | null = null;
  let content = false;
  while (end === null) {
    const batch = await source.next();
    parts.push(...batch.parts);
    content ||= batch.content;
    ({ end } = batch);
  }
  return { bytes: bytesOfParts(parts), end, content };
}

const anyChunks = fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 8 });

describe("sound", () => {
  test("of any chunks passes as it came, its last byte at the end", async () => {
    await fc.assert(
      fc.asyncProperty(anyChunks, async (chunks) => {
        const all = Buffer.concat(chunks);
        const { source, seen } = sourceOf(chunks, false);
        const { bytes, end, content } = await passed(source);
        expect(content).toBe(all.length > 0);
        if (all.length === 0) {
          expect([bytes.length, end.kind, source.machine.outcome(true)]).toEqual([0, "eof", "empty"]);
          return;
        }
        expect(end).toEqual({ kind: "done", bytes: Uint8Array.from(all.subarray(-1)) });
        expect(bytes.equals(all.subarray(0, -1))).toBe(true);
        expect(source.machine.outcome(true)).toBe("complete");
        expect(source.machine.measured).toEqual({ seconds: all.length });
        expect(Buffer.from(seen[0]!.beginning).equals(all.subarray(0, 1_024))).toBe(true);
      }),
    );
  });

  test("that is cut keeps its last byte, and is broken", async () => {
    const { source } = sourceOf([new Uint8Array(10), new Uint8Array(5)], true);
    const { bytes, end } = await passed(source);
    expect([bytes.length, end.kind]).toEqual([14, "cut"]);
    expect([source.machine.delivered, source.machine.outcome(false)]).toEqual([true, "broken"]);
  });
});
