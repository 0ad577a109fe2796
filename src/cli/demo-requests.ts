// The demo's requests, as a client writes them: one whole and one streamed with the official SDK of each API
// style, one to a provider of the other style, and one for embeddings. Each prints its answer as it arrives,
// and returns what is checked against the ledger.

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { CHAT_MODEL, EMBEDDINGS_MODEL, MESSAGES_MODEL } from "./demo-accounts.ts";

/** What a client knows about an answered request. */
export interface DemoAnswer {
  /** The response's `x-request-id`. */
  readonly request: string;
  readonly attempts: number;
  /**
   * The header `x-arbor-cost`, in US dollars; null for a stream, whose headers are sent before its cost is
   * known.
   */
  readonly cost: string | null;
}

const answered = ({ headers }: Response): DemoAnswer => ({
  request: headers.get("x-request-id") ?? "",
  attempts: Number(headers.get("x-arbor-attempts")),
  cost: headers.get("x-arbor-cost"),
});

/** Prints the label of a line; the answer follows. */
const label = (text: string): void => void process.stdout.write(text.padEnd(20));

/** Prints the usage, and the cost and attempts from the response headers. */
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

/** Creates a client of the chat style. */
export const chatClient = (url: string, apiKey: string) => new OpenAI({ apiKey, baseURL: `${url}/v1` });

/** Sends a chat request and prints the whole answer. */
export const chatWhole = (client: OpenAI, said: string): Promise<DemoAnswer> =>
  chatOf(client, said, "chat, whole", CHAT_MODEL.model);

/** Sends a chat request for a model whose provider has the messages style; the client code is the same. */
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

/** Sends a chat request and prints its stream. */
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

/** Requests embeddings and prints their dimensions. */
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

/** Creates a client of the messages style. */
export const messagesClient = (url: string, apiKey: string) => new Anthropic({ apiKey, baseURL: url });

const message = (said: string) => ({
  model: MESSAGES_MODEL.model,
  max_tokens: 100,
  messages: [{ role: "user" as const, content: said }],
});

const tokens = ({ input_tokens, output_tokens }: Anthropic.Usage) => ({ input_tokens, output_tokens });

/** Sends a messages request and prints the whole answer. */
export async function messagesWhole(client: Anthropic, said: string): Promise<DemoAnswer> {
  label("messages, whole");
  const { data, response } = await client.messages.create(message(said)).withResponse();
  const found = answered(response);
  console.log(data.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  figures(tokens(data.usage), found);
  return found;
}

/** Sends a messages request and prints its stream. */
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
