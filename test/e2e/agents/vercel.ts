// Vercel's AI SDK: its own loop, over each of the three paths, with the options that docs/agents/vercel.ts shows.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  streamText,
  tool,
} from "ai";
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

/** The `providerOptions` of the page's file, whose names have no quotes. */
function pageOptions(): { readonly openai: { readonly store: boolean } } {
  const page = readFileSync(join(import.meta.dir, "../../../docs/agents/vercel.ts"), "utf8");
  const [, options] = /providerOptions: (\{.+\}),\n/.exec(page)!;
  return JSON.parse(options!.replace(/(\w+):/g, '"$1":'));
}

const PROVIDER_OPTIONS = pageOptions();

const MODELS: Readonly<Record<Speaks, (request: LoopRequest) => LanguageModel>> = {
  responses: ({ url, key, model }) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` })(model),
  chat: ({ url, key, model }) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` }).chat(model),
  messages: ({ url, key, model }) => createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(model),
};

async function loop(request: LoopRequest, speaks: Speaks): Promise<LoopReport> {
  const calls: string[] = [];
  const repeating = tool({
    description: DESCRIPTION,
    inputSchema: jsonSchema<{ text: string }>({ ...PARAMETERS, required: ["text"] }),
    execute: async ({ text }) => {
      calls.push(text);
      return repeat(text);
    },
  });
  const asked = {
    model: MODELS[speaks](request),
    prompt: request.said,
    maxOutputTokens: 1_000,
    providerOptions: PROVIDER_OPTIONS,
    tools: { [TOOL]: repeating },
    stopWhen: isStepCount(REQUESTS_MAX),
  };
  const reportOf = (text: string, { inputTokens, outputTokens }: LanguageModelUsage): LoopReport => ({
    text,
    calls,
    tokens: [inputTokens!, outputTokens!],
  });
  if (!request.stream) {
    const { text, usage } = await generateText(asked);
    return reportOf(text, usage);
  }
  const stream = streamText({ ...asked, onError: () => {} });
  return reportOf(await stream.text, await stream.usage);
}

const client = (name: string, speaks: Speaks) =>
  inProcessClient(name, speaks, (request) => loop(request, speaks));

export const VERCEL = [
  client("vercel", "responses"),
  client("vercel, chat", "chat"),
  client("vercel, messages", "messages"),
];
