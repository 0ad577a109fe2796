// Reads a provider's audio answer. Bytes pass unchanged, but the last byte waits for the charge, as the
// closing event of other streams does. It keeps only the number of bytes and the beginning of the file.

import type { WholeAnswer, WholeBody } from "../../dialect/dialect.ts";
import { brokenChunk, type StreamChunk, type StreamResult, type StreamSource } from "./stream-source.ts";
import { type BodyParts, watchedBody } from "./watched-body.ts";

/** The beginning that is kept; it contains the file's header. */
const BEGINNING_BYTES = 1_024;

/** Creates the source. `read` returns the dialect's reading of that number of bytes and the beginning. */
export function audioSource(
  parts: BodyParts & { read: (sound: NonNullable<WholeBody["sound"]>) => WholeAnswer },
): StreamSource {
  const body = watchedBody(parts);
  let beginning = new Uint8Array(0);
  let bytes = 0;
  let held: Uint8Array | null = null;

  const machine: StreamResult = {
    usage: null,
    serviceTier: null,
    chars: 0,
    texts: () => [],
    outcome: (clean) => (bytes === 0 ? "empty" : clean ? "complete" : "broken"),
    get delivered() {
      return bytes > 0;
    },
    get measured() {
      const answer = parts.read({ bytes, beginning });
      return answer.ok ? answer.measured : {};
    },
  };

  function keepBeginning(chunk: Uint8Array): void {
    if (beginning.length >= BEGINNING_BYTES) return;
    const more = chunk.subarray(0, BEGINNING_BYTES - beginning.length);
    const longer = new Uint8Array(beginning.length + more.length);
    longer.set(beginning);
    longer.set(more, beginning.length);
    beginning = longer;
  }

  function take(chunk: Uint8Array | null): StreamChunk {
    if (chunk === null) {
      const end = held === null ? ({ kind: "eof" } as const) : ({ kind: "done", bytes: held } as const);
      return { bytes: [], content: false, end };
    }
    if (chunk.length === 0) return { bytes: [], content: false, end: null };
    keepBeginning(chunk);
    bytes += chunk.length;
    const passed = held === null ? [] : [held];
    if (chunk.length > 1) passed.push(chunk.subarray(0, -1));
    held = chunk.slice(-1);
    return { bytes: passed, content: true, end: null };
  }

  return { machine, next: () => body.next(take, brokenChunk), stop: body.stop };
}
