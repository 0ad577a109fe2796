// The official `openai` SDK: every scenario of its style.

import OpenAI, { type ClientOptions } from "openai";
import type { ChatCompletion, ChatCompletionMessageParam, CompletionUsage } from "openai/resources";
import type { ChatCompletionCreateParamsNonStreaming } from "openai/resources/chat/completions";
import { openaiEndpoints } from "./openai-endpoints.ts";
import {
  PARAMETERS,
  PICTURE,
  RESULTS,
  type Run,
  type Script,
  sum,
  TOOLS,
  thrownBy,
  watched,
} from "./script.ts";

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

async function shown(error: Promise<InstanceType<typeof OpenAI.APIError>>) {
  const thrown = await error;
  const { status, type, code, requestID } = thrown;
  return { class: thrown.constructor.name, status, type, code, request_id: requestID };
}

const trouble = (run: Run, stream: boolean) =>
  shown(thrownBy(clientOf(run).chat.completions.create({ ...asking(run), max_tokens: 5, stream })));

export const openai: Script = {
  ...openaiEndpoints,

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
    let told = false;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      told ||= chunk.usage != null;
    }
    return { text, told };
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

  async left_amid_stream(run) {
    const stream = await clientOf(run).chat.completions.create({ ...asking(run), stream: true });
    let words = 0;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) words++;
      if (words === 5) break;
    }
    return { words };
  },

  timed_out: async (run) =>
    shown(thrownBy(clientOf(run, { timeout: 2_000 }).chat.completions.create(asking(run)))),

  async cancelled(run) {
    const signal = AbortSignal.timeout(2_000);
    const error = await thrownBy(clientOf(run).chat.completions.create(asking(run), { signal }));
    return { cancelled: error instanceof OpenAI.APIUserAbortError };
  },

  async broken_stream(run) {
    const stream = await clientOf(run).chat.completions.create({ ...asking(run), stream: true });
    let words = 0;
    const reading = (async () => {
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) words++;
    })();
    const error = await thrownBy(reading);
    return { words, is_api_error: error instanceof OpenAI.APIError, told: error.type };
  },

  trouble: (run) => trouble(run, false),
  trouble_streamed: (run) => trouble(run, true),

  async retried(run) {
    const { fetch, statuses } = watched();
    const answer = await clientOf(run, { fetch, maxRetries: 1 }).chat.completions.create(asking(run));
    return { text: textOf(answer), statuses };
  },

  async not_retried(run) {
    const { fetch, statuses } = watched();
    const client = clientOf(run, { fetch, maxRetries: 2 });
    const { code, headers } = await thrownBy(client.chat.completions.create(asking(run)));
    return { code, should_retry: headers.get("x-should-retry"), statuses };
  },

  async answer_lost(run) {
    const { fetch, statuses } = watched(1);
    const client = clientOf(run, { fetch, maxRetries: 1 });
    const headers = { "Idempotency-Key": "order-1" };
    return { text: textOf(await client.chat.completions.create(asking(run), { headers })), statuses };
  },

  async answer_lost_without_key(run) {
    const { fetch, statuses } = watched(1);
    const client = clientOf(run, { fetch, maxRetries: 1 });
    return { text: textOf(await client.chat.completions.create(asking(run))), statuses };
  },

  async models(run) {
    const { models } = clientOf(run);
    const ids = (await Array.fromAsync(await models.list())).map(({ id }) => id);
    const { id } = await models.retrieve(run.model);
    const error = await thrownBy(models.retrieve("unpriced-model"));
    return { listed: ids.includes(run.model), found: id, class: error.constructor.name, missing: error.code };
  },
};
