// The messages dialect: reads its requests, says whole answers, and counts the tokens of a request that is not sent.
// Its stream is in messages-stream.ts, what it demands in messages-rules.ts.

import type { Ask } from "./answer.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Wording } from "./faults.ts";
import { schemaAsked } from "./json-answer.ts";
import { bearerOf } from "./keys.ts";
import { blockWords, messageBody, signatureOf, stopOf, toolId } from "./message.ts";
import { blocksOf, brokenRule, type MessagesBody } from "./messages-rules.ts";
import { event, messagesStream } from "./messages-stream.ts";
import { MESSAGES_USAGE } from "./messages-usage.ts";
import { countPrompt, type Message, textOf } from "./prompt.ts";
import { badRequest } from "./refusal.ts";
import { readMarkers } from "./script.ts";
import type { Headers } from "./wire.ts";

export const messages: Dialect = {
  style: "messages",
  generates: true,
  idPrefix: "msg_",
  keyOf: (_, headers) => headers["x-api-key"] || bearerOf(headers),
  manners: (id) => ({
    "request-id": `req_${id}`,
    "anthropic-organization-id": "org-standin",
    "anthropic-ratelimit-requests-limit": "4000",
    "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-requests-reset": "2026-11-21T00:00:01Z",
    "anthropic-ratelimit-input-tokens-limit": "2000000",
    "anthropic-ratelimit-input-tokens-remaining": "1999000",
    "anthropic-ratelimit-input-tokens-reset": "2026-11-21T00:00:01Z",
    "set-cookie": "__cf_bm=standin; path=/; HttpOnly",
  }),
  read: (body: MessagesBody, headers) => read(body, headers, true),
  whole,
  stream: messagesStream,
  wording,
};

/** The count of a request's tokens: the same body, which need not have a limit, and never a stream. */
export const countTokens: Dialect = {
  ...messages,
  generates: false,
  read: ({ stream: _, ...body }, headers) => read(body, headers, false),
  whole: ({ answer }) => JSON.stringify({ input_tokens: answer.usage.prompt }),
};

function read(body: MessagesBody, headers: Headers, limited: boolean): Reading {
  const broken = brokenRule(body, headers, limited);
  if (broken !== null) return { ok: false, refusal: badRequest(broken) };
  const turns = body.messages as readonly Message[];
  // The results of tools come as a user's message; the marker that asked for the tool is further up.
  const asked = turns.findLastIndex(({ role, content }) => role === "user" && hasText(content));
  const { scripts, said } = readMarkers(textOf(textBlocks(turns[asked]?.content)));
  const system: readonly Message[] = body.system === undefined ? [] : [{ content: body.system }];
  const ask: Ask = {
    model: String(body.model),
    stream: body.stream === true,
    usageAsked: true,
    said,
    promptTokens: countPrompt([...system, ...turns], body.tools),
    choices: 1,
    limit: limited ? Number(body.max_tokens) : null,
    tools: toolNames(body.tools),
    mustCallTool: FORCED.includes(body.tool_choice?.type),
    ...schemaAsked(body.output_config?.format),
    toolResults: turns.slice(Math.max(0, asked)).reduce((sum, { content }) => sum + resultsIn(content), 0),
  };
  return { ok: true, ask, scripts };
}

function whole(serving: Serving): string {
  const { answer, script } = serving;
  const choice = answer.choices[0]!;
  const content = [
    ...blockWords(choice).map(({ type, words }, place) => {
      const text = words.join("").trimStart();
      return type === "text"
        ? { type, text, citations: null }
        : { type, thinking: text, signature: signatureOf(text, place) };
    }),
    ...choice.toolCalls.map((call) => ({
      type: "tool_use",
      id: toolId(call),
      name: call.name,
      input: JSON.parse(call.arguments),
    })),
  ];
  const usage = MESSAGES_USAGE[script.usage ?? "asked"].whole(answer.usage, script.tier ?? "standard");
  return JSON.stringify(messageBody(serving, content, stopOf(choice), usage));
}

const OVERLOADED = { error: { type: "overloaded_error", message: "Overloaded" }, request_id: "req_standin" };
/** A kind of event, and a field, that no client knows. */
const NOTICE = { notice: { filtered: false, severity: "safe" } };

function wording(): Wording {
  const notice = event("provider_notice", NOTICE);
  const padding = (characters: number) => ({ padding: "x".repeat(characters) });
  return {
    error: event("error", OVERLOADED),
    errorBody: JSON.stringify({ type: "error", ...OVERLOADED }),
    garbage: 'event: content_block_delta\ndata: {"type":"content_bl\n\n',
    garbageBody: '{"id":"msg_',
    ping: event("ping"),
    opening: notice,
    late: notice,
    bare: event("content_block_delta", { index: 0 }),
    padded: (characters) => event("ping", padding(characters)),
    filteredBody: (body) => withFields(body, NOTICE),
    paddedBody: (body, characters) => withFields(body, padding(characters)),
  };
}

const withFields = (body: string, fields: object): string =>
  `${body.slice(0, -1)},${JSON.stringify(fields).slice(1)}`;

const textBlocks = (content: unknown) => blocksOf(content).filter(({ type }) => type === "text");
const hasText = (content: unknown): boolean => textBlocks(content).length > 0;
const resultsIn = (content: unknown): number =>
  blocksOf(content).filter(({ type }) => type === "tool_result").length;

const FORCED: readonly unknown[] = ["any", "tool"];

/** The client's tools: those of the server have a dated type and no schema, and are never called here. */
function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  const list: readonly { readonly name?: unknown; readonly input_schema?: unknown }[] = tools;
  return list.flatMap(({ name, input_schema }) =>
    typeof name === "string" && input_schema !== undefined ? [name] : [],
  );
}
