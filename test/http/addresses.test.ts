// Odd paths, methods, queries and headers against every endpoint: 404 for what is not there, 405 with Allow for another
// method, 400 for what cannot be read, and never more than that.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { HeldTime } from "../e2e/timers.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { ENDPOINTS, methodOf } from "./endpoints.ts";
import { proper, properError } from "./proper.ts";
import { raw, requestText } from "./raw.ts";

let before: Json;
const everything = async () => [
  await bench.ledger(owner.key),
  (await bench.call(owner.key, "GET", "/x-keys?page=0")).body,
];
const bench = useBench();
const owner = prepared(() => bench.owner());
beforeAll(async () => {
  before = await everything();
});

/** A request line and headers as they stand; the key is right. */
const line = (first: string) => raw(bench.url, requestText(first, [`Authorization: Bearer ${owner.key}`]));

describe("an unknown path is 404 not_found", () => {
  test.each([
    ..."// /* /v1 /v1/ /v1/unknown /v1/chat /v1/chat/completions/extra".split(" "),
    ..."/v1/models/../../x-keys/1/2 /v1/models/../quote/x /v1/messages/ /v1/messages/unknown".split(" "),
    ..."/v1/messages/count_tokens/x /V1/CHAT/COMPLETIONS /X-USERS /x-users/1/2 /dashboard".split(" "),
    ..."/dashboard/statuses /dashboard/ledger;x=1 /__proto__ /constructor /toString".split(" "),
    ..."/healthz/x /x-keys%2f1 /%F0%9F%8E%89 /%00 /..%2f..%2fetc/passwd /../../etc/passwd".split(" "),
    `/${"a".repeat(8_000)}`,
    `/${"a/".repeat(2_000)}`,
  ])("GET %s", async (path) => {
    properError(await line(`GET ${path}`), 404);
  });
});

test("an empty part of a path names nobody: it is 404, not a 405 that allows what was sent", async () => {
  properError(await line("PUT /x-users/"), 404);
});

test.each(["/", "/x-users/..", "/x-users/%2e%2e"])("GET %s leads to the console", async (path) => {
  const answer = await line(`GET ${path}`);
  expect([answer.status, answer.headers.get("location")]).toEqual([302, "/console"]);
});

describe("a path that cannot be read is an error like any other", () => {
  test.each([
    ..."/% /%zz /x-users/% /x-users/%E0%A4%A /x-users/%00 /x-users/%ff%fe".split(" "),
    ..."/x-users/%2f /x-users/__proto__ /x-users/constructor /x-users/1e3".split(" "),
    ..."/x-users/-1 /x-users/0 /x-users/99999999999999999999 /x-users/a@ /x-users/@".split(" "),
    ..."/x-users/'%20OR%201=1-- /x-users/%E2%80%AEname".split(" "),
    `/x-users/${"9".repeat(4_000)}`,
    `/x-users/${"%F0%9F%8E%89".repeat(300)}`,
  ])("GET %s", async (path) => {
    proper(await line(`GET ${path}`));
  });
});

