// The maker's own SDK over responses: the loop written out, with `responses.create` and with `responses.stream`.

import OpenAI from "openai";
import type {
  ResponseFunctionToolCall,
  ResponseInputItem,
  Response as ResponseObject,
} from "openai/resources/responses/responses";
import {
  DESCRIPTION,
  inProcessClient,
  type LoopReport,
  type LoopRequest,
  PARAMETERS,
  REQUESTS_MAX,
  repeat,
  TOOL,
} from "./loop.ts";

async function loop({ url, key, model, said, stream }: LoopRequest): Promise<LoopReport> {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
  const tools = [
    {
      type: "function" as const,
      name: TOOL,
      description: DESCRIPTION,
      parameters: { ...PARAMETERS },
      strict: true,
    },
  ];
  const input: ResponseInputItem[] = [{ role: "user", content: said }];
  const calls: string[] = [];
  const tokens: [number, number] = [0, 0];
  for (let nth = 0; nth < REQUESTS_MAX; nth++) {
    const body = { model, input, tools, store: false };
    const response: ResponseObject = stream
      ? await client.responses.stream(body).finalResponse()
      : await client.responses.create(body);
    tokens[0] += response.usage!.input_tokens;
    tokens[1] += response.usage!.output_tokens;
    const asked = response.output.filter(
      (item): item is ResponseFunctionToolCall => item.type === "function_call",
    );
    if (asked.length === 0) return { text: response.output_text, calls, tokens };
    input.push(...(response.output as ResponseInputItem[]));
    for (const { call_id, arguments: given } of asked) {
      const { text } = JSON.parse(given);
      calls.push(text);
      input.push({ type: "function_call_output", call_id, output: repeat(text) });
    }
  }
  throw new Error("the loop did not end");
}

export const OPENAI = [inProcessClient("openai", "responses", loop)];
