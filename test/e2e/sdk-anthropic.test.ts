// The official `@anthropic-ai/sdk` against the service: it gets what it expects, knows every error by its class, retries
// what is worth it and nothing else, and each bill is the provider's own count at the price.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk";
import type { Message, MessageParam } from "@anthropic-ai/sdk/resources";
import { type Account, type Bench, MODEL, startBench, until } from "./harness.ts";
import { billOf, type Customer, customerOf, openAccount, SETTINGS, thrownBy, watched } from "./sdk-bench.ts";
import { arrange, TROUBLES } from "./troubles.ts";

let bench: Bench;
let customer: Customer;
beforeAll(async () => {
  bench = await startBench({ settings: SETTINGS });
  customer = await customerOf(bench, "messages");
});
afterAll(() => bench.close());

const fresh = () => bench.subaccount(customer.owner);
const clientOf = (key: string, options: ClientOptions = {}) =>
  new Anthropic({ apiKey: key, baseURL: bench.url, maxRetries: 0, ...options });

const saying = (content: string) => ({
  model: MODEL,
  max_tokens: 1_000,
  messages: [{ role: "user", content }] as MessageParam[],
});
const TOOL = { name: "look_up", input_schema: { type: "object" as const } };

const textOf = ({ content }: Message): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");
const callsOf = ({ content }: Message) => content.filter((block) => block.type === "tool_use");

describe("answers", () => {
  test("whole: text, usage and request id; charged by the provider's count", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const answer = await clientOf(user.key).messages.create(saying("hi there [[output=3 cached=2]]"));
    expect(textOf(answer)).toBe("hi there time");
    expect(answer.stop_reason).toBe("end_turn");
    expect(answer.usage).toMatchObject({ input_tokens: 6, cache_read_input_tokens: 2, output_tokens: 3 });
    const { lines, nano } = await billOf(bench, user);
    expect(lines).toMatchObject([{ basis: "provider", request_id: answer._request_id }]);
    expect([account.calls().length, nano]).toEqual([1, account.worth()]);
  });

  test.each([
    ["x-api-key", (key: string) => clientOf(key)],
    ["a bearer token", (key: string) => clientOf("", { apiKey: null, authToken: key })],
  ] as const)("the key may come as %s", async (_, client) => {
    expect(textOf(await client((await fresh()).key).messages.create(saying("hi [[output=1]]")))).toBe("hi");
  });

  test("streamed: the same text and usage, and the same bill", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const stream = clientOf(user.key).messages.stream(saying("hi there [[output=40 pings=3 fault=split]]"));
    let said = "";
    stream.on("text", (text) => {
      said += text;
    });
    const answer = await stream.finalMessage();
    expect(said).toStartWith("hi there time year");
    expect([said.split(" ").length, textOf(answer)]).toEqual([40, said]);
    expect(answer.usage).toMatchObject({ input_tokens: 8, output_tokens: 40 });
    const { lines, nano } = await billOf(bench, user);
    expect(lines).toMatchObject([{ basis: "provider", request_id: stream.request_id, stream: true }]);
    expect(nano).toBe(account.worth());
  });

  test("thinking comes in blocks of its own, streamed as whole, with its signature", async () => {
    const user = await fresh();
    const request = {
      ...saying("hm [[think reasoning=4 output=6]]"),
      thinking: { type: "adaptive" as const },
    };
    const whole = await clientOf(user.key).messages.create(request);
    const streamed = await clientOf(user.key).messages.stream(request).finalMessage();
    expect(whole.content.map(({ type }) => type)).toEqual(["thinking", "text"]);
    expect(whole.content[0]).toMatchObject({ signature: expect.stringMatching(/./) });
    expect(streamed.content).toMatchObject(whole.content.map(withoutCitations));
  });

  test("tool calls, streamed in fragments, are those of the whole answer", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const request = { ...saying("use it [[tool=2]]"), tools: [TOOL] };
    const whole = await clientOf(user.key).messages.create(request);
    const streamed = await clientOf(user.key).messages.stream(request).finalMessage();
    expect([whole.stop_reason, streamed.stop_reason]).toEqual(["tool_use", "tool_use"]);
    expect(callsOf(whole)).toMatchObject([
      { name: "look_up", input: { text: "use it" } },
      { name: "look_up" },
    ]);
    expect(callsOf(streamed)).toEqual(callsOf(whole));
    expect((await billOf(bench, user)).nano).toBe(account.worth());
  });

  test("the answer to a tool call is taken back", async () => {
    const client = clientOf((await fresh()).key);
    const request = { ...saying("use it [[tool output=2]]"), tools: [TOOL] };
    const first = await client.messages.create(request);
    const last = await client.messages.create({
      ...request,
      messages: [
        ...request.messages,
        { role: "assistant", content: first.content },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: callsOf(first)[0]!.id, content: "42" }],
        },
      ],
    });
    expect([last.stop_reason, textOf(last)]).toEqual(["end_turn", "use it"]);
  });

  test("counting tokens is free, and says what the request then costs", async () => {
    const user = await fresh();
    const client = clientOf(user.key);
    const { max_tokens: _, ...request } = saying("how many are these");
    const { input_tokens } = await client.messages.countTokens(request);
    expect((await billOf(bench, user)).lines).toHaveLength(0);
    expect((await client.messages.create({ ...request, max_tokens: 1 })).usage.input_tokens).toBe(
      input_tokens,
    );
  });
});

