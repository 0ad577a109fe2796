// The vectors of what providers' figures cost, end to end: a stand-in answers with those figures, and the client pays that sum.

import { expect, test } from "bun:test";
import cases from "../fixtures/pricing-cases.json";
import { formOf, wavFile } from "../provider/asking.ts";
import { asking, charges, type Json, nano } from "./harness.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench();
const chatting = prepared(async () => bench.subaccount(await bench.owner({ pricing: {} })));
const messaging = prepared(async () =>
  bench.subaccount(await bench.owner({ pricing: {}, style: "messages" })),
);

interface Arranged {
  readonly path: string;
  readonly body: object | FormData;
}

const chat = (model: string, script: string): Arranged => ({
  path: "/v1/chat/completions",
  body: { ...asking(`say [[${script}]]`), model, max_tokens: 4_000 },
});

/** How each vector is arranged, in the order in which they stand. */
// biome-ignore format: a table
const ARRANGED: readonly Arranged[] = [
  { path: "/v1/messages", body: { ...asking("say [[prompt=12307 cache_write=12304 output=550]]"), model: "claude-sonnet-4-5", max_tokens: 600 } },
  chat("claude-sonnet-4-5", "prompt=12307 cache_write=12304 output=550"),
  { path: "/v1/messages", body: { ...asking("say [[prompt=2459 cached=2455 output=23]]"), model: "claude-sonnet-4-5", max_tokens: 600 } },
  chat("gpt-4o", "prompt=2006 cached=1920 output=300"),
  { path: "/v1/responses", body: { model: "gpt-4o", input: "say [[prompt=2006 cached=1920 output=300]]" } },
  chat("o3-mini", "prompt=1000 output=800 reasoning=640"),
  // Its own dialect is not spoken: through the chat one, thoughts stand in the total alone.
  chat("gemini-2.5-flash", "prompt=7477 output=3999 reasoning=1939 usage=beside"),
  chat("gpt-audio", "prompt=120 audio_in=100 output=250 audio_out=200"),
  chat("deepseek-chat", "prompt=1000 cached=600 output=100 usage=deepseek"),
  { path: "/v1/images/generations", body: { model: "gpt-image-1", prompt: "a boat [[prompt=50 output=1056]]" } },
  { path: "/v1/images/generations", body: { model: "dall-e-3", prompt: "a boat", n: 2, size: "1024x1792", quality: "hd" } },
  { path: "/v1/audio/transcriptions", body: formOf({ model: "whisper-1", file: wavFile(90) }) },
  { path: "/v1/audio/speech", body: { model: "tts-1", input: "x".repeat(2_000), voice: "alloy" } },
  { path: "/v1/rerank", body: { model: "rerank-v3.5", query: "boats", documents: Array.from({ length: 150 }, () => "a boat") } },
  { path: "/v1/rerank", body: { model: "rerank-2.5", query: "boats [[shape=voyage prompt=26000]]", documents: ["a boat"] } },
  { path: "/v1/embeddings", body: { model: "text-embedding-3-small", input: "a boat [[prompt=5000]]" } },
];

test("there is an arrangement for each vector", () => {
  expect(
    ARRANGED.map(({ body }) => (body instanceof FormData ? body.get("model") : (body as Json).model)),
  ).toEqual(cases.cost.map(({ model }) => model));
});

test.each(cases.cost.map((vector, i) => [vector.model, vector.dialect, vector.usd, i] as const))(
  "%s through %s: %d USD",
  async (model, _dialect, usd, i) => {
    const { path, body } = ARRANGED[i]!;
    const user = path === "/v1/messages" ? messaging : chatting;
    const answer = await bench.call(user.key, "POST", path, body);
    expect(answer.status).toBe(200);
    expect(nano(answer.headers.get("x-arbor-cost")!)).toBe(nano(usd));
    const line = charges(await bench.ledger(user.key)).at(-1);
    expect(line).toMatchObject({ amount: -usd, basis: "provider", model, path });
  },
);

test("searches that a tool may make are held, and those alone that were made are charged", async () => {
  const asked = (script: string, tools: readonly object[]) => ({
    ...asking(`say [[output=3 ${script}]]`),
    ...{ model: "claude-sonnet-4-5", max_tokens: 5, tools },
  });
  const search = [{ type: "web_search_20250305", name: "s", max_uses: 3 }];
  const costOf = async (script: string) => {
    const { headers } = await bench.call(messaging.key, "POST", "/v1/messages", asked(script, search));
    return nano(headers.get("x-arbor-cost")!);
  };
  const holdOf = async (tools: readonly object[]) => {
    const question = { path: "/v1/messages", body: asked("", tools) };
    return nano((await bench.call(messaging.key, "POST", "/v1/quote", question)).body.hold);
  };
  const one = 10_000_000;
  expect((await costOf("searches=2")) - (await costOf("searches=0"))).toBe(2 * one);
  expect(await costOf("searches=0")).toBeLessThan(one);
  const [with3, with1] = [await holdOf(search), await holdOf([{ ...search[0], max_uses: 1 }])];
  expect(with3 - with1).toBe(2 * one);
});
