// The script of one answer: knobs and at most one fault, read from `[[name=value flag …]]` in the last user message.
// The table is the grammar; README.md explains it. A script that names an unknown knob is refused, never ignored.

import { FAULTS } from "./faults.ts";
import { REFUSALS } from "./refusals.ts";

export interface Script {
  readonly fault?: string;
  readonly key?: string;
  readonly model?: string;
  readonly every?: number;
  readonly prompt?: number;
  readonly output?: number;
  readonly cached?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
  readonly prompt_cache?: number;
  readonly reasoning?: number;
  readonly think?: number;
  readonly organization?: string;
  readonly audio_in?: number;
  readonly audio_out?: number;
  readonly image_in?: number;
  readonly searches?: number;
  readonly executions?: number;
  readonly answered?: string;
  readonly seconds?: number;
  readonly billed?: "tokens" | "duration";
  readonly shape?: Shape;
  readonly utf8?: number;
  readonly tool?: number;
  readonly rounds?: number;
  readonly signed?: number;
  readonly arguments?: string;
  readonly words?: number;
  readonly call_ids?: "kimi";
  readonly tool_form?: ToolForm;
  readonly finish?: string;
  readonly tier?: string;
  readonly usage?: UsageForm;
  readonly head_ms?: number;
  readonly first_ms?: number;
  readonly chunk_ms?: number;
  readonly pings?: number;
  readonly gzip?: number;
  readonly after?: number;
  readonly how?: "rst" | "fin" | "clean";
  readonly bytes?: number;
  readonly events?: number;
  readonly kb?: number;
  readonly retry?: string;
  readonly retry_ms?: string;
}

const TOOL_FORMS = ["fragments", "whole", "repeat_id", "no_index", "zero_index", "interleaved"] as const;
export type ToolForm = (typeof TOOL_FORMS)[number];

const SHAPES = ["openai", "cohere", "jina", "voyage"] as const;
/** Whose way of answering, where an endpoint has several. */
export type Shape = (typeof SHAPES)[number];

const USAGE_FORMS = [
  "asked",
  "none",
  "zero",
  "last_chunk",
  "last_content",
  "cumulative",
  "duplicate",
  "output_only",
  "always",
  "null_details",
  "garbage",
  "deepseek",
  "moonshot",
  "beside",
  "iterations",
] as const;
export type UsageForm = (typeof USAGE_FORMS)[number];

interface Knob {
  /** A count is a whole number, 1 when written as a bare flag; a word is free text or one of a list. */
  readonly kind: "count" | "text" | readonly string[];
  readonly description: string;
}

