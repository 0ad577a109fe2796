// LangChain: its models over each of the three paths. The loop is written out, as its users do without its agents.

import { ChatAnthropic } from "@langchain/anthropic";
import {
  type AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import {
  DESCRIPTION,
  inProcessClient,
  type LoopReport,
  type LoopRequest,
  PARAMETERS,
  REQUESTS_MAX,
  repeat,
  type Speaks,
  TOOL,
} from "./loop.ts";

const openaiModel = ({ url, key, model }: LoopRequest, useResponsesApi: boolean) =>
  new ChatOpenAI({
    model,
    apiKey: key,
    useResponsesApi,
    configuration: { baseURL: `${url}/v1` },
  });

const MODELS: Readonly<Record<Speaks, (request: LoopRequest) => ChatOpenAI | ChatAnthropic>> = {
  responses: (request) => openaiModel(request, true),
  chat: (request) => openaiModel(request, false),
  messages: ({ url, key, model }) =>
    new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, maxTokens: 1_000 }),
};

/** The message that its chunks add up to. */
async function gathered(chunks: AsyncIterable<AIMessageChunk>): Promise<AIMessage> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk);
  if (whole === null) throw new Error("the stream had no chunk");
  return whole as unknown as AIMessage;
}

async function loop(request: LoopRequest, speaks: Speaks): Promise<LoopReport> {
  const tools = [{ name: TOOL, description: DESCRIPTION, schema: { ...PARAMETERS } }];
  const model = MODELS[speaks](request).bindTools!(tools);
  const messages: BaseMessage[] = [new HumanMessage(request.said)];
  const calls: string[] = [];
  const tokens: [number, number] = [0, 0];
  // The library takes the prompt's first figures in a stream of messages for the last.
  const counts = speaks !== "messages" || !request.stream;
  for (let nth = 0; nth < REQUESTS_MAX; nth++) {
    const answer = request.stream
      ? await gathered((await model.stream(messages)) as AsyncIterable<AIMessageChunk>)
      : ((await model.invoke(messages)) as AIMessage);
    const usage = answer.usage_metadata as UsageMetadata | undefined;
    tokens[0] += usage!.input_tokens;
    tokens[1] += usage!.output_tokens;
    const asked = answer.tool_calls ?? [];
    if (asked.length === 0) return { text: answer.text, calls, tokens: counts ? tokens : null };
    messages.push(answer);
    for (const { id, args } of asked) {
      calls.push(args.text);
      messages.push(new ToolMessage({ tool_call_id: id!, content: repeat(args.text) }));
    }
  }
  throw new Error("the loop did not end");
}

const client = (name: string, speaks: Speaks) =>
  inProcessClient(name, speaks, (request) => loop(request, speaks));

export const LANGCHAIN = [
  client("langchain", "responses"),
  client("langchain, chat", "chat"),
  client("langchain, messages", "messages"),
];
