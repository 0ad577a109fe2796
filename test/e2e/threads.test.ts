// Conversations that a provider of the messages style would keep: refused, so that the official SDK sends its whole history
// instead, whichever style the key speaks. What the provider says in `error.details` comes to the client, cleaned.

import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Account, charges, type Json, MODEL, type Owner } from "./harness.ts";
import { watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const STYLES = ["chat", "messages"] as const;
const SAID = "what is the weather in [[tool=1 output=5]] Oslo";
const REPORT = "three degrees and rain";

async function createAccounts(style: (typeof STYLES)[number]): Promise<{ owner: Owner; user: Account }> {
  const owner = await bench.owner({ style });
  return { owner, user: await bench.subaccount(owner) };
}

const tool = () => ({
  name: "weather",
  description: "The weather of a place",
  type: "custom" as const,
  input_schema: { type: "object" as const, properties: { text: { type: "string" as const } } },
  run: async () => REPORT,
  parse: (input: unknown) => input as { text: string },
});

/** The SDK, and the `thread` of every request that it made. */
function sdk(user: Account) {
  const threads: unknown[] = [];
  const client = new Anthropic({
    apiKey: user.key,
    baseURL: bench.url,
    maxRetries: 0,
    fetch: (url, init) => {
      threads.push(JSON.parse(String(init?.body)).thread ?? null);
      return fetch(url, init as RequestInit);
    },
  });
  return { client, threads };
}

describe.each(STYLES)("the SDK's tool loop at a %s key", (style) => {
  test.each([false, true])("ends well, and the model sees the whole history (stream: %p)", async (stream) => {
    const { user } = await createAccounts(style);
    const { client, threads } = sdk(user);
    const before = watch(bench);
    const runner = client.beta.messages.toolRunner({
      ...{ model: MODEL, max_tokens: 200, stream },
      messages: [{ role: "user", content: SAID }],
      tools: [tool()],
    });
    const last = (await runner.runUntilDone()) as Json;
    expect(last.stop_reason).toBe("end_turn");
    // It began with a thread, was refused, and asked for none again.
    expect(threads).toEqual([{ type: "create" }, null, null]);
    const calls = before.calls();
    expect(calls).toHaveLength(2);
    const sent = (calls.at(-1) as Json).body;
    expect(JSON.stringify(sent)).not.toContain("thread");
    const seen = JSON.stringify(sent.messages);
    for (const part of ["what is the weather in", REPORT]) expect(seen).toContain(part);
    expect(sent.messages.map((one: Json) => one.role)).toEqual(
      style === "chat" ? ["user", "assistant", "tool"] : ["user", "assistant", "user"],
    );
    expect(charges(await bench.ledger(user.key))).toHaveLength(2);
  });
});

const FIELDS: readonly (readonly [string, object])[] = [
  ["a thread that begins", { thread: { type: "create" } }],
  ["a thread that goes on", { thread: { type: "continue", previous_message_id: "msg_1" }, messages: [] }],
  ["a thread of no known form", { thread: "msg_1" }],
  ["an earlier message", { previous_message_id: "msg_1" }],
  ["an earlier message to compare with", { diagnostics: { previous_message_id: "msg_1" } }],
];

describe.each(STYLES)("at a %s key", (style) => {
  test.each(FIELDS)("%s is refused in words that the SDK knows, and never sent", async (_, more) => {
    const { user } = await createAccounts(style);
    const seen = watch(bench);
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const messages = [{ role: "user", content: "say it" }];
      const body = { model: MODEL, messages, ...(path === "/v1/messages" ? { max_tokens: 9 } : {}), ...more };
      const answer = await bench.call(user.key, "POST", path, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({
        ...{ type: "invalid_request_error", code: "invalid_parameter" },
        details: { error_code: "thread_unsupported_request" },
      });
    }
    expect(seen.calls()).toEqual([]);
  });

  test("null, and diagnostics of nothing earlier, are no conversation", async () => {
    const { user } = await createAccounts(style);
    const more = { thread: null, previous_message_id: null, diagnostics: { previous_message_id: null } };
    const messages = [{ role: "user", content: "say it [[output=2]]" }];
    const answer = await bench.call(user.key, "POST", "/v1/messages", {
      ...{ model: MODEL, max_tokens: 9, messages },
      ...more,
    });
    expect(answer.status).toBe(200);
  });
});

test("a fault of the key's or of an address goes before it", async () => {
  const { owner } = await createAccounts("messages");
  const user = await bench.subaccount(owner, { AllowIPs: "192.0.2.1" });
  const answer = await bench.call(user.key, "POST", "/v1/messages", { thread: { type: "create" } });
  expect(answer.body.error.code).toBe("ip_not_allowed");
  expect(answer.body.error.details).toBeUndefined();
});

describe("a provider's error.details", () => {
  test("come to clients of both styles", async () => {
    const { user } = await createAccounts("messages");
    const messages = [{ role: "user", content: "[[no_such_knob=1]]" }];
    for (const path of ["/v1/messages", "/v1/chat/completions"]) {
      const answer = await bench.call(user.key, "POST", path, { model: MODEL, max_tokens: 9, messages });
      expect(answer.status).toBe(400);
      expect(answer.body.error.details).toEqual({ error_code: "bad_script" });
    }
  });

  test("are what the SDK reads", async () => {
    const { user } = await createAccounts("messages");
    const asked = sdk(user).client.messages.create({
      ...{ model: MODEL, max_tokens: 9 },
      messages: [{ role: "user", content: "[[no_such_knob=1]]" }],
    });
    const thrown = await asked.catch((error) => error);
    expect(thrown).toBeInstanceOf(Anthropic.BadRequestError);
    expect(thrown.error.error.details).toEqual({ error_code: "bad_script" });
  });
});
