// One attempt against a small provider on loopback: the address and headers it builds, and what each failure becomes.

import { afterAll, describe, expect, test } from "bun:test";
import { realClock } from "../../src/runtime/clock.ts";
import { createGuard } from "../../src/upstream/guard.ts";
import { type HostFacts, isPlainPath, standardUpstream, upstreamUrl } from "../../src/upstream/standard.ts";
import type { Attempt } from "../../src/upstream/upstream.ts";

const SECRET = "sk-test-0123456789abcdef";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 30,
  async fetch(request): Promise<Response> {
    const url = new URL(request.url);
    switch (url.pathname) {
      case "/moved/chat/completions":
        return new Response("elsewhere", {
          status: 307,
          headers: { location: `${url.origin}/v1/echo` },
        });
      case "/limited/chat/completions":
        return Response.json(
          { error: { type: "rate_limit_error", message: "slow" } },
          { status: 429, headers: { "retry-after": "2" } },
        );
      case "/denied/chat/completions":
        return Response.json(
          { error: { message: `Incorrect API key provided: ${SECRET}` } },
          { status: 401 },
        );
      case "/huge/chat/completions":
        return new Response("x".repeat(5_000_000), { status: 500 });
      case "/drip/chat/completions":
        return new Response(
          new ReadableStream({
            pull: async (controller) => {
              await Bun.sleep(200);
              controller.enqueue(new TextEncoder().encode(" "));
            },
          }),
          { status: 500 },
        );
      case "/endless/chat/completions":
        return new Response(
          new ReadableStream({
            pull: async (controller) => {
              await Bun.sleep(20);
              controller.enqueue(new TextEncoder().encode(": still here\n\n"));
            },
          }),
        );
      case "/slow/chat/completions":
        await Bun.sleep(5_000);
        return new Response("late");
      case "/zipped/chat/completions":
        return new Response(Bun.gzipSync('{"zipped":true}'), { headers: { "content-encoding": "gzip" } });
      case "/form/audio/transcriptions": {
        const file = (await request.formData()).get("file") as File;
        return Response.json({ name: file.name, type: request.headers.get("content-type") });
      }
      default:
        return Response.json({
          method: request.method,
          path: url.pathname + url.search,
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        });
    }
  },
});
afterAll(() => server.stop(true));

