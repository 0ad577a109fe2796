// What a client sends, or what a host does not offer, is no failure of the key: whatever one account asks, the keys that it
// shares with others go on as before. One counted failure puts a key to sleep here, so that it would show.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Account, asking, type Owner, PRICING } from "./harness.ts";
import { ask, fares } from "./harness-keys.ts";
import { OWN_PRICES } from "./surfaces-bodies.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1" } });

/** An Owner with one key, and two accounts that share it. */
async function sharedKey(more: object = {}): Promise<{ owner: Owner; one: Account; other: Account }> {
  const owner = await bench.owner({ keys: 0, pricing: { ...PRICING, ...OWN_PRICES } });
  const keys = await bench.level(owner, 1, 1, more);
  const [one, other] = [await bench.subaccount(owner), await bench.subaccount(owner)];
  return { owner: { ...owner, keys }, one, other };
}

/** Sends a request as bytes, which a client library would refuse to send. Returns the response as text. */
function sendRaw(path: string, head: string, body: string): Promise<string> {
  const { hostname, port } = new URL(bench.url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  let got = "";
  socket.setEncoding("latin1");
  socket
    .on("data", (text: string) => (got += text))
    .on("end", () => resolve(got))
    .on("error", reject);
  const length = Buffer.byteLength(body, "latin1");
  const framing = `content-length: ${length}\r\nconnection: close`;
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${head}\r\n${framing}\r\n\r\n${body}`, "latin1");
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
    const answer = await sendRaw(path, `authorization: Bearer ${one.key}\r\n${head}`, body);
    expect(answer).toStartWith("HTTP/1.1 400 ");
    expect(answer).toContain("invalid_");
    expect(bench.provider.totals().calls).toBe(before);
    await fares(bench, owner, owner.keys[0]!, "normal", { style });
    expect((await ask(bench, other, { style })).result).toBe("200");
  });
});
