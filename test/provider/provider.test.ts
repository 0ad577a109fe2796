// The stand-in as such: its memory and totals, the behaviour of its keys, scripts, and what it takes off the wire.
// What it says is in the tests of its dialects, what goes wrong on purpose in faults.test.ts.

import { afterAll, describe, expect, test } from "bun:test";
import { ask, askIn, BOTH, chatBody, eventsIn, type Json, jsonOf, post, STYLES, until } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

test("the memory of a call holds what came, without secrets, and the true count", async () => {
  const response = await fetch(`${provider.url}/v1/chat/completions?x=1`, {
    method: "POST",
    headers: { authorization: "Bearer sk-memory-0002", "x-forwarded-for": "10.0.0.1", cookie: "a=b" },
    body: JSON.stringify(chatBody("Remember [[usage=none prompt=9 output=3]]")),
  });
  await response.text();
  const call = lastCall("0002");
  expect(call).toMatchObject({
    path: "/v1/chat/completions",
    query: "x=1",
    model: "gpt-4o",
    stream: false,
    status: 200,
    outcome: "complete",
    aborted: false,
    usage: { prompt: 9, completion: 3, cached: 0 },
  });
  expect(call.headers).toMatchObject({ "x-forwarded-for": "10.0.0.1", cookie: "a=b" });
  expect(call.headers).not.toHaveProperty("authorization");
  expect(call.startedAt).toBeWithin(Date.now() - 60_000, Date.now() + 1);
});

test("a client that leaves a stream is seen, and only what was generated is counted", async () => {
  const leaving = new AbortController();
  const response = await ask(
    provider,
    "[[output=500 chunk_ms=5]]",
    { stream: true },
    "sk-leaver-0003",
    leaving.signal,
  );
  const reader = response.body!.getReader();
  await reader.read();
  expect(lastCall("0003").outcome).toBeNull();
  leaving.abort();
  await until(() => lastCall("0003").outcome !== null);
  const call = lastCall("0003");
  expect(call).toMatchObject({ aborted: true, outcome: "aborted" });
  expect(call.usage!.completion).toBeLessThan(100);
});

test("calls in flight are counted, and their peak", async () => {
  const own = startProvider();
  const answers = Array.from({ length: 8 }, () => ask(own, "[[head_ms=60]]"));
  await until(() => own.inFlight() === 8);
  await Promise.all((await Promise.all(answers)).map((response) => response.text()));
  expect(own.inFlight()).toBe(0);
  expect(own.peakInFlight()).toBe(8);
  own.reset();
  expect(own.calls()).toHaveLength(0);
  expect(own.peakInFlight()).toBe(0);
  own.close();
});

test("a key's own script goes before that of the request, for so many calls", async () => {
  const bad = "sk-bad-0004";
  provider.behave(bad, "fault=429 retry=7", 2);
  const statuses = [];
  for (let i = 0; i < 3; i++) statuses.push((await ask(provider, "[[output=3]]", {}, bad)).status);
  expect(statuses).toEqual([429, 429, 200]);
  provider.behave(bad, "fault=500");
  expect((await ask(provider, "hi", {}, bad)).status).toBe(500);
  provider.behave(bad, null);
  expect((await ask(provider, "hi", {}, bad)).status).toBe(200);
  provider.behave(bad, "fault=none");
  expect((await ask(provider, "[[fault=500]]", {}, bad)).status).toBe(200);
});

test("a marker may be for one key, one model or each n-th call", async () => {
  const text = "[[fault=500 key=0005]] [[fault=503 model=gpt-4o-mini]]";
  expect((await ask(provider, text, {}, "sk-marked-0005")).status).toBe(500);
  expect((await ask(provider, text, {}, "sk-other-0006")).status).toBe(200);
  expect((await ask(provider, text, { model: "gpt-4o-mini" }, "sk-other-0006")).status).toBe(503);
  const statuses = [];
  for (let i = 0; i < 4; i++) {
    statuses.push((await ask(provider, "[[fault=500 every=2]]", {}, "sk-every-0007")).status);
  }
  expect(statuses).toEqual([200, 500, 200, 500]);
});

test("only the last user message is read for markers", async () => {
  const messages = [
    { role: "user", content: "[[fault=500]]" },
    { role: "assistant", content: "sorry [[fault=502]]" },
    { role: "user", content: [{ type: "text", text: "again [[output=2]]" }] },
  ];
  const response = await ask(provider, "", { messages });
  expect(response.status).toBe(200);
  expect((await jsonOf(response)).usage.completion_tokens).toBe(2);
});

test("calls of tools go on for so many rounds, each with ids of its own", async () => {
  const tools = [{ type: "function", function: { name: "look_up", parameters: {} } }];
  const messages: Json[] = [
    { role: "user", content: 'go on [[tool=2 rounds=3 arguments={"query":1} output=2]]' },
  ];
  const ids: string[] = [];
  for (let round = 1; round <= 3; round++) {
    const { message, finish_reason } = (await jsonOf(await ask(provider, "", { messages, tools })))
      .choices[0];
    expect([finish_reason, message.tool_calls.length]).toEqual(["tool_calls", 2]);
    messages.push(message);
    for (const { id, function: called } of message.tool_calls) {
      expect(called).toEqual({ name: "look_up", arguments: '{"query":1}' });
      ids.push(id);
      messages.push({ role: "tool", tool_call_id: id, content: "done" });
    }
  }
  expect(new Set(ids).size).toBe(6);
  const last = await jsonOf(await ask(provider, "", { messages, tools }));
  expect(last.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "go on" } });
});

