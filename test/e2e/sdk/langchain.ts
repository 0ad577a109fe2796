// LangChain, through its models of either style: the scenarios that its users meet.

import { ChatAnthropic } from "@langchain/anthropic";
import {
  type AIMessage,
  type AIMessageChunk,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import type { Json } from "../harness.ts";
import { PARAMETERS, PICTURE, RESULTS, type Run, type Script, sum, TOOLS, thrownBy } from "./script.ts";

const configured = ({ url, key, model }: Run) => ({
  model,
  apiKey: key,
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1` },
});

const chatModel = (run: Run, more: object = {}) =>
  new ChatOpenAI({ ...configured(run), maxTokens: 1_000, ...more });

const messagesModel = ({ url, key, model }: Run, more: object = {}) =>
  new ChatAnthropic({
    model,
    apiKey: key,
    maxRetries: 0,
    anthropicApiUrl: url,
    maxTokens: 1_000,
    ...more,
  });

type Model = ChatOpenAI | ChatAnthropic;
const MODELS: Readonly<Record<ApiStyle, (run: Run, more?: object) => Model>> = {
  chat: chatModel,
  messages: messagesModel,
};

const tools = TOOLS.map((name) => ({ name, description: `To ${name}.`, schema: { ...PARAMETERS } }));

const human = ({ said }: Run) => new HumanMessage(said!);

/** A message as its users read it: the types of the library leave usage and calls open. */
interface Said {
  readonly text: string;
  readonly content: unknown;
  readonly usage_metadata?: UsageMetadata | undefined;
  readonly tool_calls?: readonly ToolCall[] | undefined;
  readonly response_metadata: Json;
}

const figuresOf = ({ usage_metadata: usage }: Said) => [usage!.input_tokens, usage!.output_tokens];
const cachedOf = ({ usage_metadata: usage }: Said) => usage!.input_token_details?.cache_read;

/** Where each style says why an answer ended. */
const FINISHES: Readonly<Record<ApiStyle, string>> = { chat: "finish_reason", messages: "stop_reason" };

/** The message that its chunks add up to. */
async function gathered(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk);
  if (whole === null) throw new Error("the stream had no chunk");
  return whole;
}

type Ask = (
  model: Pick<Model, "invoke" | "stream">,
  messages: (HumanMessage | AIMessage | ToolMessage)[],
) => Promise<AIMessage>;
const whole: Ask = async (model, messages) => (await model.invoke(messages)) as AIMessage;
const streamed: Ask = async (model, messages) =>
  (await gathered((await model.stream(messages)) as AsyncIterable<AIMessageChunk>)) as unknown as AIMessage;

function talking(style: ApiStyle): Script {
  const modelOf = MODELS[style];

  /** The library takes the prompt's first figures in a stream of messages for the last, and adds up those of the answer. */
  const tokensOf = (ask: Ask, ...said: readonly Said[]) =>
    style === "messages" && ask === streamed ? null : sum(said.map(figuresOf));

  async function answered(run: Run, ask: Ask) {
    const answer = await ask(modelOf(run), [human(run)]);
    return { text: answer.text, tokens: tokensOf(ask, answer), cached: cachedOf(answer) };
  }

  async function loop(run: Run, ask: Ask) {
    const model = modelOf(run).bindTools(tools) as Pick<Model, "invoke" | "stream">;
    const first = await ask(model, [human(run)]);
    const calls = first.tool_calls!;
    const results = calls.map(({ id }, i) => new ToolMessage({ tool_call_id: id!, content: RESULTS[i]! }));
    const last = await ask(model, [human(run), first, ...results]);
    return {
      finish: { ...first.additional_kwargs, ...first.response_metadata }[FINISHES[style]],
      calls: calls.map(({ name, args }) => [name, args]),
      text: last.text,
      tokens: tokensOf(ask, first, last),
    };
  }

  async function thinking(run: Run, ask: Ask) {
    const model = modelOf(run, { thinking: { type: "enabled", budget_tokens: 1_024 }, maxTokens: 3_000 });
    const first = await ask(model, [human(run)]);
    const last = await ask(model, [human(run), first, new HumanMessage("and on [[output=2]]")]);
    const blocks = first.content as { type: string; thinking?: string }[];
    return {
      thoughts: blocks.map(({ thinking = "" }) => thinking).join(""),
      text: first.text,
      again: last.text,
      tokens: tokensOf(ask, first, last),
    };
  }

  return {
    whole: (run) => answered(run, whole),
    streamed: (run) => answered(run, streamed),
    tools: (run) => loop(run, whole),
    tools_streamed: (run) => loop(run, streamed),
    thinking: (run) => thinking(run, whole),
    thinking_streamed: (run) => thinking(run, streamed),

    async structured(run) {
      const schema = { title: "place", ...PARAMETERS };
      const asked = modelOf(run).withStructuredOutput(schema, { method: "jsonSchema", includeRaw: true });
      const { parsed, raw } = await asked.invoke([human(run)]);
      return { value: parsed, tokens: figuresOf(raw as AIMessage) };
    },

    async image(run) {
      const picture = { type: "image" as const, mimeType: "image/png", data: PICTURE };
      const content = [{ type: "text" as const, text: run.said! }, picture];
      const answer = await modelOf(run).invoke([new HumanMessage({ contentBlocks: content })]);
      return { text: answer.text, tokens: figuresOf(answer) };
    },

    async broken_stream(run) {
      let words = 0;
      const reading = (async () => {
        for await (const { text } of await modelOf(run).stream([human(run)]))
          words += text.trim() === "" ? 0 : 1;
      })();
      const error = await thrownBy(reading);
      return { words, is_api_error: error.constructor.name === "APIError", error_type: error.type };
    },

    async trouble(run) {
      const error = await thrownBy(modelOf(run).invoke([human(run)]));
      const { type, code } = error.error?.error ?? error.error ?? {};
      return { class: error.constructor.name, status: error.status, type, code };
    },
  };
}

export const langchainMessages: Script = talking("messages");

export const langchainChat: Script = {
  ...talking("chat"),

  async responses(run) {
    const model = new ChatOpenAI({ ...configured(run), useResponsesApi: true });
    const first = await model.invoke([human(run)]);
    const last = await model.invoke([new HumanMessage("and on [[output=2]]")], {
      previous_response_id: String(first.response_metadata.id),
    });
    return { text: first.text, again: last.text, tokens: sum([figuresOf(first), figuresOf(last)]) };
  },

  async embeddings(run) {
    const model = new OpenAIEmbeddings({ ...configured(run), dimensions: 8 });
    const vectors = await model.embedDocuments([run.said!, "three four"]);
    return { lengths: vectors.map(({ length }) => length) };
  },
};
