// Pages of other origins: preflights and the headers of every kind of answer, read from sockets as a browser gets them.

import { describe, expect, test } from "bun:test";
import { realClock, realRandom } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import { createFront } from "../../src/node/http-front.ts";
import { asking, startBench } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { type RawAnswer, raw, requestText } from "./raw.ts";

const PAGE = "https://console.example";
const OTHER = "https://other.example";
const ORIGINS = `${PAGE}, http://localhost:5173`;

const bench = useBench({ settings: { CORS_ORIGINS: ORIGINS } });
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

interface Asked {
  readonly url?: string;
  readonly origin?: string | null;
  readonly headers?: readonly string[];
  readonly body?: unknown;
}

function ask(method: string, path: string, asked: Asked = {}): Promise<RawAnswer> {
  const { url = bench.url, origin = PAGE, headers = [], body } = asked;
  const text = body === undefined ? "" : JSON.stringify(body);
  const from = origin === null ? [] : [`Origin: ${origin}`];
  return raw(url, requestText(`${method} ${path}`, [...from, ...headers], text));
}

const bearer = (key: string): string => `Authorization: Bearer ${key}`;

const preflight = (path: string, asked: Asked = {}): Promise<RawAnswer> =>
  ask("OPTIONS", path, {
    ...asked,
    headers: [
      "Access-Control-Request-Method: POST",
      "Access-Control-Request-Headers: authorization,content-type,x-stainless-lang",
      ...(asked.headers ?? []),
    ],
  });

const exposed = ({ headers }: RawAnswer): string[] =>
  (headers.get("access-control-expose-headers") ?? "").split(", ");

/** The page may read this answer, and every header that says something of the request. */
function readable(answer: RawAnswer, origin = PAGE): void {
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
  expect(answer.headers.get("vary")).toContain("Origin");
  expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
  const described = [...answer.headers.keys()].filter((name) =>
    /^(x-arbor-|x-ratelimit-|anthropic-ratelimit-|x-request-id$|request-id$|retry-after$|x-should-retry$)/.test(
      name,
    ),
  );
  expect(described).toContain("x-request-id");
  expect(exposed(answer)).toEqual(expect.arrayContaining(described));
}

const corsHeaders = ({ headers }: RawAnswer): string[] =>
  [...headers.keys()].filter((name) => name.startsWith("access-control-"));

