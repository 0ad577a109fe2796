// The makers' own SDK at /v1/responses whose keys speak other styles, end to end: whole answers, streams, loops of tools,
// what is refused, hosts whose paths are learned, and who is charged what.

import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import { type Account, charges, type Json, MODEL, nano, type Owner } from "./harness.ts";
import { prepared, useBench } from "./use-bench.ts";

const PRICE = { InputText: 1, OutputText: 2, CachedText: 0.5, CacheWrite: 4, ReasonText: 8 };
const PRICING = { ChatPricing: { [MODEL]: PRICE } };
const STYLES = ["chat", "messages"] as const;
const PATHS: Readonly<Record<ApiStyle, string>> = { chat: "/v1/chat/completions", messages: "/v1/messages" };

const bench = useBench({ settings: { KEY_FAILURES: "3" } });

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
  readonly openai: OpenAI;
}

/** An Owner whose only key is of the style and has no /v1/responses, and a client of an account below. */
async function createAccounts(style: ApiStyle, more: object = { responses: false }): Promise<TestAccounts> {
  const owner = await bench.owner({ style, pricing: PRICING });
  await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Config: more });
  const user = await bench.subaccount(owner);
  return { owner, user, openai: new OpenAI({ apiKey: user.key, baseURL: `${bench.url}/v1`, maxRetries: 0 }) };
}
const accountsByStyle = prepared(async () => ({
  chat: await createAccounts("chat"),
  messages: await createAccounts("messages"),
}));

const callsOf = ({ owner }: TestAccounts) =>
  bench.provider.calls().filter(({ key }) => owner.secrets[0]!.endsWith(key));
const lastCharge = async ({ user }: TestAccounts): Promise<Json> =>
  charges(await bench.ledger(user.key)).at(-1);

/** What the SDK throws, whose promises are its own. */
const thrownBy = (asked: PromiseLike<unknown>): PromiseLike<Json> =>
  asked.then(
    () => null,
    (thrown: Json) => thrown,
  );

const TOOLS: OpenAI.Responses.Tool[] = [
  { type: "function", name: "look_up", parameters: { type: "object", properties: {} }, strict: false },
];
/** Fields that are refused at keys of every style, before any translation. */
const REFUSED_ANYWHERE = ["background", "prompt"];
const PARTS = "prompt=100 cached=40 cache_write=10 output=30 reasoning=12";
const EXACT = 50 * 1_000 + 40 * 500 + 10 * 4_000 + 18 * 2_000 + 12 * 8_000;

