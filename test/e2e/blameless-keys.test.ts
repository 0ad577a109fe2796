// What a client sends, or what a host does not offer, is no failure of the key: whatever one account asks, the keys that it
// shares with others go on as before. One counted failure puts a key to sleep here, so that it would show.

import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Account, asking, charges, type Owner, PRICING } from "./harness.ts";
import { ask, fares } from "./harness-keys.ts";
import { OWN_PRICES } from "./surfaces-bodies.ts";
import { expectError, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1" } });

/** An Owner with one key, and two accounts that share it. */
async function sharedKey(more: object = {}): Promise<{ owner: Owner; one: Account; other: Account }> {
  const owner = await bench.owner({ keys: 0, pricing: { ...PRICING, ...OWN_PRICES } });
  const keys = await bench.level(owner, 1, 1, more);
  const [one, other] = [await bench.subaccount(owner), await bench.subaccount(owner)];
  return { owner: { ...owner, keys }, one, other };
}

/**
 * Sends a request of an account as bytes, which a client library would refuse to send, in two parts where `pauseMs` is not 0. Returns
 * the response as text.
 */
async function sendRaw(
  { url, key }: { readonly url: string; readonly key: string },
  path: string,
  head: string,
  body: string,
  pauseMs = 0,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  let got = "";
  socket.setEncoding("latin1");
  socket
    .on("data", (text: string) => {
      got += text;
    })
    .on("end", () => resolve(got))
    .on("error", reject);
  const length = Buffer.byteLength(body, "latin1");
  const fields = `authorization: Bearer ${key}\r\n${head}\r\ncontent-length: ${length}\r\nconnection: close`;
  const early = pauseMs === 0 ? body : body.slice(0, 9);
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${fields}\r\n\r\n${early}`, "latin1");
  if (pauseMs !== 0) {
    await Bun.sleep(pauseMs);
    socket.write(body.slice(9), "latin1");
  }
  return promise;
}

describe("a control character, which no request can carry to a provider, is the client's error", () => {
  const json = "content-type: application/json";
  const talk = JSON.stringify(asking("say it"));
  const speech = JSON.stringify({ model: "tts-1", input: "say it", voice: "alloy" });
  const form =
    '--B\x7fB\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image-1\r\n' +
    '--B\x7fB\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\nx\r\n' +
    '--B\x7fB\r\nContent-Disposition: form-data; name="prompt"\r\n\r\na boat\r\n--B\x7fB--\r\n';
  test.each([
    ["anthropic-beta", "/v1/chat/completions", `anthropic-beta: a\x7fb\r\n${json}`, talk],
    ["anthropic-version", "/v1/messages", `anthropic-version: a\x7fb\r\n${json}`, talk],
    ["openai-beta", "/v1/chat/completions", `openai-beta: a\x7fb\r\n${json}`, talk],
    ["accept", "/v1/audio/speech", `accept: a\x7fb\r\n${json}`, speech],
    ["boundary", "/v1/images/edits", 'content-type: multipart/form-data; boundary="B\x7fB"', form],
  ])("in %s", async (_, path, head, body) => {
    const style = path === "/v1/messages" ? "messages" : "chat";
    const { owner, one, other } = await sharedKey({ Config: { api_style: style } });
    const before = bench.provider.totals().calls;
    const answer = await sendRaw({ url: bench.url, key: one.key }, path, head, body);
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer).toContain("invalid_");
    expect(bench.provider.totals().calls).toBe(before);
    await fares(bench, owner, owner.keys[0]!, "normal", { style });
    expect((await ask(bench, other, { style })).result).toBe("200");
  });
});

describe("a path that a host lacks", () => {
  const LACKING: Readonly<Record<string, () => Response>> = {
    "404 without a body": () => new Response(null, { status: 404 }),
    "404 of a router": () => Response.json({ detail: "Not Found" }, { status: 404 }),
    "404 of another router": () => new Response("404 page not found", { status: 404 }),
    "405": () => Response.json({ detail: "Method Not Allowed" }, { status: 405 }),
    "501": () => new Response("Not Implemented", { status: 501 }),
  };
  /** Two hosts for each answer, told apart by the first part of the path, which is their base. They have the paths of their styles. */
  const asked: string[] = [];
  const hosts = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const [, name = "", path = ""] = /^\/([^/]+)\/(.+)$/.exec(new URL(request.url).pathname) ?? [];
      asked.push(path);
      const isOwn = path === "chat/completions" || path === "messages";
      if (!isOwn) return LACKING[decodeURIComponent(name.slice(name.indexOf(":") + 1))]!();
      return fetch(`${bench.provider.url}/v1/${path}`, request);
    },
  });
  afterAll(() => hosts.stop(true));
  const keyAt = (style: "chat" | "messages", what: string) =>
    sharedKey({
      Provider: `http://127.0.0.1:${hosts.port}/${style}:${encodeURIComponent(what)}`,
      Config: { api_style: style },
    });

  const BODIES: readonly (readonly [path: string, body: object])[] = [
    ["/v1/embeddings", { model: "bench-model", input: "x" }],
    ["/v1/completions", { model: "bench-model", prompt: "x" }],
  ];
  test.each(Object.keys(LACKING))("is no failure of the key, nor of its model (%s)", async (what) => {
    const { owner, one, other } = await keyAt("chat", what);
    for (const [path, body] of BODIES) {
      asked.length = 0;
      for (let i = 0; i < 2; i++) {
        const refused = await bench.call(one.key, "POST", path, body);
        expectError(refused, 404, "model_not_found");
        expect(refused.body.error.message).toContain("serves this path");
      }
      expect(asked).toHaveLength(1);
      await fares(bench, owner, owner.keys[0]!, "normal");
      expect((await ask(bench, other)).result).toBe("200");
    }
  });

  test.each(Object.keys(LACKING))("leaves tokens to be counted here (%s)", async (what) => {
    const { owner, one, other } = await keyAt("messages", what);
    const body = { ...asking("say it"), max_tokens: 50 };
    for (let i = 0; i < 2; i++) {
      const counted = await bench.call(one.key, "POST", "/v1/messages/count_tokens", body);
      expect([counted.status, counted.body.input_tokens > 0]).toEqual([200, true]);
    }
    await fares(bench, owner, owner.keys[0]!, "normal", { style: "messages" });
    expect((await ask(bench, other, { style: "messages" })).result).toBe("200");
  });
});

