// Undoes the content coding of a body (RFC 9110 8.4): gzip, deflate, br, zstd. Providers compress whole answers
// when they are asked to; streams are asked for without. The decoder takes the next piece only when what it made
// of the last one was read.

import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { BytePiece } from "../../base/byte-piece.ts";
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
  /** The error with which the encoded body broke off. It follows all that could be decoded. */
  #lost: { readonly error: unknown } | null = null;

  constructor(source: UpstreamBody, decoder: Transform) {
    this.#source = source;
    this.#decoder = decoder;
    this.#pieces = decoder[Symbol.asyncIterator]();
    void this.#pump();
  }

  async read(): Promise<BytePiece | null> {
    const { value, done } = await this.#pieces.next().catch((error: unknown) => {
      // Nothing reads on what cannot be decoded, and its connection would wait for that.
      this.#source.cancel();
      throw error;
    });
    if (done !== true) return BytePiece.of(value);
    if (this.#lost !== null) throw this.#lost.error;
    return null;
  }

  cancel(): void {
    this.#decoder.destroy();
    this.#source.cancel();
  }

  finish(): void {
    this.#decoder.destroy();
    this.#source.finish();
  }

  /** Writes the encoded pieces into the decoder, at its pace. Never rejects. */
  async #pump(): Promise<void> {
    const decoder = this.#decoder;
    try {
      for (;;) {
        const piece = await this.#source.read();
        if (decoder.destroyed) return;
        if (piece === null) break;
        if (!decoder.write(piece.bytes())) await roomIn(decoder);
      }
      decoder.end();
    } catch (error) {
      this.#lost = { error };
      // What was written is decoded first. The end that a cut body lacks would be an error in its place.
      if (!decoder.destroyed) decoder.write(NOTHING, () => decoder.push(null));
    }
  }
}

const NOTHING = Buffer.alloc(0);

/** Resolves when the decoder takes more, or is closed. */
const roomIn = (decoder: Transform): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      decoder.off("drain", done).off("close", done);
      resolve();
    };
    decoder.on("drain", done).on("close", done);
  });