describe("a preflight", () => {
  test.each(["/v1/chat/completions", "/v1/messages", "/x-users", "/dashboard/status", "/nowhere", "/readyz"])(
    "%s is answered before routing and keys",
    async (path) => {
      const answer = await preflight(path);
      expect([answer.status, answer.text]).toEqual([204, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
      expect(answer.headers.get("access-control-allow-headers")).toBe(
        "authorization,content-type,x-stainless-lang",
      );
      expect(answer.headers.get("access-control-allow-methods")!.split(", ")).toEqual(
        expect.arrayContaining(["GET", "POST", "PUT", "DELETE"]),
      );
      expect(answer.headers.get("access-control-max-age")).toBe("600");
      expect(answer.headers.get("x-request-id")).toBeString();
      expect(answer.headers.get("vary")).toBe("Origin");
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
    },
  );

  test("of the other listed origin names that one", async () => {
    const answer = await preflight("/v1/models", { origin: "http://localhost:5173" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://localhost:5173");
  });

  test.each([
    OTHER,
    "https://console.example.evil.example",
    "http://console.example",
    "https://console.example:8443",
    "https://CONSOLE.example",
    "null",
    "*",
    "",
  ])("of %j is refused like an unknown method", async (origin) => {
    const answer = await preflight("/v1/chat/completions", { origin });
    expect([answer.status, corsHeaders(answer)]).toEqual([405, []]);
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  test.each(["/metrics", "/x-root", "/x-root/", "/x-self", "/x-self/", "/x-self?x=1"])(
    "never at %s",
    async (path) => {
      const answer = await preflight(path);
      expect([404, 405]).toContain(answer.status);
      expect(corsHeaders(answer)).toEqual([]);
      expect(corsHeaders(await ask("POST", path, { body: {}, headers: [bearer(user.key)] }))).toEqual([]);
    },
  );

  test("never at the administration's own address", async () => {
    const apart = await startBench({ settings: { CORS_ORIGINS: ORIGINS, ADMIN_PORT: "0" } });
    const { url, adminUrl } = apart.service;
    try {
      for (const path of ["/x-users", "/v1/models", "/x-keys"]) {
        const answer = await preflight(path, { url: adminUrl });
        expect([answer.status, corsHeaders(answer)]).toEqual([405, []]);
        const read = await ask("GET", path, { url: adminUrl, headers: [bearer(apart.rootKey)] });
        expect([read.status, corsHeaders(read)]).toEqual([200, []]);
      }
      expect((await preflight("/x-users", { url })).status).toBe(204);
    } finally {
      await apart.close();
    }
  });

  test("OPTIONS that asks for no method is none", async () => {
    const answer = await ask("OPTIONS", "/v1/models");
    expect(answer.status).toBe(405);
    readable(answer);
  });
});

describe("the page may read", () => {
  const chat = (said: string, more: object = {}, asked: Asked = {}) =>
    ask("POST", "/v1/chat/completions", {
      body: { ...asking(said), ...more },
      headers: [bearer(user.key), "Content-Type: application/json"],
      ...asked,
    });

  test("a whole answer, with what the limits leave", async () => {
    const limited = await bench.subaccount(owner, { RPM: 50, TPM: 1_000_000 });
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      const body = { ...asking("[[output=2]]"), max_tokens: 5 };
      const answer = await ask("POST", path, { body, headers: [bearer(limited.key)] });
      expect(answer.status).toBe(200);
      readable(answer);
      expect([...answer.headers.keys()].filter((name) => name.includes("ratelimit"))).toHaveLength(6);
      expect(answer.headers.has("x-arbor-cost")).toBe(true);
    }
  });

  test("a streamed answer, to its end", async () => {
    const answer = await chat("[[output=5]]", { stream: true });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    readable(answer);
    expect(answer.text).toContain("data: [DONE]");
  });

  test("a stream that comes event by event", async () => {
    const answer = await chat("[[output=5 chunk_ms=10]]", { stream: true });
    readable(answer);
    expect(answer.text).toContain("data: [DONE]");
  });

  test("a refusal of each kind, with its wait", async () => {
    const limited = await bench.subaccount(owner, { RPM: 1 });
    const headers = [bearer(limited.key)];
    await chat("[[output=1]]", {}, { headers });
    const slowed = await chat("[[output=1]]", {}, { headers });
    expect([slowed.status, slowed.headers.has("retry-after")]).toEqual([429, true]);
    readable(slowed);
    expect(exposed(slowed)).toContain("retry-after");
    const failed = await chat("[[fault=500]]");
    expect(failed.status).toBe(502);
    readable(failed);
    readable(await chat("[[output=1]]", {}, { headers: [] }));
    readable(await ask("GET", "/dashboard/status", { headers: [bearer("sk-wrong")] }));
    readable(await ask("POST", "/x-users", { headers: [bearer(user.key)], body: { Name: 1 } }));
  });

  test("404 and 405", async () => {
    const missing = await ask("GET", "/nowhere");
    expect(missing.status).toBe(404);
    readable(missing);
    const method = await ask("PUT", "/v1/chat/completions");
    expect([method.status, method.headers.get("allow")]).toEqual([405, "POST"]);
    readable(method);
  });

  test("what a dashboard or a list answers", async () => {
    readable(await ask("GET", "/dashboard/status", { headers: [bearer(user.key)] }));
    const list = await ask("GET", "/x-users", { headers: [bearer(owner.key)] });
    readable(list);
    expect(exposed(list)).toContain("x-total-count");
  });

  test("503 of a node that has not started, whose preflights are answered as well", async () => {
    const clock = realClock();
    const front = createFront({
      settings: {
        ...{ host: "127.0.0.1", port: 0, adminHost: "127.0.0.1", adminPort: null, share: null },
        corsOrigins: [PAGE],
      },
      clock,
      random: realRandom(clock),
      log: silent,
    });
    front.listen();
    try {
      const { host, port } = front.addresses()[0]!;
      const url = `http://${host}:${port}`;
      const answer = await ask("POST", "/v1/chat/completions", { url });
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
      readable(answer);
      expect((await preflight("/v1/chat/completions", { url })).status).toBe(204);
      front.leave();
      const last = await preflight("/v1/models", { url });
      expect(last.headers.get("connection")).toBe("close");
    } finally {
      await front.close(0);
    }
  });
});

describe("a page of another origin", () => {
  test("gets an answer that no browser lets it read", async () => {
    const answer = await ask("GET", "/dashboard/status", { origin: OTHER, headers: [bearer(user.key)] });
    expect([answer.status, corsHeaders(answer)]).toEqual([200, []]);
    expect(answer.headers.get("vary")).toBe("Origin");
  });

  test("nor does a request of no page", async () => {
    const answer = await ask("GET", "/dashboard/status", { origin: null, headers: [bearer(user.key)] });
    expect([answer.status, corsHeaders(answer)]).toEqual([200, []]);
    expect(answer.headers.get("vary")).toBe("Origin");
  });
});

describe("CORS_ORIGINS", () => {
  test("of * allows any origin", async () => {
    const open = await startBench({ settings: { CORS_ORIGINS: "*" } });
    try {
      const asked = { url: open.url, origin: "https://anybody.example" };
      expect((await preflight("/v1/models", asked)).headers.get("access-control-allow-origin")).toBe("*");
      readable(await ask("GET", "/v1/models", asked), "*");
      // One address serves all then, and these stay closed.
      for (const path of ["/metrics", "/x-root", "/x-self"]) {
        expect(corsHeaders(await preflight(path, asked))).toEqual([]);
        expect(corsHeaders(await ask("POST", path, asked))).toEqual([]);
      }
      expect((await preflight("/x-keys", asked)).status).toBe(204);
    } finally {
      await open.close();
    }
  });

  test("unset: nothing of all this", async () => {
    const plain = await startBench();
    try {
      expect((await preflight("/v1/models", { url: plain.url })).status).toBe(405);
      for (const path of ["/v1/models", "/nowhere", "/healthz"]) {
        const answer = await ask("GET", path, { url: plain.url });
        expect(corsHeaders(answer)).toEqual([]);
        expect(answer.headers.has("vary")).toBe(false);
      }
    } finally {
      await plain.close();
    }
  });
});
