// The official `@anthropic-ai/sdk`: every scenario of its style.

import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk";
import type {
  ContentBlockParam,
  Message,
  MessageCreateParamsNonStreaming,
  Usage,
} from "@anthropic-ai/sdk/resources";
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

async function shown(failing: Promise<InstanceType<typeof Anthropic.APIError>>) {
  const thrown = await failing;
  const { status, error, requestID } = thrown;
  const { type, code } = (error as { error?: { type?: string; code?: string } })?.error ?? {};
  return { class: thrown.constructor.name, status, type, code, request_id: requestID };
}

const trouble = (run: Run, stream: boolean) =>
  shown(thrownBy(clientOf(run).messages.create({ ...asking(run), max_tokens: 5, stream })));

export const anthropic: Script = {
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

  async left_amid_stream(run) {
    const stream = await clientOf(run).messages.create({ ...asking(run), stream: true });
    let words = 0;
    for await (const event of stream) {
      if (event.type === "content_block_delta") words++;
      if (words === 5) break;
    }
    return { words };
  },

  timed_out: (run) => shown(thrownBy(clientOf(run, { timeout: 2_000 }).messages.create(asking(run)))),

  async cancelled(run) {
    const signal = AbortSignal.timeout(2_000);
    const error = await thrownBy(clientOf(run).messages.create(asking(run), { signal }));
    return { cancelled: error instanceof Anthropic.APIUserAbortError };
  },

  async broken_stream(run) {
    const stream = clientOf(run).messages.stream(asking(run));
    let words = 0;
    stream.on("text", () => {
      words++;
    });
    const error = await thrownBy(stream.done());
    return { words, is_api_error: error instanceof Anthropic.APIError, told: error.error?.error?.type };
  },

  trouble: (run) => trouble(run, false),
  trouble_streamed: (run) => trouble(run, true),

  async retried(run) {
    const { fetch, statuses } = watched();
    const answer = await clientOf(run, { fetch, maxRetries: 1 }).messages.create(asking(run));
    return { text: textOf(answer), statuses };
  },

  async not_retried(run) {
    const { fetch, statuses } = watched();
    const client = clientOf(run, { fetch, maxRetries: 2 });
    const { error, headers } = await thrownBy(client.messages.create(asking(run)));
    return { code: error.error.code, should_retry: headers.get("x-should-retry"), statuses };
  },

  async answer_lost(run) {
    const { fetch, statuses } = watched(1);
    const client = clientOf(run, { fetch, maxRetries: 1 });
    const headers = { "Idempotency-Key": "order-1" };
    return { text: textOf(await client.messages.create(asking(run), { headers })), statuses };
  },

  async answer_lost_without_key(run) {
    const { fetch, statuses } = watched(1);
    const client = clientOf(run, { fetch, maxRetries: 1 });
    return { text: textOf(await client.messages.create(asking(run))), statuses };
  },

  async models(run) {
    const { models } = clientOf(run);
    const ids = (await Array.fromAsync(models.list({ limit: 40 }))).map(({ id }) => id);
    const { id } = await models.retrieve(run.model);
    const error = await thrownBy(models.retrieve("unpriced-model"));
    return {
      listed: ids.includes(run.model) && ids.length === new Set(ids).size,
      found: id,
      class: error.constructor.name,
      missing: error.error.error.code,
    };
  },

  async count_tokens(run) {
    const { max_tokens: _, ...request } = asking(run);
    return { tokens: (await clientOf(run).messages.countTokens(request)).input_tokens };
  },
};