const clock = realClock();
const FACTS: Record<string, HostFacts> = {
  "keyed.test": { auth: "x-api-key" },
  "chatty.test": { auth: "bearer" },
  "both.test": { auth: "bearer", messages_base: "https://both.test/anthropic" },
};
const NAMES: Record<string, readonly string[]> = {
  "provider.test": ["127.0.0.1"],
  "keyed.test": ["127.0.0.1"],
  "chatty.test": ["127.0.0.1"],
  "both.test": ["127.0.0.1"],
  "two.test": ["127.0.0.77", "127.0.0.1"],
  "inner.test": ["127.0.0.1", "10.0.0.1"],
};
const guard = createGuard({
  allowCidrs: ["127.0.0.0/8"],
  clock,
  resolve: async (host) => {
    if (host === "hanging.test") return new Promise<never>(() => {});
    const found = NAMES[host];
    if (found === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
    return found;
  },
});
const upstream = standardUpstream({ guard, clock, host: (name) => FACTS[name] });

function attempt(provider: string, change: Partial<Attempt> = {}): Attempt {
  return {
    key: { id: 1, level: 1, provider, secret: SECRET, config: {} },
    path: "/v1/chat/completions",
    model: "m",
    method: "POST",
    headers: {},
    body: '{"model":"m"}',
    stream: false,
    signal: new AbortController().signal,
    requestId: "r",
    ...change,
  };
}
const at = (path: string, host = "127.0.0.1") => `http://${host}:${server.port}${path}`;

interface Echo {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}
async function echo(provider: string, change: Partial<Attempt> = {}): Promise<Echo> {
  const result = await upstream.send(attempt(provider, change));
  if (!result.ok) throw new Error(`${result.signal.name} ${result.signal.note}`);
  return (await result.response.json()) as Echo;
}
async function failure(provider: string, change: Partial<Attempt> = {}) {
  const result = await upstream.send(attempt(provider, change));
  if (result.ok) throw new Error("it succeeded");
  expect(JSON.stringify(result.signal)).not.toContain(SECRET);
  return result.signal;
}

describe("the address of", () => {
  const facts = (name: string): HostFacts | undefined =>
    ({
      "known.test": { auth: "bearer" as const, base: "https://known.test/openai/v1" },
      "flat.test": { auth: "bearer" as const, base: "https://flat.test" },
      "both.test": {
        auth: "bearer" as const,
        base: "https://both.test/v1",
        messages_base: "https://both.test/anthropic",
      },
      "rank.test": {
        auth: "bearer" as const,
        base: "https://rank.test/compatibility/v1",
        rerank_url: "https://rank.test/v2/rerank",
      },
    })[name];
  const CHAT = "/v1/chat/completions";
  const ADDRESSES: readonly (readonly [rule: string, provider: string, path: string, url: string])[] = [
    ["a Provider without a path gets /v1", "https://a.test", CHAT, "https://a.test/v1/chat/completions"],
    ["a Provider with a slash only gets /v1", "https://a.test/", CHAT, "https://a.test/v1/chat/completions"],
    [
      "a Provider that ends in /v1 gets the rest",
      "https://a.test/v1",
      CHAT,
      "https://a.test/v1/chat/completions",
    ],
    ["trailing slashes do not count", "https://a.test/v1//", CHAT, "https://a.test/v1/chat/completions"],
    [
      "another version stays",
      "https://a.test/api/paas/v4",
      CHAT,
      "https://a.test/api/paas/v4/chat/completions",
    ],
    [
      "any path stays",
      "https://a.test/v1beta/openai/",
      CHAT,
      "https://a.test/v1beta/openai/chat/completions",
    ],
    ["the port stays", "http://a.test:8080", CHAT, "http://a.test:8080/v1/chat/completions"],
    [
      "a known host without a path gets its base",
      "https://known.test",
      CHAT,
      "https://known.test/openai/v1/chat/completions",
    ],
    ["a known host may have no /v1 at all", "https://flat.test", CHAT, "https://flat.test/chat/completions"],
    [
      "a known host with a path keeps that",
      "https://known.test/x",
      CHAT,
      "https://known.test/x/chat/completions",
    ],
    [
      "messages go to the host's messages base",
      "https://both.test/v1",
      "/v1/messages",
      "https://both.test/anthropic/v1/messages",
    ],
    [
      "messages go there from that base too",
      "https://both.test/anthropic",
      "/v1/messages/count_tokens",
      "https://both.test/anthropic/v1/messages/count_tokens",
    ],
    [
      "rerank goes to the host's own address",
      "https://rank.test",
      "/v1/rerank",
      "https://rank.test/v2/rerank",
    ],
    [
      "a query of the request passes",
      "https://a.test",
      "/v1/responses/r?include=x",
      "https://a.test/v1/responses/r?include=x",
    ],
  ];
  for (const [rule, provider, path, url] of ADDRESSES) {
    test(rule, () => expect(String(upstreamUrl(provider, path, facts))).toBe(url));
  }
  test("a Provider with a query or a fragment is refused", () => {
    expect(upstreamUrl("https://a.test/v1?x=1", CHAT, facts)).toMatch(/query/);
    expect(upstreamUrl("https://a.test/v1#x", CHAT, facts)).toMatch(/fragment/);
  });
});

describe("a path is sent only when it means the same to everybody", () => {
  const PATHS: readonly (readonly [string, boolean])[] = [
    ["/v1/chat/completions", true],
    ["/v1/responses/resp_1?include=a%2Fb", true],
    ["/v1/responses/a%20b", true],
    ["/v1/responses/../files", false],
    ["/v1/responses/%2e%2e/files", false],
    ["/v1/responses/%2E./files", false],
    ["/v1/responses/..%2ffiles", false],
    ["/v1/responses/a\\b", false],
    ["/v1/responses/a#b", false],
    ["/v1/responses/a%zz", false],
    ["/v1//files", false],
    ["/v1/responses/", false],
    ["/v2/files", false],
  ];
  for (const [path, ok] of PATHS)
    test(`${path} ${ok ? "is" : "is not"}`, () => expect(isPlainPath(path)).toBe(ok));
  test("and another is never sent", async () => {
    expect((await failure(at("/v1"), { path: "/v1/../admin" })).name).toBe("rejected");
  });
});

describe("a request carries", () => {
  test("the path, the body, the type and a bearer key", async () => {
    const seen = await echo(at("/base/v1"));
    expect(seen).toMatchObject({ method: "POST", path: "/base/v1/chat/completions", body: '{"model":"m"}' });
    expect(seen.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      "content-type": "application/json",
    });
    expect(seen.headers).not.toHaveProperty("x-api-key");
  });
  test("the key in the header that the host wants, with the version it demands unless the client sent one", async () => {
    const seen = await echo(at("/v1", "keyed.test"));
    expect(seen.headers).toMatchObject({ "x-api-key": SECRET, "anthropic-version": "2023-06-01" });
    expect(seen.headers).not.toHaveProperty("authorization");
    const own = await echo(at("/v1", "keyed.test"), { headers: { "anthropic-version": "2026-10-21" } });
    expect(own.headers["anthropic-version"]).toBe("2026-10-21");
  });
  describe("on the paths of messages", () => {
    const AUTHS: readonly (readonly [rule: string, host: string, path: string, header: string])[] = [
      ["a host's own header", "keyed.test", "/v1/messages", "x-api-key"],
      ["a bearer key at a known host", "chatty.test", "/v1/messages", "authorization"],
      ["a bearer key at a host with both styles", "both.test", "/v1/messages", "authorization"],
      ["the style's header at a host that nobody knows", "127.0.0.1", "/v1/messages", "x-api-key"],
      ["the same below it", "127.0.0.1", "/v1/messages/count_tokens", "x-api-key"],
      ["the same with a query", "127.0.0.1", "/v1/messages?beta=true", "x-api-key"],
      ["a bearer key where a name only begins alike", "127.0.0.1", "/v1/messages2", "authorization"],
    ];
    for (const [rule, host, path, header] of AUTHS) {
      test(rule, async () => {
        const { headers } = await echo(at("/v1", host), { path });
        expect(headers[header]).toBe(header === "authorization" ? `Bearer ${SECRET}` : SECRET);
        expect(headers).not.toHaveProperty(header === "authorization" ? "x-api-key" : "authorization");
        expect("anthropic-version" in headers).toBe(header === "x-api-key");
      });
    }
    test("the client's version before ours", async () => {
      const headers = { "anthropic-version": "2026-10-21" };
      const seen = await echo(at("/v1"), { path: "/v1/messages", headers });
      expect(seen.headers["anthropic-version"]).toBe("2026-10-21");
    });
  });
  test("the client's headers, but none in the place of ours", async () => {
    const seen = await echo(at("/v1"), {
      headers: {
        "X-Extra": "1",
        Authorization: "Bearer client",
        "X-Api-Key": "client",
        Host: "evil",
        "accept-encoding": "br",
      },
    });
    expect(seen.headers).toMatchObject({
      "x-extra": "1",
      authorization: `Bearer ${SECRET}`,
      host: `127.0.0.1:${server.port}`,
    });
    expect(JSON.stringify(seen)).not.toContain("client");
  });
  test("a stream asks for no compression", async () => {
    expect((await echo(at("/v1"), { stream: true })).headers["accept-encoding"]).toBe("identity");
  });
  test("a GET no body and no type", async () => {
    const seen = await echo(at("/v1"), { method: "GET", body: null, path: "/v1/responses/r1" });
    expect(seen).toMatchObject({ method: "GET", body: "" });
    expect(seen.headers).not.toHaveProperty("content-type");
  });
  test("a form with its own boundary and file names", async () => {
    const form = new FormData();
    form.set("file", new File(["abc"], "speech.mp3"));
    const result = await upstream.send(
      attempt(at("/form"), {
        path: "/v1/audio/transcriptions",
        body: form,
        headers: { "content-type": "multipart/form-data; boundary=old" },
      }),
    );
    if (!result.ok) throw new Error(result.signal.name);
    const seen = (await result.response.json()) as { name: string; type: string };
    expect(seen.name).toBe("speech.mp3");
    expect(seen.type).not.toContain("boundary=old");
  });
});