const withoutCitations = (block: object) => {
  const { citations: _, ...rest } = block as { citations?: unknown };
  return rest;
};

describe("leaving", () => {
  test("amid a stream: the provider is stopped, and what was generated is charged as partial", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const stream = await clientOf(user.key).messages.create({
      ...saying("[[output=500 chunk_ms=10]]"),
      stream: true,
    });
    let words = 0;
    for await (const event of stream) {
      if (event.type === "content_block_delta") words++;
      if (words === 5) stream.controller.abort();
    }
    const { lines, nano } = await settled(user);
    const { usage, aborted } = account.calls()[0]!;
    expect([aborted, lines.length, lines[0].basis]).toEqual([true, 1, "partial"]);
    // The stream's beginning reports the prompt.
    expect(lines[0].prompt_tokens).toBe(usage!.prompt);
    expect(lines[0].completion_tokens).toBeWithin(5, usage!.completion + 1);
    expect(nano).toBe(lines[0].prompt_tokens * 1_000 + lines[0].completion_tokens * 2_000);
  });

  test.each([
    ["by hand", { signal: true }, Anthropic.APIUserAbortError],
    ["by its timeout", { timeout: 1_000 }, Anthropic.APIConnectionTimeoutError],
  ] as const)("before any content, %s: free, and the provider is stopped", async (_, how, kind) => {
    const user = await fresh();
    const account = openAccount(bench);
    const leaving = new AbortController();
    const options = "signal" in how ? { signal: leaving.signal } : how;
    const asked = thrownBy(clientOf(user.key).messages.create(saying("[[head_ms=20000]]"), options));
    await until("the provider is asked", () => account.calls().length === 1);
    if ("signal" in how) leaving.abort();
    expect(await asked).toBeInstanceOf(kind);
    await until("the provider is left", () => account.calls()[0]!.aborted);
    await until("nothing is held", () => nothingHeld(user));
    expect((await billOf(bench, user)).lines).toHaveLength(1);
  });
});

/** What may cost more than the balance is admitted only when nothing else is held. */
async function nothingHeld(user: Account): Promise<boolean> {
  const asked = { ...saying("[[output=1]]"), max_tokens: 1_000_000_000 };
  return (await bench.call(user.key, "POST", "/v1/messages", asked)).status === 200;
}

/** The bill once the one charge is on it. */
async function settled(user: Account) {
  await until("it is charged", async () => (await billOf(bench, user)).lines.length > 0);
  return billOf(bench, user);
}

/** By status; every status of the table must be here. */
const CLASSES: Readonly<Record<number, new (...given: never[]) => Error>> = {
  400: Anthropic.BadRequestError,
  401: Anthropic.AuthenticationError,
  403: Anthropic.PermissionDeniedError,
  404: Anthropic.NotFoundError,
  409: Anthropic.ConflictError,
  413: Anthropic.ContentTooLargeError,
  422: Anthropic.UnprocessableEntityError,
  429: Anthropic.RateLimitError,
  502: Anthropic.InternalServerError,
  503: Anthropic.ServiceUnavailableError,
  504: Anthropic.GatewayTimeoutError,
};