describe.each(Object.entries(ENDPOINTS))("%s", (name, { path, good, query, body }) => {
  const known = Object.keys(ENDPOINTS)
    .filter((one) => ENDPOINTS[one]!.path === path)
    .map(methodOf);

  test.each(["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "PROPFIND"])(
    "by the method %s answers what it knows, or 405 with Allow",
    async (method) => {
      if (known.includes(method)) return;
      const answer = await line(`${method} ${path}`);
      // HEAD is GET without a body.
      if (method === "HEAD" && known.includes("GET")) return expect(answer.status).toBeLessThan(405);
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")?.split(", ").sort()).toEqual([...known].sort());
      if (method !== "HEAD") properError(answer, 405);
    },
  );

  if (query === undefined) return;

  test("refuses query parameters that it does not know, by name", async () => {
    for (const one of ["unknown=1", "__proto__=1", "constructor=1", "Page=1", "page[]=1", "%00=1", "=1"]) {
      const asked = good === undefined ? `${path}?${one}` : `${path}${good}&${one}`;
      properError(await bench.call(owner.key, methodOf(name), asked, body?.()), 400, "unknown_field");
    }
  });

  test("refuses pages and sizes that are none", async () => {
    if (!query.includes("page")) return;
    for (const bad of ["-1", "1.5", "abc", "NaN", "1e3", "0x1", "", " 1", "%00", "1&page=2"]) {
      for (const parameter of ["page", "size"]) {
        const answer = await bench.call(owner.key, methodOf(name), `${path}?${parameter}=${bad}`);
        if (bad === "1&page=2") proper(answer);
        else properError(answer);
      }
    }
  });
});

describe("keys", () => {
  test.each([
    ["no header", []],
    ["another scheme", ["Authorization: Basic cm9vdDpyb290"]],
    ["an empty key", ["Authorization: Bearer "]],
    ["no key", ["Authorization: Bearer"]],
    ["an empty header", ["Authorization:"]],
  ])("%s: 401 missing_api_key", async (_, headers) => {
    for (const [name, { path, as }] of Object.entries(ENDPOINTS)) {
      if (as === null) continue;
      const answer = await raw(bench.url, requestText(`${methodOf(name)} ${path}`, headers));
      properError(answer, 401, "missing_api_key");
    }
  });

  test.each([
    ["a wrong one", "sk-wrong"],
    ["a very long one", "k".repeat(7_000)],
    ["a quote", "' OR '1'='1"],
    ["a wildcard", "*"],
    ["the hash of a key", new Bun.CryptoHasher("sha256").update("x").digest("hex")],
  ])("%s: 401 invalid_api_key", async (_, key) => {
    const answer = await bench.call(key, "GET", "/dashboard/status");
    properError(answer, 401, "invalid_api_key");
    expect(answer.text).not.toContain(key);
  });

  test("a key with other letters than ASCII is refused, not broken", async () => {
    for (const key of ["caf\u00e9", "\u00ff\u00fe"]) {
      properError(
        await raw(
          bench.url,
          Buffer.from(requestText("GET /dashboard/status", [`Authorization: Bearer ${key}`]), "latin1"),
        ),
        401,
      );
    }
  });

  test("two Authorization headers are no way around", async () => {
    const answer = await raw(
      bench.url,
      requestText(
        "GET /dashboard/status",
        ["sk-wrong", owner.key].map((key) => `Authorization: Bearer ${key}`),
      ),
    );
    properError(answer, 401);
  });

  test("x-api-key opens /v1 only", async () => {
    properError(
      await bench.call(null, "GET", "/dashboard/status", undefined, { headers: { "x-api-key": owner.key } }),
      401,
    );
  });

  test("many guesses slow down, and never a valid key", async () => {
    const time = new HeldTime();
    try {
      const guess = (i: number) => bench.call(`sk-guess-${i}`, "GET", "/dashboard/status");
      // The more guesses an address has made, the longer the next one waits: these wait for more than a second.
      const first = Promise.all(Array.from({ length: 9 }, (_, i) => guess(i)));
      await time.passing(first, () => true);
      let answered = 0;
      const guesses = Array.from({ length: 8 }, async (_, i) => {
        const answer = await guess(i + 9);
        answered++;
        return answer;
      });
      for (let i = 0; i < 5; i++)
        expect((await bench.call(owner.key, "GET", "/dashboard/status")).status).toBe(200);
      expect(answered).toBe(0);
      for (const answer of (await time.passing(Promise.all(guesses), () => true)).outcome)
        properError(answer, 401);
    } finally {
      time.release();
    }
  });
});

describe("what is hardly HTTP", () => {
  test.each([
    ["a broken request line", "GET\r\n\r\n"],
    ["binary rubbish", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n"],
    ["a header without a colon", "GET /healthz HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"],
    ["a negative length", "POST /x-users HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"],
    ["a length that is no number", "POST /x-users HTTP/1.1\r\nHost: x\r\nContent-Length: five\r\n\r\n"],
    ["a header of 100 KB", `GET /healthz HTTP/1.1\r\nHost: x\r\nx-long: ${"x".repeat(100_000)}\r\n\r\n`],
    [
      "length and chunks at once",
      "POST /x-users HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("%s is closed or refused, and the service lives on", async (_, bytes) => {
    const { status } = await raw(bench.url, bytes).catch(() => ({ status: 0 }));
    expect([0, 400, 401, 431, 505]).toContain(status);
    expect((await fetch(`${bench.url}/healthz`)).status).toBe(200);
  });
});

test("nothing of all this changed anything, or was a failure of the service", async () => {
  expect(await everything()).toEqual(before);
  expect(bench.log.filter((one) => one.level === "error")).toEqual([]);
});
