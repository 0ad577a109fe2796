// Undoes the content coding of a body (RFC 9110 8.4): gzip, deflate, br, zstd. Providers compress whole answers
// when they are asked to; streams are asked for without. The decoder takes the next piece only when what it made
// of the last one was read.

import { Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { UpstreamBody } from "../upstream-response.ts";

/** What `accept-encoding` lists. */
export const ACCEPTED_CODINGS = "gzip, deflate, br, zstd";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Returns the body without its coding; `coding` is the value of `content-encoding`. Returns null for a coding that
 * was not asked for.
 */
export function decodedBody(body: UpstreamBody, coding: string): UpstreamBody | null {
  const name = coding.trim().toLowerCase();
  if (name === "" || name === "identity") return body;
  const decoder = DECODERS[name];
  return decoder === undefined ? null : new DecodedBody(body, decoder());
}

class DecodedBody implements UpstreamBody {
  readonly #source: UpstreamBody;
  readonly #decoder: Transform;
  readonly #pieces: AsyncIterator<Uint8Array>;

  constructor(source: UpstreamBody, decoder: Transform) {
    this.#source = source;
    this.#decoder = decoder;
    const encoded = Readable.from(piecesOf(source), { objectMode: false });
    encoded.on("error", (error) => decoder.destroy(error));
    this.#pieces = encoded.pipe(decoder)[Symbol.asyncIterator]();
  }

  async read(): Promise<Uint8Array | null> {
    const { value, done } = await this.#pieces.next();
    return done === true ? null : value;
  }

  cancel(): void {
    this.#decoder.destroy();
    this.#source.cancel();
  }
}

async function* piecesOf(body: UpstreamBody): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = await body.read();
    if (piece === null) return;
    yield piece;
  }
}