test.each(["[[falt=500]]", "[[fault=brake]]", "[[output=many]]", "[[usage=some]]"])(
  "the mistaken script %s is refused by name",
  async (text) => {
    const response = await ask(provider, text);
    expect(response.status).toBe(400);
    expect((await jsonOf(response)).error.code).toBe("bad_script");
    const other = await askIn(STYLES.messages)(provider, text);
    expect([other.status, (await jsonOf(other)).error.details]).toEqual([400, { error_code: "bad_script" }]);
  },
);

test.each(BOTH)(
  "no key is a 401, a broken body a 400 in the words of $name",
  async ({ name, path, headers }) => {
    const type = (body: { error: { type: string } }) => body.error.type;
    const bare = await fetch(`${provider.url}${path}`, { method: "POST", body: "{}" });
    const expected = name === "chat" ? "invalid_request_error" : "authentication_error";
    expect([bare.status, type(await jsonOf(bare))]).toEqual([401, expected]);
    const broken = await fetch(`${provider.url}${path}`, {
      method: "POST",
      headers: headers("sk-a"),
      body: "{",
    });
    expect([broken.status, type(await jsonOf(broken))]).toEqual([400, "invalid_request_error"]);
  },
);

test("models are listed, and an unknown path is a 404", async () => {
  const headers = { authorization: "Bearer sk-a" };
  const models = await jsonOf(await fetch(`${provider.url}/v1/models`, { headers }));
  expect(models.data.length).toBeGreaterThan(1);
  expect((await fetch(`${provider.url}/v1/nothing`, { headers })).status).toBe(404);
});

test("large bodies, chunked bodies and many calls on one connection are read whole", async () => {
  const long = "word ".repeat(200_000);
  expect((await jsonOf(await ask(provider, `${long}[[output=1]]`))).usage.prompt_tokens).toBe(200_006);
  const body = JSON.stringify(chatBody("chunked größe [[output=1]]"));
  const streamed = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const byte of Buffer.from(body)) {
        controller.enqueue(Uint8Array.of(byte));
        if (byte === 0xc3) await Bun.sleep(2);
      }
      controller.close();
    },
  });
  const response = await fetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: "Bearer sk-chunked" },
    body: streamed,
  });
  expect((await jsonOf(response)).choices[0].message.content).toBe("chunked");
  for (let i = 0; i < 50; i++) expect((await ask(provider, "hi")).status).toBe(200);
});

test("totals sum what was generated, in whichever dialect it was said", async () => {
  const own = startProvider();
  for (const style of BOTH) {
    const knobs = "[[prompt=100 cached=60 cache_write=10 output=20 reasoning=5 usage=none]]";
    await (await askIn(style)(own, knobs)).text();
    await (await askIn(style)(own, knobs, { stream: true })).text();
  }
  expect(own.totals()).toMatchObject({ calls: 4, complete: 4, promptTokens: 400, completionTokens: 80 });
  own.close();
});

test("without memory only totals are kept", async () => {
  const own = startProvider({ remember: false });
  await (await ask(own, "[[prompt=10 output=4]]")).text();
  await (await ask(own, "[[fault=500]]")).text();
  expect(own.calls()).toHaveLength(0);
  expect(own.totals()).toMatchObject({ calls: 2, refused: 1, promptTokens: 10, completionTokens: 4 });
  own.close();
});

describe.each(BOTH)("plain answers of $name", (style) => {
  test("are ready-made: one whole, one stream of a hundred events", async () => {
    const own = startProvider({ plain: true });
    const whole = await jsonOf(await askIn(style)(own, "anything"));
    const words = style.textOf(whole).split(" ").length;
    expect(style.outputOf(whole)).toBe(words);
    expect(words).toBe(100 - style.eventsBefore - style.eventsAfter - (style.name === "chat" ? 1 : 0));
    const text = await (await askIn(style)(own, "anything", { stream: true })).text();
    expect(eventsIn(text)).toBe(100);
    expect(text).toContain(style.end);
    expect(own.totals()).toMatchObject({ calls: 2, complete: 2, completionTokens: 2 * words });
    own.close();
  });
});

test("plain counts of tokens generate nothing", async () => {
  const own = startProvider({ plain: true });
  const headers = STYLES.messages.headers("sk-any");
  const response = await fetch(`${own.url}/v1/messages/count_tokens`, {
    method: "POST",
    headers,
    body: "{}",
  });
  expect((await jsonOf(response)).input_tokens).toBeGreaterThan(0);
  expect(own.totals()).toMatchObject({ calls: 1, promptTokens: 0, completionTokens: 0 });
  own.close();
});

test("bodies as they came are let go of when they are too many", async () => {
  const own = startProvider();
  const large = { model: "m", input: "x".repeat(30 * 1024 * 1024) };
  for (let nth = 0; nth < 3; nth++) await (await post(own, "/v1/moderations", large)).text();
  expect(own.calls().map(({ bytes }) => bytes.length > 0)).toEqual([false, true, true]);
  own.close();
});
