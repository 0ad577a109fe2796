// How a client's body is read: as text, as bytes or as a form, by what the path takes; whole, once, and within its bound.

import { describe, expect, test } from "bun:test";
import { RefusedError } from "../../src/base/errors.ts";
import { readPayload } from "../../src/gateway/body.ts";
import type { GatewayEndpoint } from "../../src/gateway/endpoints.ts";
import { inProcess } from "./large-body/in-process.ts";

const MOST = 4_000_000;
const FORM = "multipart/form-data; boundary=x";
const PARTS = '--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nm\r\n--x--\r\n';

/** `stated`: with a content-length; else in pieces of that many bytes. */
function request(
  body: string | Uint8Array,
  type: string | null,
  pieces: number | "stated" = "stated",
): Request {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const headers = new Headers(type === null ? {} : { "content-type": type });
  if (pieces === "stated") headers.set("content-length", String(bytes.length));
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const size = pieces === "stated" ? 65_536 : pieces;
      if (at < bytes.length) controller.enqueue(bytes.slice(at, at + size));
      else controller.close();
      at += size;
    },
  });
  return new Request("http://x/", { method: "POST", headers, body: stream, duplex: "half" } as RequestInit);
}

const read = (one: Request, takes: GatewayEndpoint["takes"]) =>
  readPayload(one, { path: "/v1/embeddings", takes, most: MOST, large: inProcess(1_000_000) });

const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RefusedError)) throw new Error(`expected a refusal, got ${error}`);
  return error.refusal.code;
};

const LONG = JSON.stringify({ model: "m", input: "é".repeat(700_000) });

describe("JSON", () => {
  const ROWS: [string, string, number | "stated"][] = [
    ["small", '{"model":"m"}', "stated"],
    ["small, in pieces", '{"model":"m"}', 3],
    ["large", LONG, "stated"],
    ["large, in pieces", LONG, 10_000],
    ["large, in one piece without a length", LONG, 2_000_000],
  ];
  test.each(ROWS)("that is %s is read to its last byte", async (_, text, pieces) => {
    const payload = await read(request(text, "application/json", pieces), "json");
    expect(Buffer.from(payload.edited({})).toString()).toBe(text);
    expect(payload.contentType).toBe("application/json");
  });

  test("is the same to Idempotency-Keys however it came", async () => {
    const prefix = "/v1/embeddings\n";
    for (const text of ['{"model":"m"}', LONG]) {
      const hashes = await Promise.all(
        (["stated", 9_999] as const).map(async (pieces) => {
          const one = request(text, null, pieces);
          one.headers.set("idempotency-key", "key");
          return (await read(one, "json")).hash(prefix);
        }),
      );
      expect(hashes[0]).toBe(hashes[1]!);
      expect(hashes[0]).toBe(new Bun.CryptoHasher("sha256").update(prefix + text).digest("hex"));
    }
  });

  test("leaves alone what came in the same buffer, such as the next request", async () => {
    for (const bytesMin of [LONG.length, Number.POSITIVE_INFINITY]) {
      const came = Buffer.from(`head${LONG}next`);
      const bytes = came.subarray(4, came.length - 4);
      const { headers, body, signal } = request(bytes, null);
      const one = {
        headers,
        body,
        signal,
        text: () => Promise.resolve(LONG),
        bytes: () => Promise.resolve(bytes),
      };
      const payload = await readPayload(one, {
        path: "/v1/embeddings",
        takes: "json",
        most: MOST,
        large: inProcess(bytesMin),
      });
      for (const model of ["", "n", "another-name", "o"]) {
        const sent = Buffer.from(payload.edited({ model })).toString();
        expect(sent === LONG.replace('"m"', `"${model}"`)).toBe(true);
      }
      expect(`${came.subarray(0, 4)}${came.subarray(-4)}`).toBe("headnext");
    }
  });

  test("can be changed in place when it is large", async () => {
    const payload = await read(request(LONG, null, 10_000), "json");
    const sent = Buffer.from(payload.edited({ model: "another-name" })).toString();
    expect(JSON.parse(sent)).toEqual({ ...JSON.parse(LONG), model: "another-name" });
  });
});

describe("a form", () => {
  test("is read where the path takes forms", async () => {
    for (const takes of ["form", "either"] as const) {
      const payload = await read(request(PARTS, FORM), takes);
      expect(payload.value).toEqual({ model: "m" });
      expect(payload.contentType).toBe(FORM);
    }
  });

  test("is no JSON where the path takes JSON alone, whatever it calls itself", async () => {
    const payload = await read(request('{"model":"m"}', FORM), "json");
    expect(payload.value).toEqual({ model: "m" });
    await expect(read(request(PARTS, FORM), "json")).rejects.toThrow("not valid JSON");
  });

  test("that is malformed is refused", async () => {
    expect(await refusal(read(request("--y--", FORM), "form"))).toBe("invalid_parameter");
  });
});

describe("a content type", () => {
  test.each([
    ["form", "application/json", "invalid_parameter"],
    ["form", null, "invalid_parameter"],
    ["form", "text/plain", "invalid_parameter"],
    ["form", "multipart/mixed; boundary=x", "invalid_parameter"],
    ["either", "text/plain", "invalid_parameter"],
    ["either", "application/x-www-form-urlencoded", "invalid_parameter"],
  ] as const)("that a path of kind %s does not take is refused: %s", async (takes, type, code) => {
    expect(await refusal(read(request("{}", type), takes))).toBe(code);
  });

  test.each(["application/json", "application/json; charset=utf-8", "application/vnd.x+json", null])(
    "is JSON beside forms: %s",
    async (type) => {
      expect((await read(request('{"a":1}', type), "either")).value).toEqual({ a: 1 });
    },
  );
});

describe("a body over the bound", () => {
  const large = new Uint8Array(MOST + 1).fill(0x20);
  test("is refused by its length before it is read", async () => {
    expect(await refusal(read(request(large, null), "json"))).toBe("body_too_large");
  });
  test("is refused when it turns out so", async () => {
    expect(await refusal(read(request(large, null, 100_000), "json"))).toBe("body_too_large");
    expect(await refusal(read(request(large, FORM, 100_000), "form"))).toBe("body_too_large");
  });
});
