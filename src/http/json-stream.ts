// Response bodies that are written while they are sent: however large they become, one piece is in memory at a time. It knows
// nothing of their content.

import type { HeaderRecord } from "../base/header-reader.ts";

/** Returns a stream that reads `text` as fast as it is sent, and ends it with its reader. The event loop turns before each piece. */
export function streamOf(text: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise(setImmediate);
      const { done, value } = await text.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => void text.return(undefined),
  });
}

/**
 * Returns the text if one piece is all of it, else a stream. The first piece is made before, so that its failure is still
 * an error response.
 */
export async function streamed(text: AsyncGenerator<string>): Promise<string | ReadableStream<Uint8Array>> {
  const first = await text.next();
  const second = first.done ? first : await text.next();
  if (second.done) return first.value ?? "";
  return streamOf(
    (async function* all() {
      yield first.value as string;
      yield second.value;
      yield* text;
    })(),
  );
}

/** Characters that are collected before they are sent. */
const PIECE = 65_536;

/** Writes a JSON array of the shapes of all rows, between two texts. It reads rows as they are needed. */
export async function* jsonArray<T>(
  rows: Iterable<T> | AsyncIterable<T>,
  shape: (row: T) => object | Promise<object>,
  [before, after]: readonly [string, string] = ["", ""],
): AsyncGenerator<string> {
  let piece = `${before}[`;
  let comma = "";
  for await (const row of rows) {
    piece += comma + JSON.stringify(await shape(row));
    comma = ",";
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  yield `${piece}]${after}`;
}

/**
 * Returns a handler's answer whose body is this text. A stream must leave as a response, since Elysia would end a failed
 * one as if it were complete. `T` is what the text stands for, so that the compiler compares it with the schema of the
 * answer.
 */
export const rawAnswer = <T>(
  text: string | ReadableStream,
  headers: HeaderRecord = { "content-type": "application/json" },
): T => new Response(text, { headers }) as unknown as T;