describe("the connection", () => {
  test("goes to the pinned address, under the name's Host header", async () => {
    expect((await echo(at("/v1", "provider.test"))).headers.host).toBe(`provider.test:${server.port}`);
  });
  test("tries the name's next address when one takes no connection", async () => {
    expect((await echo(at("/v1", "two.test"))).headers.host).toBe(`two.test:${server.port}`);
  });
  test("uses no proxy of the environment", async () => {
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = "http://127.0.0.1:1";
    try {
      expect((await echo(at("/v1"))).method).toBe("POST");
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });
  test("undoes a compression, and the headers no longer name it", async () => {
    const result = await upstream.send(attempt(at("/zipped")));
    if (!result.ok) throw new Error(result.signal.name);
    expect(result.headers.has("content-encoding")).toBe(false);
    expect(result.headers.has("content-length")).toBe(false);
    expect(await result.response.json()).toEqual({ zipped: true });
  });
});

describe("a failure is", () => {
  test("a redirect, which is not followed", async () =>
    expect(await failure(at("/moved"))).toMatchObject({ name: "redirect", status: 307 }));
  test("a limit, with its wait", async () =>
    expect(await failure(at("/limited"))).toMatchObject({ name: "rate_limited", retryAfterMs: 2_000 }));
  test("an invalid key, whose secret is not repeated", async () =>
    expect((await failure(at("/denied"))).name).toBe("invalid_key"));
  test("a secret that cannot stand in a header", async () => {
    const { key } = attempt(at("/v1"));
    expect((await failure(at("/v1"), { key: { ...key, secret: "sk-line\nbreak" } })).name).toBe(
      "invalid_key",
    );
  });
  test("a huge error body, read in part", async () => {
    const startMs = performance.now();
    expect((await failure(at("/huge"))).name).toBe("server_error");
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
  test("an error body that drips, read for 5 s at most", async () => {
    // The clock's timers run out at once here; waiting the real 5 s would say no more.
    const hasty = standardUpstream({
      guard,
      clock: { ...clock, after: (ms, fn) => clock.after(ms === 5_000 ? 300 : ms, fn) },
      host: () => undefined,
    });
    const startMs = performance.now();
    expect(await hasty.send(attempt(at("/drip")))).toMatchObject({
      ok: false,
      signal: { name: "server_error" },
    });
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });
  test("a head that does not come in time", async () =>
    expect((await failure(at("/slow"), { signal: AbortSignal.timeout(50) })).name).toBe("timeout"));
  test("a name that takes too long to resolve", async () => {
    expect((await failure("http://hanging.test/v1", { signal: AbortSignal.timeout(50) })).name).toBe(
      "timeout",
    );
  });
  test("the client's going, before and during", async () => {
    expect((await failure(at("/slow"), { signal: AbortSignal.abort() })).name).toBe("client_gone");
    const client = new AbortController();
    setTimeout(() => client.abort(), 30);
    expect((await failure(at("/slow"), { signal: client.signal })).name).toBe("client_gone");
  });
  test("nobody listening", async () =>
    expect((await failure("http://127.0.0.1:1/v1")).name).toBe("unreachable"));
  test("a name that does not resolve", async () =>
    expect((await failure("http://nowhere.test/v1")).name).toBe("unreachable"));
  test("an address that is not allowed, alone or among others", async () => {
    expect(await failure("http://10.0.0.1/v1")).toMatchObject({
      name: "unreachable",
      note: expect.stringContaining("private"),
    });
    expect((await failure(at("/v1", "inner.test"))).name).toBe("unreachable");
  });
});

test("the client's going stops a body that is still being read", async () => {
  const client = new AbortController();
  const result = await upstream.send(attempt(at("/endless"), { signal: client.signal }));
  expect(result.ok).toBe(true);
  if (!result.ok) return;
  client.abort();
  await expect(result.response.text()).rejects.toThrow();
});
