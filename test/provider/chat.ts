// The chat completions dialect: reads its requests and says whole answers. Its stream is in chat-stream.ts.

import { type Ask, type Choice, signatureOf } from "./answer.ts";
import { chatStream, chunkPrefix, extraOf, finishOf, REFUSED } from "./chat-stream.ts";
import { CHAT_USAGE } from "./chat-usage.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Wording } from "./faults.ts";
import { schemaAsked } from "./json-answer.ts";
import { bearerOf } from "./keys.ts";
import { countPrompt, hasBadImage, type Message, textOf } from "./prompt.ts";
import { badRequest, type Refusal } from "./refusal.ts";
import { readMarkers, type Script } from "./script.ts";

export const chat: Dialect = {
  style: "chat",
  generates: true,
  idPrefix: "chatcmpl-",
  // Deployment paths take `api-key`, all others a bearer token.
  keyOf: (path, headers) => (path.startsWith("/openai/") ? (headers["api-key"] ?? "") : bearerOf(headers)),
  manners: (id) => ({
    "x-request-id": `req_${id}`,
    "openai-organization": "org-standin",
    "openai-processing-ms": "1",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-reset-requests": "6ms",
    "set-cookie": "__cf_bm=standin; path=/; HttpOnly",
  }),
  read,
  unreadable: unsigned,
  whole,
  stream: chatStream,
  wording,
};

interface ChatBody {
  readonly model?: unknown;
  readonly messages?: unknown;
  readonly stream?: unknown;
  readonly stream_options?: { readonly include_usage?: unknown } | null;
  readonly n?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
  readonly tools?: unknown;
  readonly tool_choice?: unknown;
  readonly response_format?: {
    readonly type?: unknown;
    readonly json_schema?: { readonly schema?: unknown } | null;
  } | null;
}

function read(body: ChatBody): Reading {
  const refused = (message: string, param: string) =>
    ({ ok: false, refusal: badRequest(message, param) }) as const;
  if (typeof body.model !== "string") return refused("you must provide a model parameter", "model");
  if (!Array.isArray(body.messages)) return refused("Missing required parameter: 'messages'.", "messages");
  if (body.stream_options && body.stream !== true) {
    return refused(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      "stream_options",
    );
  }
  const n = body.n ?? 1;
  if (typeof n !== "number" || !Number.isInteger(n) || n < 1 || n > 128) {
    return refused("Invalid 'n': integer between 1 and 128 expected.", "n");
  }
  const messages: readonly Message[] = body.messages;
  if (messages.some(({ content }) => hasBadImage(content))) {
    return refused("Invalid image URL: a data URL of an image, or an http(s) URL expected.", "messages");
  }
  const asked = messages.findLastIndex((message) => message.role === "user");
  const { scripts, said } = readMarkers(textOf(messages[asked]?.content));
  const tools = toolNames(body.tools);
  const limit = body.max_completion_tokens ?? body.max_tokens;
  const ask: Ask = {
    model: body.model,
    stream: body.stream === true,
    usageAsked: body.stream_options?.include_usage === true,
    said,
    promptTokens: countPrompt(messages, body.tools),
    choices: n,
    limit: typeof limit === "number" ? limit : null,
    tools,
    mustCallTool: body.tool_choice === "required" || typeof body.tool_choice === "object",
    ...schemaAsked({ ...body.response_format, ...body.response_format?.json_schema }),
    toolResults: messages.slice(asked + 1).filter((message) => message.role === "tool").length,
  };
  return { ok: true, ask, scripts };
}

interface SaidCall {
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown };
  readonly extra_content?: { readonly google?: { readonly thought_signature?: unknown } };
}

/** What is taken in place of a signature, for calls that another provider made. */
const UNCHECKED = "skip_thought_signature_validator";

/** A provider that signs its calls demands the signatures of those that followed the last words of the user. */
function unsigned({ messages }: ChatBody, { signed }: Script): Refusal | null {
  if (signed === undefined) return null;
  const said = messages as readonly (Message & { readonly tool_calls?: readonly SaidCall[] })[];
  const asked = said.findLastIndex(({ role }) => role === "user");
  for (const { tool_calls: calls = [] } of said.slice(asked + 1)) {
    const [first] = calls;
    const given = first?.extra_content?.google?.thought_signature;
    if (first !== undefined && given !== UNCHECKED && given !== signatureOf(String(first.id)))
      return badRequest("Function call is missing a thought_signature in functionCall parts.", "messages");
  }
  return null;
}

function whole(serving: Serving): string {
  const { answer, script } = serving;
  const form = CHAT_USAGE[script.usage ?? "asked"];
  return JSON.stringify({
    id: serving.id,
    object: "chat.completion",
    created: serving.createdS,
    model: script.answered ?? serving.ask.model,
    service_tier: script.tier ?? "default",
    system_fingerprint: "fp_standin",
    choices: answer.choices.map(choiceBody),
    // A whole answer always reports usage, unless the form reports none even when asked.
    ...(form.place(true) !== "nowhere" && { usage: form.body(answer.usage) }),
  });
}

function choiceBody(choice: Choice, index: number): object {
  const text = choice.words.join("").trimStart();
  const isRefused = choice.finish === REFUSED;
  const isSilent = choice.toolCalls.length > 0 && choice.words.length === 0;
  return {
    index,
    message: {
      role: "assistant",
      content: isSilent || isRefused ? null : text,
      refusal: isRefused ? text : null,
      annotations: [],
      ...(choice.thoughts.length > 0 && { reasoning_content: choice.thoughts.join("").trimStart() }),
      ...(choice.toolCalls.length > 0 && {
        tool_calls: choice.toolCalls.map((call) => ({
          id: call.id,
          type: "function",
          function: { name: call.name, arguments: call.arguments },
          ...extraOf(call),
        })),
      }),
    },
    finish_reason: finishOf(choice),
    logprobs: null,
  };
}

const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const FILTERED = JSON.stringify([{ prompt_index: 0, content_filter_results: SAFE }]);
const ERROR = JSON.stringify({
  error: {
    message: "The server had an error processing your request.",
    type: "server_error",
    param: null,
    code: null,
  },
});

function wording(serving: Serving): Wording {
  const prefix = chunkPrefix(serving);
  const bare = `${prefix}{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":44},"content_filter_results":{}}]}\n\n`;
  const padding = (characters: number) => `"obfuscation":"${"x".repeat(characters)}"`;
  return {
    error: `data: ${ERROR}\n\n`,
    errorBody: ERROR,
    garbage: 'data: {"id":"chatcmpl-\n\n',
    garbageBody: '{"id":"chatcmpl-',
    ping: ": ping\n\n",
    opening: `data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":${FILTERED}}\n\n`,
    late: bare,
    bare,
    padded: (characters) =>
      `${prefix}{"index":0,"delta":{},"finish_reason":null}],${padding(characters)}}\n\n`,
    filteredBody: (body) => `${body.slice(0, -1)},"prompt_filter_results":${FILTERED}}`,
    paddedBody: (body, characters) => `${body.slice(0, -1)},${padding(characters)}}`,
  };
}

function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  const list: readonly { readonly function?: { readonly name?: unknown } }[] = tools;
  return list.flatMap((tool) => (typeof tool.function?.name === "string" ? [tool.function.name] : []));
}
