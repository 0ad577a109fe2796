// Compressed bodies: what comes out is what went in, within the bound, whatever a client packs; and the event loop turns.

import { describe, expect, test } from "bun:test";
import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { RefusedError } from "../../src/base/errors.ts";
import { chunksOf } from "../../src/gateway/body.ts";
import { codingOf } from "../../src/gateway/content-coding.ts";

type Pack = (bytes: Uint8Array) => Uint8Array<ArrayBuffer>;
const copied =
  (pack: (bytes: Uint8Array) => Uint8Array): Pack =>
  (bytes) =>
    new Uint8Array(pack(bytes));

const PACKS: readonly (readonly [coding: string, pack: Pack])[] = [
  ["gzip", copied((bytes) => gzipSync(bytes))],
  ["x-gzip", copied((bytes) => gzipSync(bytes))],
  ["deflate", copied((bytes) => deflateSync(bytes))],
  ["deflate", copied((bytes) => deflateRawSync(bytes))],
  ["br", copied((bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }))],
  ["zstd", copied((bytes) => zstdCompressSync(bytes))],
];

/** A request whose body comes in pieces. */
function request(coding: string | null, bytes: Uint8Array<ArrayBuffer>, piece = 65_536): Request {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + piece));
      at += piece;
    },
  });
  const headers: Record<string, string> = coding === null ? {} : { "content-encoding": coding };
  return new Request("http://x/", { method: "POST", headers, body, duplex: "half" } as RequestInit);
}

async function read(one: Request, most = 1_000_000_000): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(one, most)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const refusal = async (work: Promise<unknown>) => {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(thrown instanceof RefusedError)) throw new Error(`expected a refusal, got ${thrown}`);
  return thrown.refusal;
};

const TEXT = Buffer.from(JSON.stringify({ said: "é".repeat(200_000), n: [...Array(20_000).keys()] }));

describe.each(PACKS)("a body in %s", (coding, pack) => {
  test.each([1_000_000, 1_000, 7])("is unpacked, come in pieces of %d bytes", async (piece) => {
    expect((await read(request(coding, pack(TEXT), piece))).equals(TEXT)).toBe(true);
    expect((await read(request(coding.toUpperCase(), pack(TEXT), piece))).equals(TEXT)).toBe(true);
  });

  test("is nothing where nothing comes", async () => {
    expect((await read(request(coding, new Uint8Array(0)))).length).toBe(0);
  });

  test("is read up to the bound and not beyond", async () => {
    expect((await read(request(coding, pack(TEXT)), TEXT.length)).length).toBe(TEXT.length);
    const { code } = await refusal(read(request(coding, pack(TEXT)), TEXT.length - 1));
    expect(code).toBe("body_too_large");
  });

  test("is unpacked no further than its reader reads", async () => {
    const bomb = pack(Buffer.alloc(200_000_000));
    expect(bomb.length).toBeLessThan(1_000_000);
    let read = 0;
    const bounded = async () => {
      for await (const chunk of chunksOf(request(coding, bomb), 1_000_000)) read += chunk.length;
    };
    expect((await refusal(bounded())).code).toBe("body_too_large");
    expect(read).toBeLessThanOrEqual(1_000_000);
  });

  test("leaves the event loop its turns", async () => {
    const packed = pack(Buffer.alloc(64_000_000));
    let [since, most] = [0, 0];
    let turning = true;
    const turn = () => {
      most = Math.max(most, since);
      since = 0;
      if (turning) setImmediate(turn);
    };
    setImmediate(turn);
    for await (const chunk of chunksOf(request(coding, packed), 100_000_000)) since += chunk.length;
    turning = false;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(4_000_000);
  });

  test("that is none is refused by name", async () => {
    const { code, message, status } = await refusal(read(request(coding, new Uint8Array(TEXT))));
    expect([code, status]).toEqual(["invalid_parameter", undefined]);
    expect(message).toContain(coding === "x-gzip" ? "gzip" : coding);
  });

  test("that is damaged is refused, or read as something else, and nothing worse", async () => {
    const packed = pack(TEXT.subarray(0, 2_000));
    for (let at = 0; at < packed.length; at += 13) {
      for (const bytes of [packed.slice(0, at), packed.with(at, packed[at]! ^ 0xff) as typeof packed]) {
        const found = await read(request(coding, bytes), 10_000).catch((error: unknown) => error);
        if (found instanceof Buffer) expect(found.length).toBeLessThanOrEqual(10_000);
        else expect(found).toBeInstanceOf(RefusedError);
      }
    }
  });

  test("that breaks off says why it did", async () => {
    const packed = pack(TEXT);
    const lost = new Error("the client has gone");
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) =>
        pulls++ === 0 ? controller.enqueue(packed.slice(0, 20)) : controller.error(lost),
    });
    const headers = { "content-encoding": coding };
    const broken = new Request("http://x/", { method: "POST", headers, body, duplex: "half" } as RequestInit);
    expect(await read(broken).catch((error: unknown) => error)).toBe(lost);
  });
});

test("what comes packed is bounded too, though nothing comes out of it", async () => {
  const empty = gzipSync(Buffer.alloc(0));
  const packed = new Uint8Array(Buffer.concat(Array(1_000).fill(empty)));
  expect((await read(request("gzip", packed))).length).toBe(0);
  expect((await refusal(read(request("gzip", packed), packed.length - 1))).code).toBe("body_too_large");
});

test("a window larger than a sender may take is refused", async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 };
  const packer = createZstdCompress({ params });
  const packed: Buffer[] = [];
  packer.on("data", (chunk: Buffer) => packed.push(chunk));
  for (let i = 0; i < 20; i++) packer.write(Buffer.alloc(1_000_000, i));
  await new Promise<void>((resolve) => packer.end(resolve));
  const body = new Uint8Array(Buffer.concat(packed));
  expect((await refusal(read(request("zstd", body)))).code).toBe("invalid_parameter");
});

describe("a content-encoding", () => {
  test.each([null, "", "identity", " Identity , ", ","])("%p is none", (name) => {
    expect(codingOf(new Headers(name === null ? {} : { "content-encoding": name }))).toBeNull();
  });
  test.each(["gzip, identity", " GZip", "x-gzip"])("%p is gzip", (name) => {
    expect(codingOf(new Headers({ "content-encoding": name }))).toBe("gzip");
  });
  test.each(["compress", "gzip, gzip", "br, zstd", "toString", "__proto__", "utf-8", "gzip;q=1", "*"])(
    "%p is refused with 415",
    async (name) => {
      const { code, message, status } = await refusal(read(request(name, new Uint8Array(TEXT))));
      expect([code, status]).toEqual(["invalid_parameter", 415]);
      expect(message).toContain("gzip, deflate, br, zstd");
    },
  );
});
