// The responses dialect, whole: which requests are refused and why, what they weigh, what an answer holds, and the objects
// that both speak of.

import { describe, expect, test } from "bun:test";
import { responses } from "../../../src/dialect/responses/responses.ts";
import { madeBy, reasoningOf, referencesOf } from "../../../src/dialect/responses/responses-objects.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { ask, type Refused, read, testRefusals } from "../asking.ts";

const LEAST = { model: "m", input: "hi" };
const asked = (extra: Record<string, unknown> = {}) => ask(responses, { ...LEAST, ...extra });
const texts = (extra: Record<string, unknown>) => responses.promptTexts(asked(extra));
const user = (...content: unknown[]) => ({ input: [{ role: "user", content }] });

describe("a request is refused for", () => {
  const REFUSED: Refused = [
    ["not being an object", [], "body"],
    ["a missing model", { input: "hi" }, "model", "missing_parameter"],
    ["missing input", { model: "m" }, "input", "missing_parameter"],
    [
      "missing input beside nulls",
      { model: "m", prompt: null, conversation: null },
      "input",
      "missing_parameter",
    ],
    ["input that is null", { model: "m", input: null }, "input"],
    ["input that is an object", { ...LEAST, input: {} }, "input"],
    ["an item among others that is no object", { ...LEAST, input: [{ role: "user" }, null] }, "input"],
    ["an item that is no object", { ...LEAST, input: ["hi"] }, "input"],
    ["an item_reference without an id", { ...LEAST, input: [{ type: "item_reference" }] }, "input"],
    ["an item_reference whose id is no string", { ...LEAST, input: [{ type: null, id: ["x"] }] }, "input"],
    ["a previous response that is no string", { ...LEAST, previous_response_id: 7 }, "previous_response_id"],
    ["a previous response without a name", { ...LEAST, previous_response_id: "" }, "previous_response_id"],
    ["a conversation without an id", { ...LEAST, conversation: {} }, "conversation"],
    ["a conversation that is a list", { ...LEAST, conversation: ["conv_1"] }, "conversation"],
    ["an output limit of 0", { ...LEAST, max_output_tokens: 0 }, "max_output_tokens"],
    ["an output limit in words", { ...LEAST, max_output_tokens: "9" }, "max_output_tokens"],
    ["a limit of calls below 0", { ...LEAST, max_tool_calls: -1 }, "max_tool_calls"],
    ["a stream that is no boolean", { ...LEAST, stream: 1 }, "stream"],
    ["stream options that are no object", { ...LEAST, stream_options: true }, "stream_options"],
    ["a service tier that is no string", { ...LEAST, service_tier: 1 }, "service_tier"],
    ["background, which answers later", { ...LEAST, background: true }, "background"],
    ["speed fast, which is not priced", { ...LEAST, speed: "fast" }, "speed"],
  ];
  testRefusals(responses, REFUSED);
});

