// The way `standard`: the addresses it builds for each kind of host, and how the key and the client's headers travel.

import { afterAll, describe, expect, test } from "bun:test";
import { createHttpUpstream } from "../../src/upstream/http-upstream.ts";
import { MissingPaths } from "../../src/upstream/missing-paths.ts";
import { type HostFacts, standard } from "../../src/upstream/standard.ts";
import type { UpstreamRequest } from "../../src/upstream/upstream.ts";
import { attemptWith, CHAT, type Echo, echoOf, keyAt, SECRET, startRig, textOf } from "./rig.ts";

const { upstream, clock, port, at, close } = startRig();
afterAll(close);

const attempt = (provider: string, change: Partial<UpstreamRequest> = {}): UpstreamRequest =>
  attemptWith(keyAt("standard", provider), change);
const echo = (provider: string, change: Partial<UpstreamRequest> = {}): Promise<Echo> =>
  echoOf(upstream, attempt(provider, change));

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
  const { address } = createHttpUpstream(standard(facts), {
    clock,
    missingPaths: new MissingPaths(clock),
    connect: () => Promise.reject(new Error("an address is no call")),
  });
  const addressAt = (provider: string, path: string) =>
    address({ provider, config: {}, path, model: "m", stream: false });
  // biome-ignore format: a table
  const ADDRESSES: readonly (readonly [rule: string, provider: string, path: string, url: string])[] = [
    ["a Provider without a path gets /v1", "https://a.test", CHAT, "https://a.test/v1/chat/completions"],
    ["a Provider with a slash only gets /v1", "https://a.test/", CHAT, "https://a.test/v1/chat/completions"],
    ["a Provider that ends in /v1 gets the rest", "https://a.test/v1", CHAT, "https://a.test/v1/chat/completions"],
    ["trailing slashes do not count", "https://a.test/v1//", CHAT, "https://a.test/v1/chat/completions"],
    ["another version stays", "https://a.test/api/paas/v4", CHAT, "https://a.test/api/paas/v4/chat/completions"],
    ["any path stays", "https://a.test/v1beta/openai/", CHAT, "https://a.test/v1beta/openai/chat/completions"],
    ["the port stays", "http://a.test:8080", CHAT, "http://a.test:8080/v1/chat/completions"],
    ["a known host without a path gets its base", "https://known.test", CHAT, "https://known.test/openai/v1/chat/completions"],
    ["a known host may have no /v1 at all", "https://flat.test", CHAT, "https://flat.test/chat/completions"],
    ["a known host with a path keeps that", "https://known.test/x", CHAT, "https://known.test/x/chat/completions"],
    ["messages go to the host's messages base", "https://both.test/v1", "/v1/messages", "https://both.test/anthropic/v1/messages"],
    [
      "messages go there from that base too",
      "https://both.test/anthropic",
      "/v1/messages/count_tokens",
      "https://both.test/anthropic/v1/messages/count_tokens",
    ],
    ["rerank goes to the host's own address", "https://rank.test", "/v1/rerank", "https://rank.test/v2/rerank"],
    ["a query of the request passes", "https://a.test", "/v1/responses/r?include=x", "https://a.test/v1/responses/r?include=x"],
  ];
  for (const [rule, provider, path, url] of ADDRESSES) {
    test(rule, () => expect(String(addressAt(provider, path))).toBe(url));
  }
  test("a Provider with a query or a fragment is refused", () => {
    expect(addressAt("https://a.test/v1?x=1", CHAT)).toMatch(/query/);
    expect(addressAt("https://a.test/v1#x", CHAT)).toMatch(/fragment/);
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
      host: `127.0.0.1:${port}`,
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
    const seen = JSON.parse(await textOf(result.body)) as { name: string; type: string };
    expect(seen.name).toBe("speech.mp3");
    expect(seen.type).not.toContain("boundary=old");
  });
});