describe("a model that a host has at one path alone", () => {
  const hosts = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname !== "/v1/embeddings") return fetch(bench.provider.url + pathname, request);
      const message =
        "models/bench-model is not found for API version v1main, or is not supported for embedContent.";
      return Response.json({ error: { code: 404, message, status: "NOT_FOUND" } }, { status: 404 });
    },
  });
  afterAll(() => hosts.stop(true));

  test("is passed over at the other path, and there it is not asked again", async () => {
    const { owner, one, other } = await sharedKey({ Provider: `http://127.0.0.1:${hosts.port}` });
    const embed = () => bench.call(one.key, "POST", "/v1/embeddings", { model: "bench-model", input: "x" });
    const first = await embed();
    expectError(first, 404, "model_not_found");
    expect(first.headers.get("x-arbor-attempts")).toBe("1");
    await fares(bench, owner, owner.keys[0]!, "normal");
    expect((await ask(bench, other)).result).toBe("200");
    const { body } = await bench.call(
      owner.key,
      "GET",
      "/dashboard/explain?model=bench-model&path=/v1/embeddings",
    );
    expect(body.candidates[0].state).toBe("passed_over");
    const second = await embed();
    expectError(second, 404, "model_not_found");
    expect(second.headers.get("x-arbor-attempts")).toBe("0");
  });
});

describe("what a client asks of a provider that does not stream", () => {
  const hosts = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json({ created: 1, data: [{ b64_json: "AAAA" }] }),
  });
  afterAll(() => hosts.stop(true));

  test("is made once, and is the client's error", async () => {
    const { owner, one } = await sharedKey({ Provider: `http://127.0.0.1:${hosts.port}` });
    const body = { model: "gpt-image-1", prompt: "a boat", stream: true };
    const refused = await bench.call(one.key, "POST", "/v1/images/generations", body);
    expectError(refused, 400, "invalid_parameter");
    expect(refused.headers.get("x-arbor-attempts")).toBe("1");
    await fares(bench, owner, owner.keys[0]!, "normal");
    expect(charges(await bench.ledger(one.key))).toEqual([]);
  });
});

describe("a client that sends slowly", () => {
  // Its deadlines are shorter than what the client takes for its body.
  const hasty = useBench({
    settings: {
      KEY_FAILURES: "1",
      UPSTREAM_TIMEOUT_MS: "2000",
      UPSTREAM_FIRST_MS: "2000",
      UPSTREAM_IDLE_MS: "2000",
    },
  });

  test("is answered, and costs its key nothing", async () => {
    const owner = await hasty.owner({ keys: 1 });
    const user = await hasty.subaccount(owner);
    const body = JSON.stringify({ ...asking("say it"), max_tokens: 50 });
    const to = { url: hasty.url, key: user.key };
    const answer = await sendRaw(to, "/v1/chat/completions", "content-type: application/json", body, 2_300);
    expect(answer).toStartWith("HTTP/1.1 200 ");
    await fares(hasty, owner, owner.keys[0]!, "normal");
  });
});
