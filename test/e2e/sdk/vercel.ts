// Vercel's AI SDK, through its providers of either style: the scenarios that its users meet.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  APICallError,
  embedMany,
  generateImage,
  generateSpeech,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  StreamProviderError,
  streamText,
  tool,
  transcribe,
} from "ai";
import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import { wavFile } from "../../provider/asking.ts";
import { PARAMETERS, PICTURE, RESULTS, type Run, type Script, sum, TOOLS, thrownBy } from "./script.ts";

const openaiOf = ({ url, key }: Run) => createOpenAI({ apiKey: key, baseURL: `${url}/v1` });

const MODELS: Readonly<Record<ApiStyle, (run: Run) => LanguageModel>> = {
  chat: (run) => openaiOf(run).chat(run.model),
  messages: ({ url, key, model }) => createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(model),
};

const SCHEMA = jsonSchema<{ text: string }>({ ...PARAMETERS, required: ["text"] });

/** Its own loop calls them. */
const tools = Object.fromEntries(
  TOOLS.map((name, i) => [name, tool({ inputSchema: SCHEMA, execute: async () => RESULTS[i] })]),
);

const THINKING = { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } };

const tokensOf = ({ inputTokens, outputTokens }: LanguageModelUsage) => [inputTokens!, outputTokens!];

const shown = (error: unknown) => {
  if (!APICallError.isInstance(error)) throw error;
  const { type, code } = JSON.parse(error.responseBody!).error;
  return { class: error.name, status: error.statusCode, type, code };
};

const never = { maxRetries: 0, onError: () => {} };

/** Everything of the language models of either style. */
function talking(style: ApiStyle): Script {
  const asking = (run: Run) => ({
    model: MODELS[style](run),
    maxOutputTokens: 1_000,
    messages: [{ role: "user", content: run.said! }] as ModelMessage[],
    maxRetries: 0,
  });
  return {
    async whole(run) {
      const { text, usage } = await generateText(asking(run));
      return { text, tokens: tokensOf(usage), cached: usage.inputTokenDetails.cacheReadTokens };
    },

    async streamed(run) {
      const stream = streamText({ ...asking(run), ...never });
      let text = "";
      for await (const piece of stream.textStream) text += piece;
      const usage = await stream.usage;
      return { text, tokens: tokensOf(usage), cached: usage.inputTokenDetails.cacheReadTokens };
    },

    async tools(run) {
      const { text, steps, usage } = await generateText({ ...asking(run), tools, stopWhen: isStepCount(3) });
      const [first] = steps;
      return {
        finish: first!.rawFinishReason,
        calls: first!.toolCalls.map(({ toolName, input }) => [toolName, input]),
        text,
        tokens: tokensOf(usage),
      };
    },

    async tools_streamed(run) {
      const stream = streamText({ ...asking(run), ...never, tools, stopWhen: isStepCount(3) });
      const [first] = await stream.steps;
      return {
        finish: first!.rawFinishReason,
        calls: first!.toolCalls.map(({ toolName, input }) => [toolName, input]),
        text: await stream.text,
        tokens: tokensOf(await stream.usage),
      };
    },

    async thinking(run) {
      const request = { ...asking(run), maxOutputTokens: 3_000, providerOptions: THINKING };
      const first = await generateText(request);
      const next: ModelMessage = { role: "user", content: "and on [[output=2]]" };
      const messages = [...request.messages, ...first.responseMessages, next];
      const last = await generateText({ ...request, messages });
      return {
        thoughts: first.reasoningText,
        text: first.text,
        again: last.text,
        tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]),
      };
    },

    async thinking_streamed(run) {
      const request = { ...asking(run), maxOutputTokens: 3_000, providerOptions: THINKING };
      const first = streamText({ ...request, ...never });
      const next: ModelMessage = { role: "user", content: "and on [[output=2]]" };
      const messages = [...request.messages, ...(await first.responseMessages), next];
      const last = streamText({ ...request, ...never, messages });
      return {
        thoughts: await first.reasoningText,
        text: await first.text,
        again: await last.text,
        tokens: sum([tokensOf(await first.usage), tokensOf(await last.usage)]),
      };
    },

    async structured(run) {
      const { output, usage } = await generateText({
        ...asking(run),
        output: Output.object({ schema: SCHEMA }),
      });
      return { value: output, tokens: tokensOf(usage) };
    },

    async image(run) {
      const picture = { type: "file" as const, mediaType: "image/png", data: PICTURE };
      const messages: ModelMessage[] = [
        { role: "user", content: [{ type: "text", text: run.said! }, picture] },
      ];
      const { text, usage } = await generateText({ ...asking(run), messages });
      return { text, tokens: tokensOf(usage) };
    },

    trouble: async (run) => shown(await thrownBy(generateText(asking(run)))),

    async broken_stream(run) {
      const thrown: unknown[] = [];
      const onError = ({ error }: { error: unknown }) => void thrown.push(error);
      const stream = streamText({ ...asking(run), maxRetries: 0, onError });
      let words = 0;
      for await (const piece of stream.textStream) words += piece.trim() === "" ? 0 : 1;
      const failures = thrown.filter((one) => StreamProviderError.isInstance(one));
      return { words, is_api_error: failures.length === 1, error_type: failures[0]?.type };
    },
  };
}