describe.each(STYLES)("at a key of the %s style", (style) => {
  const at = () => accountsByStyle[style];

  test("a whole answer is a response, and costs what the provider reported", async () => {
    const { data, response } = await at()
      .openai.responses.create({ model: MODEL, input: `say it [[${PARTS}]]`, metadata: { a: "b" } })
      .withResponse();
    expect(data).toMatchObject({
      object: "response",
      status: "completed",
      store: false,
      metadata: { a: "b" },
    });
    expect(data.output_text.length).toBeGreaterThan(0);
    expect(data.usage).toMatchObject({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens: 30,
      output_tokens_details: { reasoning_tokens: 12 },
      total_tokens: 130,
    });
    expect(callsOf(at()).at(-1)!.path).toEndWith(PATHS[style]);
    const line = await lastCharge(at());
    expect(line).toMatchObject({ basis: "provider", path: "/v1/responses" });
    expect([-nano(line.amount), nano(response.headers.get("x-arbor-cost")!)]).toEqual([EXACT, EXACT]);
  });

  test("a stream has its events numbered from 0 and ends with the whole response", async () => {
    const input = `say it [[${PARTS}]]`;
    const stream = await at().openai.responses.create({ model: MODEL, input, stream: true });
    const events: Json[] = [];
    for await (const event of stream) events.push(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, n) => n));
    expect(events[0].type).toBe("response.created");
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "response.completed", response: { status: "completed" } });
    expect(last.response.usage).toMatchObject({ input_tokens: 100, output_tokens: 30 });
    const said = events.filter(({ type }) => type === "response.output_text.delta");
    const text = last.response.output.find(({ type }: Json) => type === "message").content[0].text;
    expect(said.map(({ delta }) => delta).join("")).toBe(text);
    const line = await lastCharge(at());
    expect([line.basis, -nano(line.amount)]).toEqual(["provider", EXACT]);
  });

  test.each([false, true])("a tool is called and its result sent back (streamed: %p)", async (stream) => {
    const { openai } = at();
    const asked = { model: MODEL, input: "look [[tool]]", tools: TOOLS };
    const first = stream
      ? await openai.responses.stream(asked).finalResponse()
      : await openai.responses.create(asked);
    const call: Json = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({ name: "look_up", status: "completed" });
    expect(() => JSON.parse(call.arguments)).not.toThrow();
    const input = [
      { role: "user" as const, content: "look" },
      ...first.output,
      { type: "function_call_output" as const, call_id: call.call_id, output: "found" },
    ] as OpenAI.Responses.ResponseInput;
    const second = await openai.responses.create({ model: MODEL, input, tools: TOOLS });
    expect(second.status).toBe("completed");
    expect(JSON.stringify(callsOf(at()).at(-1)!.body)).toContain("found");
  });

  test("a custom tool's call comes back as free text", async () => {
    const tools: OpenAI.Responses.Tool[] = [{ type: "custom", name: "look_up" }];
    const { output } = await at().openai.responses.create({ model: MODEL, input: "look [[tool]]", tools });
    const call = output.find((item) => item.type === "custom_tool_call");
    expect(call).toMatchObject({ name: "look_up", input: expect.any(String) });
  });

  test("a response is not kept", async () => {
    const { openai } = at();
    const { id } = await openai.responses.create({ model: MODEL, input: "hi [[output=3]]" });
    expect(await thrownBy(openai.responses.retrieve(id))).toMatchObject({ status: 404 });
    const again = openai.responses.create({ model: MODEL, input: "on", previous_response_id: id });
    expect(await thrownBy(again)).toMatchObject({
      ...{ status: 400, code: "previous_response_not_found", param: "previous_response_id" },
    });
  });

  // biome-ignore format: a table
  test.each<[field: string, more: Json, code: string]>([
    ["previous_response_id", { previous_response_id: "resp_none" }, "previous_response_not_found"],
    ["conversation", { conversation: "conv_none" }, "previous_response_not_found"],
    ["input", { input: [{ type: "item_reference", id: "msg_none" }] }, "previous_response_not_found"],
    ["store", { store: true }, "invalid_parameter"],
    ["background", { background: true }, "invalid_parameter"],
    ["tools.0", { tools: [{ type: "web_search" }] }, "invalid_parameter"],
    ["tools.0", { tools: [{ type: "local_shell" }] }, "invalid_parameter"],
    ["prompt", { prompt: { id: "pmpt_1" } }, "invalid_parameter"],
  ])("refuses %s: %j", async (field, more, code) => {
    const before = callsOf(at()).length;
    const asked = at().openai.responses.create({ model: MODEL, input: "hi", ...more });
    const error = await thrownBy(asked);
    expect([error.status, error.code]).toEqual([400, code]);
    if (REFUSED_ANYWHERE.includes(field)) expect(error.message).toContain(field);
    else expect(error.param).toBe(field);
    expect(callsOf(at())).toHaveLength(before);
  });

  test("a body that a worker reads is translated like any other, with what its answer repeats", async () => {
    const instructions = "be brief";
    const input = `${"word ".repeat(80_000)} say it [[output=3]]`;
    const tools: OpenAI.Responses.Tool[] = [{ type: "custom", name: "look_up" }];
    const { openai } = at();
    const answer = await openai.responses.create({ model: MODEL, input, instructions, tools });
    expect(answer).toMatchObject({ status: "completed", instructions, tools: [{ name: "look_up" }] });
    const asked = { model: MODEL, input: input.replace("output=3", "tool"), tools, stream: true } as const;
    let called: Json;
    for await (const event of await openai.responses.create(asked))
      if (event.type === "response.output_item.done") called = event.item;
    expect(called).toMatchObject({ type: "custom_tool_call", name: "look_up" });
  });

  test("an answer that a worker reads repeats its request as well", async () => {
    const input = "say it [[fault=huge]]";
    const answer = await at().openai.responses.create({ model: MODEL, input, instructions: "be brief" });
    expect(answer).toMatchObject({ status: "completed", instructions: "be brief" });
  });

  test("a quote says what a request would meet", async () => {
    const quoted = async (more: object) => {
      const body = { model: MODEL, input: "hi", ...more };
      const { key } = at().user;
      return (await bench.call(key, "POST", "/v1/quote", { path: "/v1/responses", body })).body;
    };
    expect(await quoted({})).toMatchObject({ admitted: true, level: 1 });
    const refusal = { code: "invalid_parameter", message: expect.stringContaining("store") };
    expect(await quoted({ store: true })).toMatchObject({ admitted: false, refusal });
  });

  test("a stream that breaks ends with the response so far, charged as partial", async () => {
    const input = "say it [[output=12 fault=cut]]";
    const stream = await at().openai.responses.create({ model: MODEL, input, stream: true });
    const events: Json[] = [];
    for await (const event of stream) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
    expect(await lastCharge(at())).toMatchObject({ basis: "partial" });
  });
});

