// The official `openai` SDK against the service: it gets what it expects, knows every error by its class, retries what is
// worth it and nothing else, and each bill is the provider's own count at the price.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { type ClientOptions } from "openai";
import type { ChatCompletion, ChatCompletionMessageParam } from "openai/resources";
import { type Account, type Bench, MODEL, startBench, until } from "./harness.ts";
import { billOf, type Customer, customerOf, openAccount, SETTINGS, thrownBy, watched } from "./sdk-bench.ts";
import { arrange, TROUBLES } from "./troubles.ts";

let bench: Bench;
let customer: Customer;
beforeAll(async () => {
  bench = await startBench({ settings: SETTINGS });
  customer = await customerOf(bench, "chat");
});
afterAll(() => bench.close());

const fresh = () => bench.subaccount(customer.owner);
const clientOf = (key: string, options: ClientOptions = {}) =>
  new OpenAI({ apiKey: key, baseURL: `${bench.url}/v1`, maxRetries: 0, ...options });

const saying = (content: string) => ({
  model: MODEL,
  messages: [{ role: "user", content }] as ChatCompletionMessageParam[],
});
const TOOL = { type: "function" as const, function: { name: "look_up", parameters: { type: "object" } } };

describe("answers", () => {
  test("whole: text, usage and request id; charged by the provider's count", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const answer = await clientOf(user.key).chat.completions.create(saying("hi there [[output=3 cached=2]]"));
    expect(answer.choices[0]?.message.content).toBe("hi there time");
    expect(answer.usage?.total_tokens).toBe(8 + 3);
    const { lines, nano } = await billOf(bench, user);
    expect(lines).toMatchObject([{ basis: "provider", request_id: answer._request_id }]);
    expect([account.calls().length, nano]).toEqual([1, account.worth()]);
  });

  test("streamed: the same text and usage, and the same bill", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const { data, request_id } = await clientOf(user.key)
      .chat.completions.create({
        ...saying("hi there [[output=40 fault=split]]"),
        stream: true,
        stream_options: { include_usage: true },
      })
      .withResponse();
    let said = "";
    let tokens = 0;
    for await (const chunk of data) {
      said += chunk.choices[0]?.delta.content ?? "";
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect(said).toStartWith("hi there time year");
    expect([said.split(" ").length, tokens]).toEqual([40, 48]);
    const { lines, nano } = await billOf(bench, user);
    expect(lines).toMatchObject([{ basis: "provider", request_id, stream: true }]);
    expect(nano).toBe(account.worth());
  });

  test("streamed without asking for usage: none comes, and the bill is exact all the same", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const stream = await clientOf(user.key).chat.completions.create({ ...saying("hi"), stream: true });
    for await (const chunk of stream) expect(chunk.usage ?? null).toBeNull();
    expect((await billOf(bench, user)).nano).toBe(account.worth());
  });

  test.each(["fragments", "whole", "repeat_id"])(
    "tool calls streamed as %s are those of the whole answer",
    async (form) => {
      const user = await fresh();
      const account = openAccount(bench);
      const request = { ...saying(`use it [[tool=2 tool_form=${form}]]`), tools: [TOOL] };
      const whole = await clientOf(user.key).chat.completions.create(request);
      const streamed = await clientOf(user.key).chat.completions.stream(request).finalChatCompletion();
      expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
      expect(callsOf(whole)).toHaveLength(2);
      expect(callsOf(streamed)).toEqual(callsOf(whole));
      expect((await billOf(bench, user)).nano).toBe(account.worth());
    },
  );

  test("the answer to a tool call is taken back", async () => {
    const client = clientOf((await fresh()).key);
    const request = { ...saying("use it [[tool output=2]]"), tools: [TOOL] };
    const { message } = (await client.chat.completions.create(request)).choices[0]!;
    const result = { role: "tool" as const, tool_call_id: message.tool_calls![0]!.id, content: "42" };
    const last = await client.chat.completions.create({
      ...request,
      messages: [...request.messages, message, result],
    });
    expect(last.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "use it" } });
  });
});

