// The requests of Claude Code, which is not run here: their paths, headers and bodies as its versions 2.1 send them, with the
// settings of docs/agents.md. They reach keys of either style, and a conversation with tools costs what was generated.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, charges, type Json, nano, until } from "../harness.ts";
import { useBench } from "../use-bench.ts";
import { type Customer, customerWith, worthOf } from "./provider-keys.ts";

const SETTINGS: { env: Record<string, string> } = JSON.parse(
  readFileSync(join(import.meta.dir, "../../../docs/agents/claude-code/settings.json"), "utf8"),
);
const MODEL = SETTINGS.env.ANTHROPIC_MODEL!;
const SMALL_MODEL = SETTINGS.env.ANTHROPIC_DEFAULT_HAIKU_MODEL!;

const bench = useBench();
const customer = (kind: "messages" | "chat"): Promise<Customer> =>
  customerWith(bench, kind, [MODEL, SMALL_MODEL]);

const SESSION = "0f5c8f0e-52f2-4f0b-9a07-3c5f0c1b7a11";
const HEADERS = {
  accept: "application/json",
  "anthropic-version": "2023-06-01",
  "anthropic-beta":
    "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,prompt-caching-scope-2026-01-05,effort-2025-11-24",
  "anthropic-dangerous-direct-browser-access": "true",
  "user-agent": "claude-cli/2.1.304 (external, cli)",
  "x-app": "cli",
  "x-claude-code-session-id": SESSION,
  "x-stainless-lang": "js",
  "x-stainless-package-version": "0.74.0",
  "x-stainless-retry-count": "0",
  "x-stainless-runtime": "node",
  "x-stainless-timeout": "600",
};

const CACHED = { cache_control: { type: "ephemeral" } };
const SYSTEM = [
  { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.304.0d9; cc_entrypoint=cli; cch=fa690;" },
  { type: "text", text: "You are Claude Code, Anthropic's official CLI for Claude.", ...CACHED },
  { type: "text", text: "You help with software.", cache_control: { type: "ephemeral", ttl: "1h" } },
];
const TOOLS = [
  {
    name: "Bash",
    description: "Runs a command.",
    input_schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { command: { type: "string" }, timeout: { type: "number" } },
      required: ["command"],
      additionalProperties: false,
    },
  },
  {
    name: "Read",
    description: "Reads a file.",
    input_schema: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
    ...CACHED,
  },
];
const METADATA = {
  user_id: JSON.stringify({ device_id: "a".repeat(64), account_uuid: "", session_id: SESSION }),
};

/** A message with a mark of the cache at its end, which only the last one has: a provider takes four in all. */
const marked = (message: Json): Json => ({
  ...message,
  content: message.content.with(-1, { ...message.content.at(-1), ...CACHED }),
});

/** The body of a turn, with what was said before. */
const turn = (messages: readonly Json[]) => ({
  model: MODEL,
  messages: messages.with(-1, marked(messages.at(-1))),
  system: SYSTEM,
  tools: TOOLS,
  metadata: METADATA,
  max_tokens: 32_000,
  thinking: { type: "adaptive" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "medium" },
  stream: true,
});

const user = (text: string) => ({
  role: "user",
  content: [
    { type: "text", text: "<system-reminder>\nBe careful.\n</system-reminder>" },
    { type: "text", text },
  ],
});

const send = (one: Customer, body: object, path = "/v1/messages?beta=true"): Promise<Answer> =>
  bench.call(one.user.key, "POST", path, body, { headers: HEADERS });

/** The events of a stream. */
const eventsOf = ({ text }: Answer): Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));

/** The content blocks that a stream adds up to. */
function blocksOf(events: readonly Json[]): Json[] {
  const blocks: Json[] = [];
  for (const { type, index, content_block, delta } of events) {
    if (type === "content_block_start") blocks[index] = { ...content_block, json: "" };
    if (type !== "content_block_delta") continue;
    if (delta.type === "text_delta") blocks[index].text += delta.text;
    if (delta.type === "thinking_delta") blocks[index].thinking += delta.thinking;
    if (delta.type === "signature_delta") blocks[index].signature = delta.signature;
    if (delta.type === "input_json_delta") blocks[index].json += delta.partial_json;
  }
  return blocks.map(({ json, ...block }) =>
    block.type === "tool_use" ? { ...block, input: JSON.parse(json) } : block,
  );
}

const ROUNDS = 10;