test("without an output limit the model's longest output is sent, and HOLD_OUTPUT_TOKENS of it held", async () => {
  const model = "claude-sonnet-4-5";
  const owner = await bench.owner({ style: "messages", pricing: { ChatPricing: { [model]: PRICE } } });
  const body = { model, input: "hi [[output=3]]" };
  const quote = await bench.call(owner.key, "POST", "/v1/quote", { path: "/v1/responses", body });
  const { prompt_tokens: prompt, max_completion_tokens: completion } = quote.body.estimated;
  expect(completion).toBe(4_096);
  expect(nano(quote.body.hold)).toBe(prompt * 4_000 + completion * 8_000);
  expect((await bench.call(owner.key, "POST", "/v1/responses", body)).status).toBe(200);
  expect(bench.provider.calls().at(-1)!.body).toMatchObject({ max_tokens: 64_000 });
});

test("thinking goes back to the provider that signed it, so that a loop of tools keeps it", async () => {
  const { openai } = accountsByStyle.messages;
  const asked = { model: MODEL, input: "look [[tool think reasoning=5 output=20]]", tools: TOOLS };
  const first = await openai.responses.stream(asked).finalResponse();
  expect(first.output.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
  const call: Json = first.output[1];
  const input = [
    { role: "user" as const, content: "look" },
    ...first.output,
    { type: "function_call_output" as const, call_id: call.call_id, output: "found" },
  ] as OpenAI.Responses.ResponseInput;
  await openai.responses.create({ model: MODEL, input, tools: TOOLS });
  const { messages } = callsOf(accountsByStyle.messages).at(-1)!.body as Json;
  expect(messages[1].content.map(({ type }: Json) => type)).toEqual(["thinking", "tool_use"]);
  expect(messages[1].content[0].signature).toMatch(/\S/);
});

test("keys that have the path are asked first, since they alone keep the response", async () => {
  const { owner, openai, user } = await createAccounts("messages");
  await bench.call(owner.key, "PUT", "/x-config", { LEVEL_AFFINITY: "on" });
  const [native] = await bench.level(owner, 1, 1, { Config: { responses: true } });
  const answers = [];
  for (let nth = 0; nth < 8; nth++) {
    answers.push(await openai.responses.create({ model: MODEL, input: `number ${nth} [[output=3]]` }));
  }
  expect(answers.map(({ store }: Json) => store)).toEqual(answers.map(() => true));
  expect((await openai.responses.retrieve(answers[0]!.id)).id).toBe(answers[0]!.id);
  bench.provider.behave(native!.secret, "fault=500");
  const translated: Json = await openai.responses.create({ model: MODEL, input: "hi [[output=3]]" });
  expect(translated).toMatchObject({ status: "completed", store: false });
  expect(charges(await bench.ledger(user.key))).toHaveLength(9);
});

test("a request that cannot be translated goes to a key that has the path, on another Level", async () => {
  const { owner, user, openai } = await createAccounts("messages");
  const [native] = await bench.level(owner, 2, 1, { Config: { responses: true } });
  await bench.call(owner.key, "PUT", "/x-config", { SWITCH_OVER: "1=2" });
  const answer = await openai.responses.create({ model: MODEL, input: "hi [[output=3]]", store: true });
  expect(answer.status).toBe("completed");
  const last = bench.provider.calls().at(-1)!;
  expect([native!.secret.slice(-4), "/v1/responses"]).toEqual([last.key, last.path]);
  expect(charges(await bench.ledger(user.key))).toHaveLength(1);
});

/** A host that has everything but /v1/responses, where it answers so; null while it has that too. */
function hostWithout(answer: () => Response | null) {
  const asked: string[] = [];
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const missing = pathname === "/v1/responses" ? answer() : null;
      if (missing !== null) return missing;
      const body = await request.text();
      return fetch(bench.provider.url + pathname, { method: "POST", headers: request.headers, body });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, asked, close: () => server.stop(true) };
}