export const vercelMessages: Script = talking("messages");

export const vercelChat: Script = {
  ...talking("chat"),

  async responses(run) {
    const model = openaiOf(run).responses(run.model);
    const first = await generateText({ model, prompt: run.said!, maxRetries: 0 });
    const previousResponseId = first.providerMetadata!.openai!.responseId as string;
    const last = await generateText({
      model,
      prompt: "and on [[output=2]]",
      maxRetries: 0,
      providerOptions: { openai: { previousResponseId } },
    });
    return { text: first.text, again: last.text, tokens: sum([tokensOf(first.usage), tokensOf(last.usage)]) };
  },

  async responses_streamed(run) {
    const stream = streamText({ model: openaiOf(run).responses(run.model), prompt: run.said!, ...never });
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    return { text, alike: (await stream.text) === text, tokens: tokensOf(await stream.usage) };
  },

  async embeddings(run) {
    const { embeddings, usage } = await embedMany({
      model: openaiOf(run).embedding(run.model),
      values: [run.said!, "three four"],
      maxRetries: 0,
      providerOptions: { openai: { dimensions: 8 } },
    });
    return { lengths: embeddings.map(({ length }) => length), tokens: [usage.tokens, 0] };
  },

  async images(run) {
    const model = openaiOf(run).image(run.model);
    const { image, usage } = await generateImage({ model, prompt: run.said!, maxRetries: 0 });
    return { kind: kindOf(image.uint8Array), tokens: [usage.inputTokens!, usage.outputTokens!] };
  },

  async image_edit(run) {
    const picture = Buffer.from(PICTURE, "base64");
    const prompt = { text: run.said!, images: [picture, picture] };
    const { image, usage } = await generateImage({
      model: openaiOf(run).image(run.model),
      prompt,
      maxRetries: 0,
    });
    return { kind: kindOf(image.uint8Array), tokens: [usage.inputTokens!, usage.outputTokens!] };
  },

  async speech(run) {
    const model = openaiOf(run).speech(run.model);
    const { audio } = await generateSpeech({ model, text: run.said!, voice: "alloy", maxRetries: 0 });
    return { bytes: audio.uint8Array.length };
  },

  async transcription(run) {
    const model = openaiOf(run).transcription(run.model);
    const audio = await wavFile(6).bytes();
    const providerOptions = { openai: { prompt: run.said! } };
    return { text: (await transcribe({ model, audio, providerOptions, maxRetries: 0 })).text };
  },
};

const kindOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1", 1, 4);
