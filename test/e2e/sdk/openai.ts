// The official `openai` SDK: every scenario of its style.

import OpenAI, { type ClientOptions } from "openai";
import type { ChatCompletion, ChatCompletionMessageParam, CompletionUsage } from "openai/resources";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { conductOf } from "./conduct.ts";
import { openaiEndpoints } from "./openai-endpoints.ts";
import { PARAMETERS, PICTURE, RESULTS, type Run, type Script, sum, TOOLS } from "./script.ts";

export const clientOf = ({ url, key }: Run, options: ClientOptions = {}) =>
  new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0, ...options });

type Request = ChatCompletionCreateParamsNonStreaming;

const asking = ({ model, said }: Run): Request => ({
  model,
  max_tokens: 1_000,
  messages: said === null ? [] : [{ role: "user", content: said }],
});

const tools = TOOLS.map((name) => ({
  type: "function" as const,
  function: { name, parameters: { ...PARAMETERS } },
}));

type Ask = (run: Run, request: Request) => PromiseLike<ChatCompletion>;

const create = (run: Run, request: Request) => clientOf(run).chat.completions.create(request);

/** The completion that the SDK puts together from a stream; of thoughts, which it does not know, it keeps the last piece. */
async function streamed(run: Run, request: Request): Promise<ChatCompletion> {
  const asked = { ...request, stream: true, stream_options: { include_usage: true } } as const;
  const stream = clientOf(run).chat.completions.stream(asked);
  let thoughts = "";
  stream.on("chunk", ({ choices }) => {
    thoughts += (choices[0]?.delta as Thoughtful | undefined)?.reasoning_content ?? "";
  });
  const answer = await stream.finalChatCompletion();
  if (thoughts !== "") Object.assign(answer.choices[0]!.message, { reasoning_content: thoughts });
  return answer;
}

interface Thoughtful {
  readonly reasoning_content?: string | null;
}

const tokensOf = (usage: CompletionUsage | undefined) => [usage!.prompt_tokens, usage!.completion_tokens];
const textOf = (answer: ChatCompletion) => answer.choices[0]!.message.content;

/** A loop with calls and their results, asked in either way. */
async function loop(run: Run, ask: Ask) {
  const request = { ...asking(run), tools };
  const first = await ask(run, request);
  const { message, finish_reason } = first.choices[0]!;
  const calls = message.tool_calls!.filter((call) => call.type === "function");
  const results = calls.map(
    ({ id }, i): ChatCompletionMessageParam => ({ role: "tool", tool_call_id: id, content: RESULTS[i]! }),
  );
  const last = await ask(run, { ...request, messages: [...request.messages, message, ...results] });
  return {
    finish: finish_reason,
    calls: calls.map(({ function: { name, arguments: input } }) => [name, JSON.parse(input)]),
    text: textOf(last),
    tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]),
  };
}

const thoughtsOf = ({ choices }: ChatCompletion) => (choices[0]!.message as Thoughtful).reasoning_content;

async function thinking(run: Run, ask: Ask) {
  const request: Request = { ...asking(run), max_tokens: 3_000, reasoning_effort: "low" };
  const first = await ask(run, request);
  const messages: ChatCompletionMessageParam[] = [
    ...request.messages,
    first.choices[0]!.message,
    { role: "user", content: "and on [[output=2]]" },
  ];
  const last = await ask(run, { ...request, messages });
  return {
    thoughts: thoughtsOf(first),
    text: textOf(first),
    again: textOf(last),
    tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]),
  };
}

const conduct = conductOf<InstanceType<typeof OpenAI.APIError>>({
  apiError: OpenAI.APIError,
  abortError: OpenAI.APIUserAbortError,
  async ask(run, { maxTokens = 1_000, stream = false, signal, headers = {}, ...options } = {}) {
    const request = { ...asking(run), max_tokens: maxTokens, stream };
    const answer = await clientOf(run, options).chat.completions.create(request, { signal, headers });
    return "choices" in answer ? textOf(answer) : null;
  },
  async *words(run) {
    const stream = await clientOf(run).chat.completions.create({ ...asking(run), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) yield chunk;
  },
  shown: (error) => ({
    class: error.constructor.name,
    status: error.status,
    type: error.type,
    code: error.code,
    request_id: error.requestID,
  }),
  models: (run) => clientOf(run).models,
});

export const openai: Script = {
  ...openaiEndpoints,
  ...conduct,

  async whole(run) {
    const answer = await create(run, asking(run));
    return {
      text: textOf(answer),
      tokens: tokensOf(answer.usage),
      cached: answer.usage?.prompt_tokens_details?.cached_tokens,
      request_id: answer._request_id,
    };
  },

  async streamed(run) {
    const { data, request_id } = await clientOf(run)
      .chat.completions.create({ ...asking(run), stream: true, stream_options: { include_usage: true } })
      .withResponse();
    let text = "";
    let usage: CompletionUsage | undefined;
    for await (const chunk of data) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    const cached = usage?.prompt_tokens_details?.cached_tokens;
    return { text, tokens: tokensOf(usage), cached, request_id };
  },

  async streamed_without_usage(run) {
    const stream = await clientOf(run).chat.completions.create({ ...asking(run), stream: true });
    let text = "";
    let hasUsage = false;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      hasUsage ||= chunk.usage != null;
    }
    return { text, has_usage: hasUsage };
  },

  tools: (run) => loop(run, create),
  tools_streamed: (run) => loop(run, streamed),
  thinking: (run) => thinking(run, create),
  thinking_streamed: (run) => thinking(run, streamed),

  async structured(run) {
    const answer = await create(run, {
      ...asking(run),
      response_format: {
        type: "json_schema",
        json_schema: { name: "place", strict: true, schema: { ...PARAMETERS } },
      },
    });
    return { value: JSON.parse(textOf(answer)!), tokens: tokensOf(answer.usage) };
  },

  async image(run) {
    const url = `data:image/png;base64,${PICTURE}`;
    const content = [
      { type: "text" as const, text: run.said! },
      { type: "image_url" as const, image_url: { url } },
    ];
    const answer = await create(run, { ...asking(run), messages: [{ role: "user", content }] });
    return { text: textOf(answer), tokens: tokensOf(answer.usage) };
  },
};
