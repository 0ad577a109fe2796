// Requests and responses of the server as those of the runtime, in which Elysia reads and writes them, and back. The paths that
// are asked most go without (app.ts). It changes no byte of a body.

import { runtimeSignal } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { TurnEnd } from "../base/turn-queue.ts";
import type { BodySink, BodySource } from "../gateway/call.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** The host of addresses whose own is none. No endpoint reads it. */
const SOME_HOST = "localhost";

/**
 * Returns the request for Elysia; null where the runtime does not know its method, or its target is no path. Its signal and
 * its body are those of `request`.
 */
export function webRequestOf(request: ServerRequest): Request | null {
  const { method, headers } = request;
  const body = method === "GET" || method === "HEAD" ? null : request.body;
  const parts = {
    method,
    headers: [...headers.entries()],
    signal: runtimeSignal(request.signal),
    ...(body === null ? {} : { body: streamOf(body), duplex: "half" }),
  };
  const target = targetOf(request.head.target);
  const made =
    requestAt(`http://${headers.get("host") || SOME_HOST}${target}`, parts) ??
    requestAt(`http://${SOME_HOST}${target}`, parts);
  // The runtime takes an unknown method for GET.
  return made?.method === method ? made : null;
}

function requestAt(url: string, parts: RequestInit): Request | null {
  try {
    return new Request(url, parts);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const ASCII = /^[\x20-\x7e]*$/;

/** Heads are read as latin1; a target with other characters is UTF-8. */
const targetOf = (target: string): string =>
  ASCII.test(target) ? target : Buffer.from(target, "latin1").toString("utf8");

/** Returns a stream that reads the chunks as they are asked for. */
function streamOf(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reading = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const { done, value } = await reading.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    // Nothing is read before it is asked for, so that a client that waits for a word with its body gets it then.
    { highWaterMark: 0 },
  );
}

/** Returns a response of known body for Elysia. */
export function webResponseOf({ status, headers, body }: ServerResponse): Response {
  return new Response(body as string | null, { status, headers });
}

/** Turns responses of Elysia into those of the server. */
export class WebResponses {
  readonly #turnEnd: TurnEnd;

  constructor(clock: Pick<Clock, "endOfTurn">) {
    this.#turnEnd = new TurnEnd(clock);
  }

  /**
   * Resolves to the response. Its body is known where it ends in the turn in which it is first read, as that of a text or of bytes
   * does, which the runtime hands out in pieces; others are a source.
   */
  async serverResponseOf(response: Response): Promise<ServerResponse> {
    const { status } = response;
    const headers: Record<string, string> = {};
    for (const [name, value] of response.headers) headers[name] = value;
    if (response.body === null) return { status, headers, body: null };
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    if (first.done) return { status, headers, body: "" };
    const turnEnd = this.#turnEnd.reached();
    const pieces = [first.value];
    for (let bytes = first.value.length; ; ) {
      const reading = reader.read();
      const next = bytes > KNOWN_BYTES_MAX ? undefined : await Promise.race([reading, turnEnd]);
      if (next === undefined) return { status, headers, body: new WebBody(reader, pieces, reading) };
      if (next.done) return { status, headers, body: pieces };
      pieces.push(next.value);
      bytes += next.value.length;
    }
  }
}

/** Bytes of a body that are read before it is sent, so that its length can be stated. */
const KNOWN_BYTES_MAX = 4 * 1024 * 1024;

type Reading = ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>;

/** A body that is read while it is sent. */
class WebBody implements BodySource {
  #isGone = false;

  constructor(
    private readonly reader: ReadableStreamDefaultReader<Uint8Array>,
    /** Pieces that were read. */
    private readonly pieces: readonly Uint8Array[],
    private readonly reading: Reading,
  ) {
    // Its failure is seen when the body is filled; until then it is nobody's.
    reading.catch(() => undefined);
  }

  async fill(client: BodySink): Promise<void> {
    for (const piece of this.pieces) await client.write(piece);
    let next = await this.reading;
    while (!next.done && !this.#isGone) {
      await client.write(next.value);
      next = await this.reader.read();
    }
    client.close();
  }

  gone(): void {
    this.#isGone = true;
    void this.reader.cancel().catch(() => undefined);
  }
}