describe("errors", () => {
  describe.each([false, true])("with stream: %p", (stream) => {
    test.each(TROUBLES.map((row) => [row.status, row.name, row] as const))(
      "%d, %s",
      async (status, _, row) => {
        const { key, model, messages, type, code, cost } = await arrange(bench, "messages", row);
        const request = { model, messages: [...messages], max_tokens: 5, stream };
        const error = await thrownBy(clientOf(key).messages.create(request));
        expect(error).toBeInstanceOf(CLASSES[status]!);
        const { requestID, message } = error as InstanceType<typeof Anthropic.APIError>;
        expect(requestID).toBeString();
        expect(error).toMatchObject({ status, error: { type: "error", request_id: requestID } });
        expect(error).toMatchObject({ error: { error: { type, code } } });
        expect(message).toMatch(/\w+ \w+/);
        expect(await cost()).toBe(0);
      },
    );
  });

  test.each([
    ["an error event", "fault=error_event after=6", "overloaded_error"],
    ["a cut connection", "fault=cut after=6", "api_error"],
    ["a stream that ends too early", "fault=cut after=6 how=clean", "api_error"],
  ])("%s inside a stream is thrown; what came before it is charged as partial", async (_, script, type) => {
    const user = await fresh();
    const stream = clientOf(user.key).messages.stream(saying(`[[output=20 ${script}]]`));
    let said = "";
    stream.on("text", (text) => {
      said += text;
    });
    const error = await thrownBy(stream.done());
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ error: { type: "error", error: { type } } });
    const { lines } = await settled(user);
    expect(lines).toMatchObject([{ basis: "partial", completion_tokens: said.trim().split(" ").length }]);
  });
});

describe("the SDK's own retries", () => {
  test("a 429 of RPM is retried after the time it says, and succeeds", async () => {
    const { user } = await customerOf(bench, "messages", { RPM: 1 });
    const { fetch, statuses } = watched();
    const client = clientOf(user.key, { fetch, maxRetries: 1 });
    await client.messages.create(saying("one [[output=1]]"));
    bench.moveClock(57_000);
    await client.messages.create(saying("two [[output=1]]"));
    expect(statuses).toEqual([200, 429, 200]);
    expect((await billOf(bench, user)).lines).toHaveLength(2);
  });

  test.each([
    ["a wait of a minute", { RPM: 1 }, "rpm_exceeded"],
    ["a spending limit", { HardLimit: 0.00002 }, "hard_limit_reached"],
  ])("%s is not waited for: one attempt", async (_, fields, code) => {
    const { user } = await customerOf(bench, "messages", fields);
    const { fetch, statuses } = watched();
    const client = clientOf(user.key, { fetch, maxRetries: 2 });
    await client.messages.create({ ...saying("[[output=5]]"), max_tokens: 5 });
    const error = await thrownBy(client.messages.create(saying("[[output=5 prompt=100]]")));
    expect(error).toMatchObject({ error: { error: { code } } });
    const { headers } = error as InstanceType<typeof Anthropic.APIError>;
    expect(headers!.get("x-should-retry")).toBe("false");
    expect(statuses).toEqual([200, 429]);
  });

  test("a 503 is retried, and succeeds", async () => {
    const { user, secret } = await customerOf(bench, "messages");
    const account = openAccount(bench);
    const { fetch, statuses } = watched();
    bench.provider.behave(secret, "fault=529", 1);
    await clientOf(user.key, { fetch, maxRetries: 1 }).messages.create(saying("hi"));
    expect(statuses).toEqual([503, 200]);
    expect((await billOf(bench, user)).nano).toBe(account.worth());
  });

  test("with an Idempotency-Key a lost answer comes again: one call of the provider, one charge", async () => {
    const user = await fresh();
    const account = openAccount(bench);
    const { fetch, statuses } = watched(1);
    const client = clientOf(user.key, { fetch, maxRetries: 1 });
    const headers = { "Idempotency-Key": "order-1" };
    const answer = await client.messages.create(saying("hi [[output=3]]"), { headers });
    expect(textOf(answer)).toBe("hi time year");
    expect(statuses).toEqual([200, 200]);
    expect(account.calls()).toHaveLength(1);
    const { lines, nano } = await billOf(bench, user);
    expect([lines.length, nano]).toEqual([1, account.worth()]);
  });
});

describe("models", () => {
  test("the list is paged through, and each entry can be asked for", async () => {
    const client = clientOf((await fresh()).key);
    const ids = (await Array.fromAsync(client.models.list({ limit: 1 }))).map(({ id }) => id);
    expect(ids).toContain(MODEL);
    expect(ids.length).toBe(new Set(ids).size);
    const found = await client.models.retrieve(MODEL);
    expect(found).toMatchObject({ id: MODEL, type: "model", display_name: MODEL });
  });

  test("an unknown one is a NotFoundError", async () => {
    const error = await thrownBy(clientOf((await fresh()).key).models.retrieve("unpriced-model"));
    expect(error).toBeInstanceOf(Anthropic.NotFoundError);
    expect(error).toMatchObject({ error: { error: { code: "model_not_found" } } });
  });
});