describe("a parsed request has", () => {
  test("its defaults, nulls counting as absent", () => {
    const nulls = { stream: null, max_output_tokens: null, conversation: null, background: false };
    expect(asked(nulls)).toMatchObject({
      model: "m",
      stream: false,
      n: 1,
      maxOutput: null,
      includeUsage: true,
      images: 0,
      files: 0,
      serviceTier: null,
      measured: {},
      answerForm: null,
    });
  });
  test("its limit, its stream, its tier", () => {
    const extra = { max_output_tokens: 9, stream: true, service_tier: "flex" };
    expect(asked(extra)).toMatchObject({ maxOutput: 9, stream: true, serviceTier: "flex" });
  });
  test.each(["previous_response_id", "conversation", "prompt"])("no input beside %s", (field) => {
    expect(ask(responses, { model: "m", [field]: "x_1" }).model).toBe("m");
  });

  const LONG = "x".repeat(900);
  // biome-ignore format: a table
  const READ: readonly (readonly [what: string, extra: Record<string, unknown>])[] = [
    ["a text", { input: LONG }],
    ["instructions", { instructions: LONG }],
    ["parts of a message", user({ type: "input_text", text: LONG })],
    ["a message of its own", { input: [{ type: "message", role: "user", content: LONG }] }],
    ["a call that was made", { input: [{ type: "function_call", call_id: "c", name: "f", arguments: LONG }] }],
    ["what a call gave", { input: [{ type: "function_call_output", call_id: "c", output: LONG }] }],
    ["parts that a call gave", { input: [{ type: "function_call_output", output: [{ type: "input_text", text: LONG }] }] }],
    ["tools", { tools: [{ type: "function", name: "f", description: LONG }] }],
    ["a schema that names a file", { text: { format: { type: "input_file", schema: { description: LONG } } } }],
    ["the choice of a tool", { tool_choice: { type: "function", name: LONG } }],
    ["the variables of a prompt", { prompt: { id: "p", variables: { a: LONG } } }],
  ];
  test.each(READ)("the bytes of %s, which are read", (_what, extra) => {
    expect(asked(extra).promptBytes).toBeGreaterThanOrEqual(900);
    expect(asked(extra)).toMatchObject({ images: 0, files: 0 });
    expect(texts(extra)).toContain(LONG);
  });
  test("nothing of its metadata, which is not", () => {
    expect(asked({ metadata: { a: LONG }, user: LONG }).promptBytes).toBe(asked().promptBytes);
    expect(texts({ metadata: { a: LONG } })).not.toContain(LONG);
  });
  test("images and files by number, those that a call gave included", () => {
    const url = `data:image/png;base64,${"A".repeat(100_000)}`;
    const extra = {
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: url },
            { type: "input_file", file_data: url },
          ],
        },
        { type: "function_call_output", output: [{ type: "input_image", image_url: url }] },
        { type: "computer_call_output", output: { type: "computer_screenshot", image_url: url } },
        { type: "image_generation_call", id: "ig_1", result: "A".repeat(100_000) },
      ],
    };
    expect(asked(extra)).toMatchObject({ images: 4, files: 1 });
    expect(asked(extra).promptBytes).toBeLessThan(400);
    expect(texts(extra).join("").length).toBeLessThan(300);
  });

  test("the kinds of token that it cannot have", () => {
    expect(asked().never).toEqual(["inAudio", "inImage", "outAudio", "outImage", "inCacheWrite1h"]);
    expect(asked(user({ type: "input_image" })).never).not.toContain("inImage");
    expect(asked({ tools: [{ type: "image_generation" }] }).never).not.toContain("outImage");
  });
  test("the searches that it may come to, where it may search", () => {
    expect(asked({ tools: [{ type: "file_search" }, { type: "web_search" }] }).measured).toEqual({
      webSearches: 10,
    });
    expect(asked({ tools: [{ type: "web_search_preview_2025_03_11" }], max_tool_calls: 3 }).measured).toEqual(
      {
        webSearches: 3,
      },
    );
    expect(asked({ tools: [{ type: "function", name: "web_search" }, null, { type: 1 }] }).measured).toEqual(
      {},
    );
  });
});

describe("an answer", () => {
  const answered = (body: unknown) => read(responses, LEAST, body);
  const usage = { input_tokens: 5, output_tokens: 7 };
  test("gives its usage as it came, its tier, and all that was generated", () => {
    expect(
      answered({
        id: "resp_1",
        status: "completed",
        error: null,
        service_tier: "priority",
        usage,
        output: [
          {
            type: "reasoning",
            summary: [{ type: "summary_text", text: "in short" }],
            encrypted_content: "opaque",
          },
          {
            type: "reasoning",
            summary: [{ text: "unread" }],
            content: [{ type: "reasoning_text", text: "thought" }],
          },
          {
            type: "message",
            content: [
              { type: "output_text", text: "a", annotations: [{ title: "found" }] },
              { type: "refusal", refusal: "b" },
              null,
              { type: "output_text", text: "" },
            ],
          },
          { type: "function_call", call_id: "c", name: "f", arguments: '{"x":1}' },
          { type: "custom_tool_call", name: "g", input: "y" },
          { type: "code_interpreter_call", code: "z", outputs: [{ type: "logs", logs: "printed" }] },
          { type: "local_shell_call", action: { type: "exec", command: ["ls"] } },
          { type: "apply_patch_call", operation: { diff: "+" } },
          { type: "image_generation_call", result: "AAAA" },
          null,
          "x",
        ],
      }),
    ).toMatchObject({
      ok: true,
      usage,
      serviceTier: "priority",
      texts: [
        "in short",
        "thought",
        "a",
        "b",
        "f",
        '{"x":1}',
        "g",
        "y",
        "z",
        '{"type":"exec","command":["ls"]}',
        '{"diff":"+"}',
      ],
      measured: { webSearches: 0 },
    });
  });
  test("that a limit cut short is an answer", () => {
    const body = {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: [],
      usage,
    };
    expect(answered(body)).toMatchObject({ ok: true, usage, texts: [] });
  });
  test("without usage, status or any output is one all the same", () =>
    expect(answered({ output: [] })).toMatchObject({ ok: true, usage: null, serviceTier: null, texts: [] }));
  test("counts its searches: not its visits, and not those that failed", () => {
    const search = (action: unknown, status = "completed") => ({ type: "web_search_call", status, action });
    const output = [
      search({ type: "search", query: "q" }),
      search(undefined),
      search({ query: "q" }),
      search({ type: "open_page", url: "u" }),
      search({ type: "find_in_page" }),
      search({ type: "search" }, "failed"),
    ];
    expect(answered({ output })).toMatchObject({ ok: true, measured: { webSearches: 3 } });
  });

  const FAULTS: readonly (readonly [what: string, text: string, fault: "error_body" | "server_error"])[] = [
    ["failed", '{"status":"failed","error":{"code":"server_error","message":"m"},"output":[]}', "error_body"],
    ["failed without a word", '{"status":"failed","error":null,"output":[]}', "error_body"],
    ["cancelled", '{"status":"cancelled","output":[]}', "error_body"],
    ["still to come", '{"status":"queued","output":[]}', "error_body"],
    ["under way", '{"status":"in_progress","output":[]}', "error_body"],
    ["an error object", '{"error":{"message":"m"}}', "error_body"],
    ["code and msg", '{"code":1113,"msg":"m"}', "error_body"],
    ["without output", '{"status":"completed"}', "error_body"],
    ["an array", "[]", "error_body"],
    ["null", "null", "error_body"],
    ["a page", "<html>", "server_error"],
    ["nothing", "", "server_error"],
  ];
  test.each(FAULTS)("that is %s is a failure", (_what, text, fault) => {
    expect(answered(text)).toEqual({ ok: false, fault });
  });
  test("goes to the client as it came", () =>
    expect(responses.withFingerprint('{ "output":[] }', {}, "fp_1")).toBe('{ "output":[] }'));
  test("is read as this dialect counts: cached tokens inside the input", () => {
    const raw = { input_tokens: 2_006, input_tokens_details: { cached_tokens: 1_920 }, output_tokens: 300 };
    expect(readUsage(responses.usage, raw, { contextWindow: 0, outputLimit: 0 })).toMatchObject({
      inText: 86,
      inCached: 1_920,
      outText: 300,
    });
  });
});