const callsOf = (answer: ChatCompletion) =>
  answer.choices[0]?.message.tool_calls?.map((call) =>
    call.type === "function" ? [call.id, call.function.name, JSON.parse(call.function.arguments)] : [],
  );

describe("leaving", () => {
  test("amid a stream: the provider is stopped, and what was generated is charged as partial", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    bench.provider.behave(customer.secret, "output=500 chunk_ms=10", 1);
    const stream = await clientOf(user.key).chat.completions.create({
      ...saying("tell me a long story"),
      stream: true,
    });
    let words = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) words++;
      if (words === 5) stream.controller.abort();
    }
    const { lines, nano } = await settled(user);
    const { usage, aborted } = account.calls()[0]!;
    expect([aborted, lines.length, lines[0].basis]).toEqual([true, 1, "partial"]);
    // No usage was reported: the prompt's five words are counted here, and never for more than the provider counts.
    expect(lines[0].prompt_tokens).toBeWithin(5, usage!.prompt + 1);
    expect(lines[0].completion_tokens).toBeWithin(5, usage!.completion + 1);
    expect(nano).toBe(lines[0].prompt_tokens * 1_000 + lines[0].completion_tokens * 2_000);
  });

  test.each([
    ["by hand", { signal: true }, OpenAI.APIUserAbortError],
    ["by its timeout", { timeout: 1_000 }, OpenAI.APIConnectionTimeoutError],
  ] as const)("before any content, %s: free, and the provider is stopped", async (_, how, kind) => {
    const user = await fresh();
    const account = openAccount(bench);
    const leaving = new AbortController();
    const options = "signal" in how ? { signal: leaving.signal } : how;
    const asked = thrownBy(clientOf(user.key).chat.completions.create(saying("[[head_ms=20000]]"), options));
    await until("the provider is asked", () => account.calls().length === 1);
    if ("signal" in how) leaving.abort();
    expect(await asked).toBeInstanceOf(kind);
    await until("the provider is left", () => account.calls()[0]!.aborted);
    await until("nothing is held", () => bench.nothingHeld(user.key));
    expect((await billOf(bench, user)).lines).toHaveLength(1);
  });
});

/** The bill once the one charge is on it. */
async function settled(user: Account) {
  await until("it is charged", async () => (await billOf(bench, user)).lines.length > 0);
  return billOf(bench, user);
}

/** By status; every status of the table must be here. */
const CLASSES: Readonly<Record<number, new (...given: never[]) => Error>> = {
  400: OpenAI.BadRequestError,
  401: OpenAI.AuthenticationError,
  403: OpenAI.PermissionDeniedError,
  404: OpenAI.NotFoundError,
  409: OpenAI.ConflictError,
  413: OpenAI.APIError,
  422: OpenAI.UnprocessableEntityError,
  429: OpenAI.RateLimitError,
  502: OpenAI.InternalServerError,
  503: OpenAI.InternalServerError,
  504: OpenAI.InternalServerError,
};

describe("errors", () => {
  describe.each([false, true])("with stream: %p", (stream) => {
    test.each(TROUBLES.map((row) => [row.status, row.name, row] as const))(
      "%d, %s",
      async (status, _, row) => {
        const { key, model, messages, type, code, cost } = await arrange(bench, "chat", row);
        const request = { model, messages: [...messages], max_tokens: 5, stream };
        const error = await thrownBy(clientOf(key).chat.completions.create(request));
        expect(error).toBeInstanceOf(CLASSES[status]!);
        expect(error).toMatchObject({ status, type, code, requestID: expect.any(String) });
        expect((error as Error).message).toMatch(/\w+ \w+/);
        expect(await cost()).toBe(0);
      },
    );
  });

  test.each([
    ["an error event", "fault=error_event after=6"],
    ["a cut connection", "fault=cut after=6"],
    ["a stream that ends too early", "fault=cut after=6 how=clean"],
  ])("%s inside a stream is thrown; what came before it is charged as partial", async (_, script) => {
    const user = await fresh();
    const stream = await clientOf(user.key).chat.completions.create({
      ...saying(`[[output=20 ${script}]]`),
      stream: true,
    });
    let said = "";
    const error = await thrownBy(
      (async () => {
        for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? "";
      })(),
    );
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: undefined, type: "upstream_error" });
    const [line] = (await settled(user)).lines;
    expect(line).toMatchObject({ basis: "partial", completion_tokens: said.trim().split(" ").length });
  });
});

