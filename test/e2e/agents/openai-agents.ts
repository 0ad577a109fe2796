// The OpenAI Agents SDK: its own loop, over responses (its default) and over chat completions.

import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import {
  DESCRIPTION,
  inProcessClient,
  type LoopClient,
  type LoopReport,
  type LoopRequest,
  PARAMETERS,
  REQUESTS_MAX,
  repeat,
  type Speaks,
  TOOL,
} from "./loop.ts";

async function loop(request: LoopRequest, useResponses: boolean): Promise<LoopReport> {
  const openAIClient = new OpenAI({ apiKey: request.key, baseURL: `${request.url}/v1` });
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const calls: string[] = [];
  const repeating = tool({
    name: TOOL,
    description: DESCRIPTION,
    parameters: { ...PARAMETERS, required: ["text"] },
    strict: true,
    execute: async (input) => {
      const { text } = input as { text: string };
      calls.push(text);
      return repeat(text);
    },
  });
  const agent = new Agent({
    name: "repeater",
    instructions: "Be brief.",
    model: request.model,
    tools: [repeating],
  });
  const options = { maxTurns: REQUESTS_MAX };
  const reportOf = (text: string | undefined, usage: { inputTokens: number; outputTokens: number }) => ({
    text: text ?? "",
    calls,
    tokens: [usage.inputTokens, usage.outputTokens] as const,
  });
  if (!request.stream) {
    const { finalOutput, state } = await runner.run(agent, request.said, options);
    return reportOf(finalOutput, state.usage);
  }
  const run = await runner.run(agent, request.said, { ...options, stream: true });
  for await (const _ of run.toStream());
  await run.completed;
  return reportOf(run.finalOutput, run.state.usage);
}

const client = (name: string, speaks: Speaks): LoopClient =>
  inProcessClient(name, speaks, (request) => loop(request, speaks === "responses"));

export const AGENTS_SDK = [client("agents", "responses"), client("agents, chat", "chat")];
