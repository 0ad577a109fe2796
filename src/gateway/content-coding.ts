// Compressed bodies of clients: which codings are read, and the reading, chunk by chunk and apart from the event loop. The
// reader sets the limit to what comes out: when it stops, so does the decoder.

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

type Coding = "gzip" | "deflate" | "br" | "zstd";

const CHUNK_BYTES = 64 * 1024;
/** As a logarithm of 2: what RFC 9659 allows a sender, 8 MB. A frame may ask its reader for far more memory. */
const ZSTD_WINDOW_LOG_MAX = 23;

const OPTIONS = { chunkSize: CHUNK_BYTES };

/** `first`: the first byte of the body. */
const DECODERS: Readonly<Record<Coding, (first: number) => Transform>> = {
  gzip: () => createGunzip(OPTIONS),
  // Some clients leave out the zlib header, whose low four bits are always 8.
  deflate: (first) => ((first & 0x0f) === 8 ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
  br: () => createBrotliDecompress(OPTIONS),
  zstd: () =>
    createZstdDecompress({
      ...OPTIONS,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
};

export const CODINGS: readonly string[] = Object.keys(DECODERS);

/** Another name of the same. */
const ALIASES: Readonly<Record<string, string>> = { "x-gzip": "gzip" };

/** The coding of a request's body; null: it comes as it is. Throws Refused, 415, for one that is not read. */
export function codingOf(headers: Headers): Coding | null {
  const names = (headers.get("content-encoding") ?? "")
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

/** One compressed body, read once. */
export class DecodedBody {
  /** Why the body could not be read to its end, where that was not the decoder's doing. */
  private lost: { readonly error: unknown } | null = null;

  constructor(
    private readonly coding: Coding,
    private readonly body: AsyncGenerator<Uint8Array>,
  ) {}

  /** What it holds; nothing of an empty body. Throws Refused for what is not in this coding, and what the body throws. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const first = await this.firstChunk();
    if (first === null) return;
    const decoder = DECODERS[this.coding](first[0]!);
    // An error of either comes to the loop below.
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

  /** The first chunk that holds anything; null: there is none. */
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