export const KNOBS: { readonly [K in keyof Script]-?: Knob } = {
  fault: { kind: "text", description: "one name of the fault or refusal tables, or none" },
  key: { kind: "text", description: "this marker only counts for secrets that end so" },
  model: { kind: "text", description: "this marker only counts for this model" },
  every: { kind: "count", description: "this marker only counts for each N-th call of a key" },
  prompt: { kind: "count", description: "prompt tokens, instead of counting" },
  output: { kind: "count", description: "completion tokens of each choice, reasoning and audio inside" },
  cached: { kind: "count", description: "cached tokens, inside prompt" },
  cache_write: { kind: "count", description: "cache write tokens, inside prompt" },
  cache_write_1h: { kind: "count", description: "those of them that are kept for an hour" },
  prompt_cache: {
    kind: "count",
    description:
      "cached tokens are those of the turns that this key has read before, in messages of marked ones",
  },
  reasoning: { kind: "count", description: "reasoning tokens of the first choice" },
  think: { kind: "count", description: "also send the reasoning as text" },
  organization: {
    kind: "text",
    description: "whose key it is: reasoning is encrypted for it, and no other reads it",
  },
  audio_in: { kind: "count", description: "audio tokens, inside prompt" },
  audio_out: { kind: "count", description: "audio tokens of the first choice" },
  image_in: { kind: "count", description: "image tokens, inside prompt" },
  searches: { kind: "count", description: "searches of the web made for the answer" },
  executions: { kind: "count", description: "calls of the provider's code interpreter made for the answer" },
  answered: { kind: "text", description: "the model that the answer names" },
  seconds: { kind: "count", description: "length of a sound, instead of measuring" },
  billed: { kind: ["tokens", "duration"], description: "what a transcript's usage counts" },
  shape: { kind: SHAPES, description: "whose form of a list of ranks or of vectors" },
  utf8: { kind: "count", description: "answer in words of two to four bytes a character" },
  tool: { kind: "count", description: "answer with N tool calls, when tools are given" },
  signed: { kind: "count", description: "chat: tool calls are signed, and their signatures demanded back" },
  rounds: { kind: "count", description: "answer so many times in a row with tool calls" },
  arguments: { kind: "text", description: "the arguments of a tool call: JSON without blanks" },
  words: { kind: "count", description: "words that an answer with tool calls begins with" },
  call_ids: {
    kind: ["kimi"],
    description: "the ids of tool calls as a vendor writes them; messages has its own",
  },
  tool_form: { kind: TOOL_FORMS, description: "how streamed tool calls are cut up" },
  finish: { kind: "text", description: "the finish reason, whatever happened" },
  tier: { kind: "text", description: "service tier of the answer" },
  usage: { kind: USAGE_FORMS, description: "how usage is reported" },
  head_ms: { kind: "count", description: "wait before the head" },
  first_ms: { kind: "count", description: "wait between the head and the first event or the body" },
  chunk_ms: { kind: "count", description: "wait before each further event" },
  pings: { kind: "count", description: "keep-alives, one after each of the first N events" },
  gzip: { kind: "count", description: "the body is compressed, asked or not" },
  after: { kind: "count", description: "events before the fault" },
  how: { kind: ["rst", "fin", "clean"], description: "how the connection is cut" },
  bytes: { kind: "count", description: "size of a write" },
  events: { kind: "count", description: "events in a write; comments; pieces" },
  kb: { kind: "count", description: "size of a huge line, of an image, of a sound" },
  retry: { kind: "text", description: "retry-after of a refusal: a number, date, past, or any text" },
  retry_ms: { kind: "text", description: "retry-after-ms of a refusal" },
};

/** A mistake in a script. The provider answers it with a 400 so that it shows in the test that made it. */
export class ScriptMistake extends Error {}

const MARKER = /\[\[([^\]]*)\]\]/g;

/** Returns the markers of a text, in order, and the text without them. */
export function readMarkers(text: string): { readonly scripts: readonly Script[]; readonly said: string } {
  if (!text.includes("[[")) return { scripts: [], said: text };
  const scripts = Array.from(text.matchAll(MARKER), (match) => parseScript(match[1]!));
  return { scripts, said: text.replace(MARKER, "").trim() };
}

export function parseScript(text: string): Script {
  const script: Record<string, string | number> = {};
  for (const word of text.split(/\s+/)) {
    if (word === "") continue;
    const equals = word.indexOf("=");
    const name = equals < 0 ? word : word.slice(0, equals);
    if (!isKnob(name)) throw new ScriptMistake(`Script: no knob '${name}'`);
    script[name] = readValue(name, equals < 0 ? "1" : word.slice(equals + 1));
  }
  const { fault } = script;
  if (fault !== undefined && fault !== "none" && !(fault in FAULTS) && !(fault in REFUSALS)) {
    throw new ScriptMistake(`Script: no fault '${fault}'`);
  }
  return script;
}

/** Whether the marker's conditions hold for this call; `nth` counts the calls of the key from 1. */
export function applies(script: Script, call: { secret: string; model: string; nth: number }): boolean {
  return (
    (script.key === undefined || call.secret.endsWith(script.key)) &&
    (script.model === undefined || call.model === script.model) &&
    (script.every === undefined || call.nth % script.every === 0)
  );
}

const isKnob = (name: string): name is keyof Script => Object.hasOwn(KNOBS, name);

function readValue(name: keyof Script, value: string): string | number {
  const { kind } = KNOBS[name];
  if (kind === "text") return value;
  if (kind === "count") {
    if (!/^\d{1,9}$/.test(value))
      throw new ScriptMistake(`Script: ${name} takes a whole number, not '${value}'`);
    return Number(value);
  }
  if (!kind.includes(value)) throw new ScriptMistake(`Script: ${name} is one of ${kind.join(", ")}`);
  return value;
}