describe("a request refers to", () => {
  const REFERENCES: readonly (readonly [
    what: string,
    body: Record<string, unknown>,
    ids: readonly string[],
  ])[] = [
    ["nothing", LEAST, []],
    ["the response before it", { previous_response_id: "resp_1" }, ["resp_1"]],
    ["a conversation", { conversation: "conv_1" }, ["conv_1"]],
    ["a conversation as an object", { conversation: { id: "conv_1" } }, ["conv_1"]],
    [
      "items, each once",
      {
        input: [
          { type: "item_reference", id: "msg_1" },
          { id: "rs_1" },
          { type: null, id: "fc_1" },
          { type: "item_reference", id: "msg_1" },
        ],
      },
      ["msg_1", "rs_1", "fc_1"],
    ],
    [
      "an image by its id alone",
      {
        input: [
          { type: "image_generation_call", id: "ig_1" },
          { type: "image_generation_call", id: "ig_2", result: "aGk=", status: "completed" },
        ],
      },
      ["ig_1"],
    ],
    [
      "no item that speaks for itself",
      {
        input: [
          { type: "message", id: "msg_1", role: "user", content: "a" },
          { id: "x", role: "user", content: "b" },
        ],
      },
      [],
    ],
    [
      "nothing that is no id",
      { previous_response_id: 1, conversation: { id: {} }, input: [null, { id: 5 }, "x"] },
      [],
    ],
    [
      "all of them",
      {
        previous_response_id: "resp_1",
        conversation: { id: "conv_1" },
        input: [{ type: "item_reference", id: "m" }],
      },
      ["resp_1", "conv_1", "m"],
    ],
  ];
  test.each(REFERENCES)("%s", (_what, body, ids) => expect([...referencesOf(body).keys()]).toEqual([...ids]));

  test("and reasoning by its id, where it has neither content nor cipher", () => {
    const input = [
      { type: "reasoning", id: "rs_1", summary: [] },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], content: null },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "gAAA" },
      { type: "reasoning", id: "rs_3", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
      { type: "reasoning", summary: [] },
    ];
    expect(reasoningOf({ input })).toEqual(["rs_1"]);
    expect(reasoningOf({ input: "x" })).toEqual([]);
    expect([...referencesOf({ input }).keys()]).toEqual([]);
  });
});

test("an answer makes its response, its conversation and its items", () => {
  const output = [{ id: "rs_1" }, { id: "msg_1" }, { id: "msg_1" }, {}, null, { id: 5 }];
  expect(madeBy({ id: "resp_1", conversation: { id: "conv_1" }, output })).toEqual([
    "resp_1",
    "conv_1",
    "rs_1",
    "msg_1",
  ]);
  expect(madeBy({ id: "resp_1", conversation: null, output: "x" })).toEqual(["resp_1"]);
  expect(madeBy({})).toEqual([]);
});

test("nobody can close its stream but the provider", () => expect(responses.closing.length).toBe(0));
test("an error before any event is the first", () =>
  expect(
    new TextDecoder().decode(responses.streamError({ message: "a\nb", type: "t", code: "c" }, "req_1")),
  ).toBe(
    'event: error\ndata: {"type":"error","code":"c","message":"a\\nb","param":null,"sequence_number":0}\n\n',
  ));
