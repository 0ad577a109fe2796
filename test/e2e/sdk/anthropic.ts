// The official `@anthropic-ai/sdk`: every scenario of its style.

import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk";
import type {
  ContentBlockParam,
  Message,
  MessageCreateParamsNonStreaming,
  Usage,
} from "@anthropic-ai/sdk/resources";
import { conductOf } from "./conduct.ts";
import { PARAMETERS, PICTURE, RESULTS, type Run, type Script, sum, TOOLS } from "./script.ts";

const clientOf = ({ url, key }: Run, options: ClientOptions = {}) =>
  new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0, ...options });

type Request = MessageCreateParamsNonStreaming;

const asking = ({ model, said }: Run): Request => ({
  model,
  max_tokens: 1_000,
  messages: said === null ? [] : [{ role: "user", content: said }],
});

const tools = TOOLS.map((name) => ({ name, input_schema: { ...PARAMETERS, required: ["text"] } }));

type Ask = (run: Run, request: Request) => PromiseLike<Message>;

const create = (run: Run, request: Request) => clientOf(run).messages.create(request);

/** The message that the SDK puts together from a stream. */
const streamed = (run: Run, request: Request) => clientOf(run).messages.stream(request).finalMessage();

const tokensOf = (usage: Usage) => [
  usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
  usage.output_tokens,
];
const textOf = ({ content }: Message) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** A loop with calls and their results, asked in either way. */
async function loop(run: Run, ask: Ask) {
  const request = { ...asking(run), tools };
  const first = await ask(run, request);
  const calls = first.content.filter((block) => block.type === "tool_use");
  const results = calls.map(
    ({ id }, i): ContentBlockParam => ({ type: "tool_result", tool_use_id: id, content: RESULTS[i]! }),
  );
  const last = await ask(run, {
    ...request,
    messages: [
      ...request.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ],
  });
  return {
    finish: first.stop_reason,
    calls: calls.map(({ name, input }) => [name, input]),
    text: textOf(last),
    tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]),
  };
}

async function thinking(run: Run, ask: Ask) {
  const request: Request = {
    ...asking(run),
    max_tokens: 3_000,
    thinking: { type: "enabled", budget_tokens: 1_024 },
  };
  const first = await ask(run, request);
  const last = await ask(run, {
    ...request,
    messages: [
      ...request.messages,
      { role: "assistant", content: first.content },
      { role: "user", content: "and on [[output=2]]" },
    ],
  });
  return {
    thoughts: first.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    text: textOf(first),
    again: textOf(last),
    tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]),
  };
}

const conduct = conductOf<InstanceType<typeof Anthropic.APIError>>({
  apiError: Anthropic.APIError,
  abortError: Anthropic.APIUserAbortError,
  async ask(run, { maxTokens = 1_000, stream = false, signal, headers = {}, ...options } = {}) {
    const request = { ...asking(run), max_tokens: maxTokens, stream };
    const answer = await clientOf(run, options).messages.create(request, { signal, headers });
    return "content" in answer ? textOf(answer) : null;
  },
  async *words(run) {
    const stream = await clientOf(run).messages.create({ ...asking(run), stream: true });
    for await (const event of stream) if (event.type === "content_block_delta") yield event;
  },
  shown(thrown) {
    const { type, code } = (thrown.error as { error?: { type?: string; code?: string } })?.error ?? {};
    return {
      class: thrown.constructor.name,
      status: thrown.status,
      type,
      code,
      request_id: thrown.requestID,
    };
  },
  models: (run) => {
    const { models } = clientOf(run);
    return { list: () => models.list({ limit: 40 }), retrieve: (id) => models.retrieve(id) };
  },
});

export const anthropic: Script = {
  ...conduct,

  async whole(run) {
    const answer = await create(run, asking(run));
    return {
      text: textOf(answer),
      tokens: tokensOf(answer.usage),
      cached: answer.usage.cache_read_input_tokens,
      request_id: answer._request_id,
    };
  },

  async whole_by_bearer(run) {
    const client = clientOf(run, { apiKey: null, authToken: run.key });
    const answer = await client.messages.create(asking(run));
    return { text: textOf(answer), tokens: tokensOf(answer.usage) };
  },

  async streamed(run) {
    const stream = clientOf(run).messages.stream(asking(run));
    let text = "";
    stream.on("text", (piece) => {
      text += piece;
    });
    const { usage } = await stream.finalMessage();
    const cached = usage.cache_read_input_tokens;
    return { text, tokens: tokensOf(usage), cached, request_id: stream.request_id };
  },

  tools: (run) => loop(run, create),
  tools_streamed: (run) => loop(run, streamed),
  thinking: (run) => thinking(run, create),
  thinking_streamed: (run) => thinking(run, streamed),

  async structured(run) {
    const format = { type: "json_schema" as const, schema: { ...PARAMETERS } };
    const answer = await create(run, { ...asking(run), output_config: { format } });
    return { value: JSON.parse(textOf(answer)), tokens: tokensOf(answer.usage) };
  },

  async image(run) {
    const source = { type: "base64" as const, media_type: "image/png" as const, data: PICTURE };
    const content: ContentBlockParam[] = [
      { type: "text", text: run.said! },
      { type: "image", source },
    ];
    const answer = await create(run, { ...asking(run), messages: [{ role: "user", content }] });
    return { text: textOf(answer), tokens: tokensOf(answer.usage) };
  },

  async count_tokens(run) {
    const { max_tokens: _, ...request } = asking(run);
    return { tokens: (await clientOf(run).messages.countTokens(request)).input_tokens };
  },
};
