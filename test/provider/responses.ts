// The responses dialect: reads its requests, says whole answers, names what the provider keeps of them.
// Items and the response object are in response.ts, the stream in responses-stream.ts.

import type { Ask } from "./answer.ts";
import type { Dialect, Reading, Reference, Serving } from "./dialect.ts";
import type { Fields } from "./form.ts";
import { schemaAsked } from "./json-answer.ts";
import { ASK, namedEvent, namedWording, OPENAI, refused } from "./openai.ts";
import { countPrompt, hasBadImage, type Message, textOf } from "./prompt.ts";
import { badRequest, notFound, type Refusal } from "./refusal.ts";
import { ENCRYPTED, encryptedFor, finished } from "./response.ts";
import { responsesStream } from "./responses-stream.ts";
import { readMarkers, type Script } from "./script.ts";
import { inputsOf } from "./stored.ts";

export const responses: Dialect = {
  ...OPENAI,
  generates: true,
  idPrefix: "resp_",
  read,
  whole: (serving) => JSON.stringify(finished(serving)),
  stream: responsesStream,
  wording: ({ script }) =>
    namedWording("response.output_text.delta", {
      error: namedEvent("error", {
        code: "server_error",
        message: "The server had an error processing your request.",
        param: null,
        sequence_number: script.after ?? 3,
      }),
      padded: (characters) =>
        namedEvent("response.output_text.delta", { delta: "", obfuscation: "x".repeat(characters) }),
    }),
  keeps,
  refers,
  unreadable,
};

interface Item {
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly id?: unknown;
  readonly output?: unknown;
  readonly arguments?: unknown;
  readonly encrypted_content?: unknown;
  readonly result?: unknown;
}

function read(body: Fields): Reading {
  if (typeof body.model !== "string" || body.model === "")
    return refused("Missing required parameter: 'model'.", "model", "missing_required_parameter");
  if (typeof body.input !== "string" && !Array.isArray(body.input))
    return refused("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  const items = itemsOf(body.input);
  if (items.some(({ content }) => hasBadImage(content)))
    return refused("Invalid image URL: a data URL of an image, or an http(s) URL expected.", "input");
  const asked = items.findLastIndex(({ role }) => role === "user");
  const { scripts, said } = readMarkers(textOf(items[asked]?.content));
  const text = body.text as { readonly format?: unknown } | null | undefined;
  const limit = body.max_output_tokens;
  const system: readonly Message[] = body.instructions == null ? [] : [{ content: body.instructions }];
  const ask: Ask = {
    model: body.model,
    stream: body.stream === true,
    usageAsked: true,
    said,
    promptTokens: countPrompt([...system, ...items.map(asMessage)], body.tools),
    choices: 1,
    limit: typeof limit === "number" ? limit : null,
    tools: toolNames(body.tools),
    mustCallTool: body.tool_choice === "required" || isRecord(body.tool_choice),
    toolResults: items
      .slice(asked + 1)
      .filter(({ type }) => type === "function_call_output" || type === "custom_tool_call_output").length,
    ...schemaAsked(text?.format),
  };
  return { ok: true, ask, scripts };
}

const itemsOf = (input: unknown): readonly Item[] =>
  Array.isArray(input) ? input.filter(isRecord) : [{ role: "user", content: input }];

const asMessage = (item: Item): Message => ({ content: item.content ?? item.output ?? item.arguments });

/** The response, its items, and the conversation it belongs to are kept unless the request says no. */
function keeps(serving: Serving): Readonly<Record<string, object>> {
  if (serving.body.store === false) return {};
  const response = finished(serving);
  const items = response.output.map((item) => [item.id, item] as const);
  const data = itemsOf(serving.body.input).map((item, nth) => ({
    type: "message",
    id: `in_${nth}`,
    ...item,
  }));
  const inputs = {
    object: "list",
    data,
    first_id: "in_0",
    last_id: `in_${data.length - 1}`,
    has_more: false,
  };
  return { [serving.id]: response, [inputsOf(serving.id)]: inputs, ...Object.fromEntries(items) };
}

function refers(body: Fields): readonly Reference[] {
  const { previous_response_id, conversation, input } = body;
  const talk = isRecord(conversation) ? conversation.id : conversation;
  const items = itemsOf(input).filter(
    ({ type, result, encrypted_content: cipher }) =>
      type === "item_reference" ||
      (type === "image_generation_call" && result === undefined) ||
      (type === "reasoning" && cipher === undefined),
  );
  return [
    ...reference(
      previous_response_id,
      "Previous response",
      "previous_response_id",
      "previous_response_not_found",
    ),
    ...reference(talk, "Conversation", "conversation"),
    ...items.flatMap(({ id }) => reference(id, "Item", "input")),
  ];
}

const reference = (id: unknown, kind: string, param: string, code?: string): Reference[] =>
  typeof id === "string"
    ? [{ id, missing: notFound(`${kind} with id '${id}' not found.`, param, code) }]
    : [];

/** Reasoning is encrypted for the organization whose key has answered. */
function unreadable(body: Fields, script: Script): Refusal | null {
  const own = encryptedFor(script);
  for (const item of itemsOf(body.input)) {
    const { type, encrypted_content: content } = item;
    if (type !== "reasoning" || typeof content !== "string" || !content.startsWith(ENCRYPTED)) continue;
    if (content === own) continue;
    const message = `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified.`;
    return badRequest(message, null, "invalid_encrypted_content");
  }
  return null;
}

/** A place to talk in, which a response can name. */
export const conversations: Dialect = {
  ...responses,
  generates: false,
  idPrefix: "conv_",
  read: (body) => ({
    ok: true,
    scripts: readMarkers(typeof body.user === "string" ? body.user : "").scripts,
    ask: { ...ASK, model: "", said: "", promptTokens: 0 },
  }),
  whole: (serving) => JSON.stringify(conversation(serving)),
  keeps: (serving) => ({ [serving.id]: conversation(serving) }),
  refers: () => [],
  unreadable: () => null,
};

const conversation = ({ id, createdS, body }: Serving) => ({
  id,
  object: "conversation",
  created_at: createdS,
  metadata: body.metadata ?? {},
});

function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools
    .filter(isRecord)
    .flatMap(({ type, name }) =>
      (type === "function" || type === "custom") && typeof name === "string" ? [name] : [],
    );
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