describe("a host whose paths nobody knows", () => {
  const words = (status: number, message: string) => () =>
    Response.json({ error: { message, type: "invalid_request_error" } }, { status });
  // biome-ignore format: a table
  test.each<[what: string, answer: () => Response]>([
    ["404 and no words", () => new Response("", { status: 404 })],
    ["404 and a page", () => new Response("<h1>Not Found</h1>", { status: 404, headers: { "content-type": "text/html" } })],
    ["404 in its own words", words(404, "Invalid URL (POST /v1/responses)")],
    ["405", words(405, "Method Not Allowed")],
  ])("that answers %s is asked once, and then in its own style, without a failure of the key", async (_, answer) => {
    const one = await createAccounts("chat", {});
    const host = hostWithout(answer);
    const keyPath = `/x-keys/${one.owner.keys[0]!.id}`;
    try {
      await bench.call(one.owner.key, "PUT", keyPath, { Provider: host.url });
      const asked = { model: MODEL, input: "hi [[output=3]]" };
      const first = await one.openai.responses.create(asked).withResponse();
      expect(first.data.status).toBe("completed");
      expect(first.response.headers.get("x-arbor-attempts")).toBe("2");
      for await (const event of await one.openai.responses.create({ ...asked, stream: true }))
        expect(event.type).toStartWith("response.");
      const chat = "/v1/chat/completions";
      expect(host.asked).toEqual(["/v1/responses", chat, chat]);
      const { body } = await bench.call(one.owner.key, "GET", keyPath);
      expect(body.key).toMatchObject({ State: "normal" });
      expect(charges(await bench.ledger(one.user.key))).toHaveLength(2);
    } finally {
      await host.close();
    }
  });

  test("that says that it lacks the model is asked again: the path is there", async () => {
    const one = await createAccounts("chat", {});
    const host = hostWithout(words(404, `The model ${MODEL} does not exist`));
    try {
      await bench.call(one.owner.key, "PUT", `/x-keys/${one.owner.keys[0]!.id}`, { Provider: host.url });
      const asked = one.openai.responses.create({ model: MODEL, input: "hi" });
      expect(await thrownBy(asked)).toMatchObject({ status: 404, code: "model_not_found" });
      expect(host.asked).toEqual(["/v1/responses"]);
    } finally {
      await host.close();
    }
  });

  test("says what cannot be translated, also when the path turns out to be missing", async () => {
    const one = await createAccounts("chat", {});
    const host = hostWithout(words(404, "Invalid URL (POST /v1/responses)"));
    try {
      await bench.call(one.owner.key, "PUT", `/x-keys/${one.owner.keys[0]!.id}`, { Provider: host.url });
      const body = { model: MODEL, input: "hi", store: true };
      const quoted = async () =>
        (await bench.call(one.user.key, "POST", "/v1/quote", { path: "/v1/responses", body })).body;
      expect(await quoted()).toMatchObject({ admitted: true });
      for (const _ of ["learns", "knows"]) {
        const asked = one.openai.responses.create({ model: MODEL, input: "hi", store: true });
        expect(await thrownBy(asked)).toMatchObject({
          ...{ status: 400, code: "invalid_parameter", message: expect.stringContaining("store") },
        });
        // A quote knows what this node has learned.
        expect(await quoted()).toMatchObject({ admitted: false, refusal: { code: "invalid_parameter" } });
      }
      expect(host.asked).toEqual(["/v1/responses"]);
    } finally {
      await host.close();
    }
  });

  test("still continues what it has kept, after it has lacked the path for a moment", async () => {
    const one = await createAccounts("chat", {});
    let isThere = true;
    const host = hostWithout(() => (isThere ? null : new Response("", { status: 404 })));
    try {
      await bench.call(one.owner.key, "PUT", `/x-keys/${one.owner.keys[0]!.id}`, { Provider: host.url });
      const asked = { model: MODEL, input: "hi [[output=3]]" };
      const { id } = await one.openai.responses.create(asked);
      isThere = false;
      expect(await one.openai.responses.create(asked)).toMatchObject({ store: false });
      isThere = true;
      const body = { ...asked, previous_response_id: id };
      const quote = await bench.call(one.user.key, "POST", "/v1/quote", { path: "/v1/responses", body });
      expect(quote.body).toMatchObject({ admitted: true });
      const on = await one.openai.responses.create(body);
      expect(on.status).toBe("completed");
      expect(host.asked.at(-1)).toBe("/v1/responses");
    } finally {
      await host.close();
    }
  });

  test("is not shown to clients by the thinking that they send back", async () => {
    const one = await createAccounts("messages", {});
    const host = hostWithout(() => null);
    try {
      const Provider = host.url.replace("127.0.0.1", "localhost");
      await bench.call(one.owner.key, "PUT", `/x-keys/${one.owner.keys[0]!.id}`, { Provider });
      const asked = { model: MODEL, input: "look [[think reasoning=5 output=20]]" };
      const { output } = await one.openai.responses.create(asked);
      const carried = output.flatMap((item) => (item.type === "reasoning" ? [item.encrypted_content!] : []));
      expect(carried).toHaveLength(1);
      const words = Buffer.from(carried[0]!.split(".").at(-1)!, "base64url").toString();
      expect(words).toContain("provider");
      expect(words).not.toMatch(/localhost|127\.0/);
    } finally {
      await host.close();
    }
  });

  test("that has the path keeps it, whatever a key of another host has said", async () => {
    const one = await createAccounts("chat", {});
    const answer = await one.openai.responses.create({ model: MODEL, input: "hi [[output=3]]", store: true });
    expect(answer).toMatchObject({ status: "completed" });
    expect(callsOf(one).at(-1)!.path).toBe("/v1/responses");
  });
});