describe("the SDK's own retries", () => {
  test("a 429 of RPM is retried after the time it says, and succeeds", async () => {
    const { user } = await customerOf(bench, "chat", { RPM: 1 });
    const { fetch, statuses } = watched();
    const client = clientOf(user.key, { fetch, maxRetries: 1 });
    await client.chat.completions.create(saying("one [[output=1]]"));
    bench.moveClock(57_000);
    await client.chat.completions.create(saying("two [[output=1]]"));
    expect(statuses).toEqual([200, 429, 200]);
    expect((await billOf(bench, user)).lines).toHaveLength(2);
  });

  test.each([
    ["a wait of a minute", { RPM: 1 }, "rpm_exceeded"],
    ["a spending limit", { HardLimit: 0.00002 }, "hard_limit_reached"],
  ])("%s is not waited for: one attempt", async (_, fields, code) => {
    const { user } = await customerOf(bench, "chat", fields);
    const { fetch, statuses } = watched();
    const client = clientOf(user.key, { fetch, maxRetries: 2 });
    await client.chat.completions.create({ ...saying("[[output=5]]"), max_tokens: 5 });
    const error = await thrownBy(client.chat.completions.create(saying("[[output=5 prompt=100]]")));
    expect(error).toMatchObject({ code });
    expect((error as InstanceType<typeof OpenAI.APIError>).headers!.get("x-should-retry")).toBe("false");
    expect(statuses).toEqual([200, 429]);
  });

  test("a 503 is retried, and succeeds", async () => {
    const { user, secret } = await customerOf(bench, "chat");
    const account = openAccount(bench);
    const { fetch, statuses } = watched();
    bench.provider.behave(secret, "fault=503", 1);
    await clientOf(user.key, { fetch, maxRetries: 1 }).chat.completions.create(saying("hi"));
    expect(statuses).toEqual([503, 200]);
    expect((await billOf(bench, user)).nano).toBe(account.worth());
  });

  test("with an Idempotency-Key a lost answer comes again: one call of the provider, one charge", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const { fetch, statuses } = watched(1);
    const client = clientOf(user.key, { fetch, maxRetries: 1 });
    const headers = { "Idempotency-Key": "order-1" };
    const answer = await client.chat.completions.create(saying("hi [[output=3]]"), { headers });
    expect(answer.choices[0]?.message.content).toBe("hi time year");
    expect(statuses).toEqual([200, 200]);
    expect(account.calls()).toHaveLength(1);
    const { lines, nano } = await billOf(bench, user);
    expect([lines.length, nano]).toEqual([1, account.worth()]);
  });

  test("without one it is asked, and charged, twice", async () => {
    const user = await fresh();
    const { fetch } = watched(1);
    await clientOf(user.key, { fetch, maxRetries: 1 }).chat.completions.create(saying("hi"));
    expect((await billOf(bench, user)).lines).toHaveLength(2);
  });
});

describe("models", () => {
  test("the list holds what can be called, and each entry can be asked for", async () => {
    const client = clientOf((await fresh()).key);
    const ids = (await Array.fromAsync(await client.models.list())).map(({ id }) => id);
    expect(ids).toContain(MODEL);
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: "model" });
  });

  test("an unknown one is a NotFoundError", async () => {
    const error = await thrownBy(clientOf((await fresh()).key).models.retrieve("unpriced-model"));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ code: "model_not_found" });
  });
});
