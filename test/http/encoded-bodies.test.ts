// Compressed request bodies, of models and of the administration alike: read as if they had come plain, bounded by what
// comes out of them, and refused in plain words where they cannot be read.

import { describe, expect, test } from "bun:test";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Answer, asking, fresh, jsonOf } from "../e2e/harness.ts";
import { watch } from "../e2e/harness-keys.ts";
import { expectError, prepared, useBench } from "../e2e/use-bench.ts";
import { userBody } from "./bodies.ts";

const bench = useBench({ settings: { MAX_BODY_MB: "1" } });
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const CODINGS: readonly (readonly [string, (text: string | Uint8Array) => Uint8Array])[] = [
  ["gzip", (text) => gzipSync(text)],
  ["deflate", (text) => deflateSync(text)],
  ["br", (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["zstd", (text) => zstdCompressSync(text)],
];

/** `stated`: with a content-length; else in chunks. */
async function send(
  key: string,
  [method, path]: readonly [string, string],
  body: Uint8Array,
  headers: Record<string, string>,
  stated = true,
): Promise<Answer> {
  const bytes = new Uint8Array(body);
  const response = await fetch(bench.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: stated ? bytes : new Blob([bytes]).stream(),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: jsonOf(text), text };
}

const CHAT = ["POST", "/v1/chat/completions"] as const;
const MESSAGES = ["POST", "/v1/messages"] as const;
const USERS = ["POST", "/x-users"] as const;

const newUser = () => userBody();

describe.each(CODINGS)("a body in %s", (coding, pack) => {
  const headers = { "content-encoding": coding };

  test.each([true, false])("asks a model, its length stated: %p", async (stated) => {
    const seen = watch(bench);
    const body = { ...asking("say it [[output=3]]"), max_tokens: 9, padding: "é".repeat(300_000) };
    const packed = pack(JSON.stringify(body));
    for (const path of [CHAT, MESSAGES]) {
      expect((await send(user.key, path, packed, headers, stated)).status).toBe(200);
    }
    const [first] = seen.calls();
    expect(first!.headers["content-encoding"]).toBeUndefined();
    expect(first!.body).toMatchObject({ max_tokens: 9, padding: body.padding });
  });

  test("brings a file", async () => {
    const form = new FormData();
    form.set("model", "gpt-4o-transcribe");
    form.set("file", new File([new Uint8Array(8_000)], "said.mp3"));
    const whole = new Response(form);
    const type = whole.headers.get("content-type")!;
    const packed = pack(new Uint8Array(await whole.arrayBuffer()));
    const path = ["POST", "/v1/audio/transcriptions"] as const;
    const answer = await send(user.key, path, packed, { ...headers, "content-type": type });
    expect([answer.status, typeof answer.body.text]).toEqual([200, "string"]);
  });

  test.each([true, false])("administers, its length stated: %p", async (stated) => {
    const given = newUser();
    const added = await send(owner.key, USERS, pack(JSON.stringify(given)), headers, stated);
    expect([added.status, added.body.User?.Updates.Name]).toEqual([200, given.Name]);
    const path = ["PUT", `/x-users/${added.body.User.ID}`] as const;
    const changed = await send(owner.key, path, pack(JSON.stringify({ Alias: "a" })), headers, stated);
    expect([changed.status, changed.body.User.Updates.Alias]).toEqual([200, "a"]);
  });

  test("is the same request as the plain one to an Idempotency-Key", async () => {
    const text = JSON.stringify({ ...asking("say it [[output=3]]"), max_tokens: 9 });
    const name = { "idempotency-key": fresh() };
    const first = await send(user.key, CHAT, pack(text), { ...headers, ...name });
    const again = await send(user.key, CHAT, Buffer.from(text), name);
    expect([first.status, again.text]).toEqual([200, first.text]);
    const other = await send(user.key, CHAT, pack(`${text} `.replace("say", "do")), { ...headers, ...name });
    expect(other.body.error.code).toBe("idempotency_mismatch");
  });

  test.each([CHAT, USERS])("that unpacks beyond the bound is too large: %s %s", async (method, at) => {
    const path = [method, at] as const;
    const key = at === "/x-users" ? owner.key : user.key;
    for (const bytes of [1_048_577, 40_000_000]) {
      expectError(await send(key, path, pack(Buffer.alloc(bytes, " ")), headers), 400, "body_too_large");
    }
  });

  test.each([CHAT, USERS])("that is none is refused: %s %s", async (method, at) => {
    const path = [method, at] as const;
    const key = at === "/x-users" ? owner.key : user.key;
    const packed = pack(JSON.stringify({ a: "word ".repeat(2_000) }));
    for (const bytes of [
      Buffer.from('{"model":"m"}'),
      packed.slice(0, packed.length / 2),
      Buffer.alloc(3_000, 7),
    ]) {
      const answer = await send(key, path, bytes, headers);
      expect(answer.status).toBe(400);
      expect(["invalid_parameter", "invalid_json"]).toContain(answer.body.error.code);
    }
  });

  test("may be empty where a body may be missing", async () => {
    const path = ["DELETE", "/x-news"] as const;
    expect((await send(owner.key, path, Buffer.alloc(0), headers)).status).toBe(200);
  });
});

describe("a coding that is not read", () => {
  test.each(["compress", "gzip, gzip", "gzip, br", "zip"])("%s is 415 everywhere", async (coding) => {
    const headers = { "content-encoding": coding };
    for (const [key, path] of [
      [user.key, CHAT],
      [user.key, MESSAGES],
      [owner.key, USERS],
    ] as const) {
      const answer = await send(key, path, Buffer.from(JSON.stringify(asking("x"))), headers);
      expect([answer.status, answer.body.error.type, answer.body.error.code]).toEqual([
        415,
        "invalid_request_error",
        "invalid_parameter",
      ]);
      expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate, br, zstd");
    }
  });

  test("says nothing to a caller without a key", async () => {
    for (const path of [CHAT, USERS]) {
      const answer = await send("sk-nobody", path, Buffer.from("x"), { "content-encoding": "compress" });
      expect(answer.status).toBe(401);
    }
  });
});
