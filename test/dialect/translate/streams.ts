// What the tests of translated streams share: events of both dialects, feeding a machine with them however they are split,
// and reading what it gives.

import { BytePiece } from "../../../src/base/byte-piece.ts";
import type { StreamMachine } from "../../../src/dialect/dialect.ts";
import type { AnswerContext } from "../../../src/dialect/translate/translation.ts";
import { StreamPipeline } from "../../../src/gateway/attempt/stream-pipeline.ts";
import type { StreamPart } from "../../../src/gateway/call.ts";
import type { ProviderEnd } from "../../../src/gateway/codec/provider-answer.ts";
import { bytesOfParts } from "../../gateway/attempt/stream-parts.ts";

export type Row = Record<string, unknown>;

export const CONTEXT: AnswerContext = {
  id: "A1",
  model: "asked-for",
  repeatedFields: {},
  provider: "anthropic",
  readsReasoning: true,
  toolNames: new Map([["short", "the_name_as_the_client_wrote_it"]]),
  now: 1_700_000_000_999,
  promptTokens: 77,
};

/** The wire of a chat stream; a string is sent as it is. */
export const chatWire = (...chunks: readonly (object | string)[]): string =>
  chunks.map((one) => (typeof one === "string" ? one : `data: ${JSON.stringify(one)}\n\n`)).join("");

export const DONE = "data: [DONE]\n\n";
export const chunk = (delta: unknown, choice: object = {}, beside: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...beside,
});
export const role = () => chunk({ role: "assistant", content: "" });
export const text = (content: string) => chunk({ content });
export const thought = (reasoning_content: string) => chunk({ reasoning_content });
export const call = (fragment: Row) => chunk({ tool_calls: [fragment] });
export const finish = (finish_reason: unknown, beside: object = {}) => chunk({}, { finish_reason }, beside);
export const usage = (figures: object) => ({ id: "c", choices: [], usage: figures });
export const COUNTED = usage({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 });

/** The wire of a messages stream. */
export const messagesWire = (...events: readonly (Row | string)[]): string =>
  events
    .map((one) => (typeof one === "string" ? one : `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`))
    .join("");

export const START = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    usage: { input_tokens: 9, output_tokens: 1 },
  },
};
export const block = (index: number, content_block: Row) => ({
  type: "content_block_start",
  index,
  content_block,
});
export const delta = (index: number, given: Row) => ({ type: "content_block_delta", index, delta: given });
export const stop = (index: number) => ({ type: "content_block_stop", index });
export const ended = (stop_reason: unknown, figures: Row | null = { output_tokens: 4 }) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  ...(figures === null ? {} : { usage: figures }),
});
export const STOP = { type: "message_stop" };
export const textBlock = (index: number, ...pieces: readonly string[]) => [
  block(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stop(index),
];
export const thinkingBlock = (index: number, ...pieces: readonly string[]) => [
  block(index, { type: "thinking", thinking: "", signature: "" }),
  ...pieces.map((piece) => delta(index, { type: "thinking_delta", thinking: piece })),
  delta(index, { type: "signature_delta", signature: "signed" }),
  stop(index),
];
export const callBlock = (index: number, id: string, name: string, ...pieces: readonly string[]) => [
  block(index, { type: "tool_use", id, name, input: {} }),
  ...pieces.map((piece) => delta(index, { type: "input_json_delta", partial_json: piece })),
  stop(index),
];

export interface Ran {
  readonly machine: StreamMachine;
  /** All bytes that the client gets, those that close the stream included. */
  readonly out: string;
  /** The same without those that wait for the charge. */
  readonly early: string;
  readonly content: boolean;
  /** Null where the connection ended without a closing event or an error. */
  readonly end: ProviderEnd | null;
  readonly complete: boolean;
}

/** Feeds a machine as the gateway does. `chunks`: the wire as it arrives; the connection then ends in order. */
export function feed(machine: StreamMachine, chunks: readonly Uint8Array[]): Ran {
  const stepper = new StreamPipeline(machine, { scrub: (given) => given });
  const sent: StreamPart[] = [];
  let content = false;
  let end: ProviderEnd | null = null;
  for (const part of [...chunks, null]) {
    const steps = part === null ? stepper.finish() : stepper.read(BytePiece.of(part));
    sent.push(...steps.parts);
    content ||= steps.content;
    end = steps.end;
    if (end !== null) break;
  }
  const complete = machine.outcome(true) === "complete";
  const early = bytesOfParts(sent).toString();
  if (complete && end?.kind === "done") sent.push(end.bytes);
  else if (complete && end === null) sent.push(machine.closing?.() ?? new Uint8Array());
  return { machine, out: bytesOfParts(sent).toString(), early, content, end, complete };
}

export const run = (machine: StreamMachine, wire: string): Ran => feed(machine, [Buffer.from(wire)]);

/** The JSON of every event with data; `[DONE]` and comments left out. */
export const eventsOf = (out: string): Row[] =>
  out.split("\n\n").flatMap((frame) => {
    const line = frame.split("\n").find((one) => one.startsWith("data: "));
    return line === undefined || line === "data: [DONE]" ? [] : [JSON.parse(line.slice(6)) as Row];
  });
