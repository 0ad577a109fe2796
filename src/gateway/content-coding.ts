// Decodes compressed request bodies chunk by chunk, off the event loop. It sets no limit to the decoded size:
// the consumer does, and the decoder stops when the consumer stops reading.

import { pipeline, Readable, type Transform } from "node:stream";
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { RefusedError } from "../base/errors.ts";
import type { HeaderReader } from "../base/header-reader.ts";

type Coding = "gzip" | "deflate" | "br" | "zstd";

const CHUNK_BYTES = 64 * 1024;
/**
 * Base-2 logarithm of the largest zstd window: 8 MB, which RFC 9659 allows a sender. A frame may ask its
 * decoder for far more memory.
 */
const ZSTD_WINDOW_LOG_MAX = 23;

const OPTIONS = { chunkSize: CHUNK_BYTES };

/** The decoder of each coding; `first` is the first byte of the body. */
const DECODERS: Readonly<Record<Coding, (first: number) => Transform>> = {
  gzip: () => createGunzip(OPTIONS),
  // Some clients omit the zlib header, whose low four bits are always 8.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
  br: () => createBrotliDecompress(OPTIONS),
  zstd: () =>
    createZstdDecompress({
      ...OPTIONS,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
};

/** The content codings that are accepted. */
export const CODINGS: readonly string[] = Object.keys(DECODERS);

/** Registered aliases of codings (RFC 9110, 8.4.1.3). */
const ALIASES: Readonly<Record<string, string>> = { "x-gzip": "gzip" };

/**
 * Returns the coding of a request's body, or null when it has none. Throws `RefusedError` with status 415 for
 * an unknown coding and for more than one.
 */
export function codingOf(headers: HeaderReader): Coding | null {
  const stated = headers.get("content-encoding");
  if (stated === null) return null;
  const names = stated
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const [name, ...others] = names;
  if (name === undefined) return null;
  const coding = ALIASES[name] ?? name;
  if (others.length === 0 && isCoding(coding)) return coding;
  const message = `The content-encoding of the body must be one of ${CODINGS.join(", ")}, or none.`;
  throw new RefusedError({ code: "invalid_parameter", message, status: 415 });
}

const isCoding = (name: string): name is Coding => Object.hasOwn(DECODERS, name);

/** One compressed body, which can be read once. */
export class DecodedBody {
  /** The error of the underlying body, when that failed and not the decoder. */
  private lost: { readonly error: unknown } | null = null;

  constructor(
    private readonly coding: Coding,
    private readonly body: AsyncGenerator<Uint8Array>,
  ) {}

  /**
   * Yields the decoded chunks; none for an empty body. Throws `RefusedError` for bytes that do not match the
   * coding, and rethrows errors of the underlying body.
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const first = await this.firstChunk();
    if (first === null) return;
    const decoder = DECODERS[this.coding](first[0]!);
    // The loop below receives an error of either.
    pipeline(Readable.from(this.arriving(first)), decoder, () => undefined);
    try {
      for await (const chunk of decoder) yield chunk as Uint8Array;
    } catch (error) {
      if (this.lost !== null) throw this.lost.error;
      if (!(error instanceof Error)) throw error;
      const message = `The body cannot be read as ${this.coding}, which its content-encoding says it is.`;
      throw new RefusedError({ code: "invalid_parameter", message });
    }
  }

  /** Returns the first chunk that is not empty, or null when there is none. */
  private async firstChunk(): Promise<Uint8Array | null> {
    for (;;) {
      const next = await this.body.next();
      if (next.done === true) return null;
      if (next.value.byteLength > 0) return next.value;
    }
  }

  private async *arriving(first: Uint8Array): AsyncGenerator<Uint8Array> {
    try {
      yield first;
      yield* this.body;
    } catch (error) {
      this.lost = { error };
      throw error;
    }
  }
}
