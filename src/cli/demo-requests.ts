// The demo's requests, as a client writes them: one whole and one streamed with the official SDK of each style, one to a
// provider of the other style, one for vectors. What each answered is printed as it comes, and told apart for the check
// against the ledger.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHAT_MODEL, EMBEDDINGS_MODEL, MESSAGES_MODEL } from "./demo-accounts.ts";

/** What a client knows of a request that was answered. */
export interface DemoAnswer {
  /** The response's `x-request-id`. */
  readonly request: string;
  readonly attempts: number;
  /** `x-arbor-cost`, in dollars; null for a stream, whose head comes before its cost. */
  readonly cost: string | null;
}

const answered = ({ headers }: Response): DemoAnswer => ({
  request: headers.get("x-request-id") ?? "",
  attempts: Number(headers.get("x-arbor-attempts")),
  cost: headers.get("x-arbor-cost"),
});

/** What stands at the beginning of a line; the answer follows it. */
const label = (text: string): void => void process.stdout.write(text.padEnd(20));

/** Prints what was used, and what the head said of it. */
function figures(usage: object | undefined, { cost, attempts }: DemoAnswer): void {
  label("  usage");
  console.log(JSON.stringify(usage));
  if (cost !== null) {
    label("  x-arbor-cost");
    console.log(cost);
  }
  label("  x-arbor-attempts");
  console.log(attempts);
}

/** The chat style: `new OpenAI({ apiKey, baseURL })`. */
export const chatClient = (url: string, apiKey: string) => new OpenAI({ apiKey, baseURL: `${url}/v1` });

export const chatWhole = (client: OpenAI, said: string): Promise<DemoAnswer> =>
  chatOf(client, said, "chat, whole", CHAT_MODEL.model);

/** The same client, and a model whose provider speaks the other style: nothing else changes. */
export const chatTranslated = (client: OpenAI, said: string): Promise<DemoAnswer> =>
  chatOf(client, said, "chat, translated", MESSAGES_MODEL.model);

async function chatOf(client: OpenAI, said: string, name: string, model: string): Promise<DemoAnswer> {
  label(name);
  const { data, response } = await client.chat.completions
    .create({ model, messages: [{ role: "user", content: said }] })
    .withResponse();
  const found = answered(response);
  console.log(data.choices[0]?.message.content);
  figures(data.usage, found);
  return found;
}

export async function chatStreamed(client: OpenAI, said: string): Promise<DemoAnswer> {
  label("chat, streamed");
  const { data, response } = await client.chat.completions
    .create({
      model: CHAT_MODEL.model,
      messages: [{ role: "user", content: said }],
      stream: true,
      stream_options: { include_usage: true },
    })
    .withResponse();
  let usage: object | undefined;
  for await (const chunk of data) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? "");
    usage = chunk.usage ?? usage;
  }
  const found = answered(response);
  console.log();
  figures(usage, found);
  return found;
}

export async function vectors(client: OpenAI, input: string[]): Promise<DemoAnswer> {
  label("embeddings");
  const { data, response } = await client.embeddings
    .create({ model: EMBEDDINGS_MODEL.model, input })
    .withResponse();
  const found = answered(response);
  console.log(data.data.map(({ embedding }) => `${embedding.length} numbers`).join(", "));
  figures(data.usage, found);
  return found;
}

/** The messages style: `new Anthropic({ apiKey, baseURL })`. */
export const messagesClient = (url: string, apiKey: string) => new Anthropic({ apiKey, baseURL: url });

const message = (said: string) => ({
  model: MESSAGES_MODEL.model,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: said }],
});

const tokens = ({ input_tokens, output_tokens }: Anthropic.Usage) => ({ input_tokens, output_tokens });

export async function messagesWhole(client: Anthropic, said: string): Promise<DemoAnswer> {
  label("messages, whole");
  const { data, response } = await client.messages.create(message(said)).withResponse();
  const found = answered(response);
  console.log(data.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  figures(tokens(data.usage), found);
  return found;
}

export async function messagesStreamed(client: Anthropic, said: string): Promise<DemoAnswer> {
  label("messages, streamed");
  const stream = client.messages.stream(message(said));
  stream.on("text", (text) => process.stdout.write(text));
  const { data, response } = await stream.withResponse();
  const { usage } = await data.finalMessage();
  const found = answered(response);
  console.log();
  figures(tokens(usage), found);
  return found;
}