describe.each(["messages", "chat"] as const)("at a key for %s", (kind) => {
  test("a conversation of ten tool calls is answered, and costs what was generated", async () => {
    const one = await customer(kind);
    const messages: Json[] = [
      user(`list files [[tool=1 rounds=${ROUNDS} arguments={"command":"ls"} think reasoning=2 output=20]]`),
    ];
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await send(one, turn(messages));
      expect([answer.status, answer.headers.get("content-type")]).toEqual([
        200,
        expect.stringContaining("text/event-stream"),
      ]);
      const events = eventsOf(answer);
      const blocks = blocksOf(events);
      const call = blocks.find(({ type }) => type === "tool_use");
      expect(call).toMatchObject({ name: "Bash", input: { command: "ls" } });
      expect(events.at(-2)).toMatchObject({ type: "message_delta", delta: { stop_reason: "tool_use" } });
      messages.push({ role: "assistant", content: blocks });
      const result = { type: "tool_result", tool_use_id: call.id, content: "a.ts\nb.ts", is_error: false };
      messages.push({ role: "user", content: [result] });
    }
    const last = eventsOf(await send(one, turn(messages)));
    expect(blocksOf(last).at(-1)).toMatchObject({
      type: "text",
      text: expect.stringContaining("list files"),
    });
    expect(last.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" } });

    const calls = one.calls();
    expect(calls).toHaveLength(ROUNDS + 1);
    const lines = charges(await bench.ledger(one.user.key));
    expect(lines.map(({ amount }) => -nano(amount))).toEqual(calls.map(worthOf));
    expect(lines.map(({ basis }) => basis)).toEqual(Array(ROUNDS + 1).fill("provider"));
  });

  test("its small model writes a title, whole and within a schema", async () => {
    const one = await customer(kind);
    const schema = {
      type: "object",
      properties: { title: { type: "string" } },
      required: ["title"],
      additionalProperties: false,
    };
    const answer = await send(one, {
      model: SMALL_MODEL,
      messages: [{ role: "user", content: "list files" }],
      system: [{ type: "text", text: "Write a title." }],
      metadata: METADATA,
      max_tokens: 64,
      temperature: 1,
      output_config: { format: { type: "json_schema", schema } },
    });
    expect([answer.status, JSON.parse(answer.body.content[0].text)]).toEqual([200, { title: "list files" }]);
  });

  test("it counts tokens for nothing", async () => {
    const one = await customer(kind);
    const { model, messages, tools, system, thinking } = turn([user("list files")]);
    const body = { model, messages, tools, system, thinking };
    const answer = await send(one, body, "/v1/messages/count_tokens?beta=true");
    expect([answer.status, answer.body.input_tokens > 0]).toEqual([200, true]);
    expect(charges(await bench.ledger(one.user.key))).toEqual([]);
  });

  test("it asks whether its quota holds with one token", async () => {
    const one = await customer(kind);
    const asked = { model: SMALL_MODEL, max_tokens: 1, metadata: METADATA };
    const answer = await send(one, { ...asked, messages: [{ role: "user", content: "quota" }] });
    expect([answer.status, answer.body.stop_reason]).toEqual([200, "max_tokens"]);
  });

  test("a turn that is interrupted is charged for what was generated, and the next one goes on", async () => {
    const one = await customer(kind);
    const stopping = new AbortController();
    const said = user("list files [[output=400 chunk_ms=5]]");
    const response = await fetch(`${bench.url}/v1/messages?beta=true`, {
      method: "POST",
      headers: { ...HEADERS, authorization: `Bearer ${one.user.key}`, "content-type": "application/json" },
      body: JSON.stringify(turn([said])),
      signal: stopping.signal,
    });
    const reader = response.body!.getReader();
    for (let text = ""; !text.includes("text_delta"); ) {
      text += new TextDecoder().decode((await reader.read()).value);
    }
    stopping.abort();
    await until("it is charged", async () => charges(await bench.ledger(one.user.key)).length === 1);
    expect(charges(await bench.ledger(one.user.key))).toMatchObject([{ basis: "partial" }]);
    const next = turn([
      said,
      { role: "assistant", content: [{ type: "text", text: "[interrupted]" }] },
      user("on [[output=1]]"),
    ]);
    expect((await send(one, next)).status).toBe(200);
  });
});

test("a key of its own style gets the request as it is: betas, cache marks, thinking and metadata", async () => {
  const one = await customer("messages");
  await send(one, turn([user("list files [[output=1]]")]));
  const [call] = one.calls();
  expect(call!.body).toEqual(turn([user("list files [[output=1]]")]));
  expect(call!.headers).toMatchObject({
    "anthropic-version": HEADERS["anthropic-version"],
    "anthropic-beta": HEADERS["anthropic-beta"],
  });
});

test("a key for chat gets no mark of a cache and no line that changes with every request", async () => {
  const one = await customer("chat");
  await send(one, turn([user("list files [[output=1]]")]));
  const sent = JSON.stringify(one.calls()[0]!.body);
  expect(sent).not.toContain("cache_control");
  expect(sent).not.toContain("x-anthropic-billing-header");
  expect(sent).not.toContain("context_management");
});

test("errors are in the form that it reads", async () => {
  const one = await customer("messages");
  const answer = await send(one, { ...turn([user("hi")]), model: "claude-never-heard-of" });
  expect([answer.status, answer.body.type, answer.body.error.type]).toEqual([
    404,
    "error",
    "not_found_error",
  ]);
  const wrong = await bench.call("sk-wrong", "POST", "/v1/messages?beta=true", turn([user("hi")]), {
    headers: HEADERS,
  });
  expect([wrong.status, wrong.body.error.type]).toEqual([401, "authentication_error"]);
});

test("the settings name the service without a path, and models that have a price", () => {
  expect(new URL(SETTINGS.env.ANTHROPIC_BASE_URL!).pathname).toBe("/");
  const catalog = join(import.meta.dir, "../../../actors/catalog/default-prices.json");
  const { ChatPricing } = JSON.parse(readFileSync(catalog, "utf8"));
  const models = Object.entries(SETTINGS.env).filter(([name]) => name.endsWith("_MODEL"));
  expect(models.map(([, model]) => model in ChatPricing)).toEqual(models.map(() => true));
});
