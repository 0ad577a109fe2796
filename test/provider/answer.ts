// What the stand-in answers, before any dialect: words, tool calls, and the true count of both.
// Deterministic: the same request gets the same words. One word is one token here, and also one token of o200k,
// so that a gateway which counts delivered text itself comes to the same number.

import { jsonWords } from "./json-answer.ts";
import type { Script } from "./script.ts";

/** A request in common terms; each dialect translates its own into this. */
export interface Ask {
  readonly model: string;
  readonly stream: boolean;
  /** Whether a stream is to report its usage: the chat dialect does only when asked. */
  readonly usageAsked: boolean;
  /** The last user message without its markers. */
  readonly said: string;
  readonly promptTokens: number;
  readonly choices: number;
  readonly limit: number | null;
  readonly tools: readonly string[];
  readonly mustCallTool: boolean;
  /** Results of tools since the last user message. */
  readonly toolResults: number;
  /** The JSON schema that the text must follow; absent where any words will do. */
  readonly schema?: object;
}

export interface ToolCall {
  readonly id: string;
  /** Attached to the call, and required back with it. */
  readonly signature?: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Choice {
  /** Each with its leading space; joined they are the text. */
  readonly words: readonly string[];
  readonly thoughts: readonly string[];
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string;
}

/** Totals with their parts inside them, whatever a dialect leaves out of its own totals. */
export interface Usage {
  prompt: number;
  completion: number;
  cached: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWrite1h: number;
  audioIn: number;
  imageIn: number;
  reasoning: number;
  audioOut: number;
  /** Searches of the web, each at a price of its own. */
  searches: number;
}

/** What some endpoints sell by the piece. */
export interface Units {
  readonly images?: number;
  readonly characters?: number;
  readonly seconds?: number;
  readonly searchUnits?: number;
}

export interface Answer {
  readonly choices: readonly Choice[];
  /** What a fully delivered answer costs. */
  readonly usage: Usage;
  readonly units?: Units;
}

// biome-ignore format: a list of words
const WORDS = ["time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school", "state", "family", "student", "group", "country", "problem", "hand", "part", "place", "case", "week", "company", "system", "program", "question", "work", "government", "number", "night", "point"];
// biome-ignore format: a list of words
const WIDE_WORDS = ["größe", "日本", "привет", "🎉", "naïve", "世界", "žluť", "안녕"];

const ECHO_WORDS_MAX = 12;
const EXTRA_WORDS = 8;

export function answerTo(ask: Ask, script: Script): Answer {
  const choices = Array.from({ length: ask.choices }, (_, index) => choiceOf(ask, script, index));
  const reasoning = reasoningOf(ask, script);
  const audioOut = script.audio_out ?? 0;
  const cached = script.cached ?? 0;
  const cacheWrite1h = script.cache_write_1h ?? 0;
  const cacheWrite = Math.max(script.cache_write ?? 0, cacheWrite1h);
  const audioIn = script.audio_in ?? 0;
  const imageIn = script.image_in ?? 0;
  return {
    choices,
    usage: {
      prompt: script.prompt ?? Math.max(ask.promptTokens, cached + cacheWrite + audioIn + imageIn),
      completion: choices.reduce((sum, choice) => sum + visibleTokens(choice), reasoning + audioOut),
      cached,
      cacheWrite,
      cacheWrite1h,
      audioIn,
      imageIn,
      reasoning,
      audioOut,
      searches: script.searches ?? 0,
    },
  };
}

/** Tokens of an answer that no piece of its body carries: they exist before its first byte. */
export const hiddenTokens = ({ reasoning, audioOut }: Usage): number => reasoning + audioOut;

/** The signature of a call with this id. */
export const signatureOf = (id: string): string => `signed+${id}/=`;

/** The arguments as they come piece by piece. */
export const argumentParts = (call: ToolCall): string[] => call.arguments.match(/.{1,9}/gsu) ?? [];

/** The first of each list, then the second of each. */
export function alternately<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  ).flat();
}

export const toolTokens = (call: ToolCall): number => 1 + countWords(call.arguments);

const visibleTokens = (choice: Choice): number =>
  choice.toolCalls.reduce((sum, call) => sum + toolTokens(call), choice.words.length);

function choiceOf(ask: Ask, script: Script, index: number): Choice {
  const reasoning = index === 0 ? reasoningOf(ask, script) : 0;
  const hidden = reasoning + (index === 0 ? (script.audio_out ?? 0) : 0);
  const thoughts = script.think === undefined ? [] : wordsFrom(index + 7, reasoning);
  if (callsTool(ask, script)) {
    const toolCalls = Array.from({ length: script.tool ?? 1 }, (_, nth) => {
      const name = ask.tools[nth % ask.tools.length]!;
      const place = ask.toolResults + nth;
      const id = script.call_ids === "kimi" ? `functions.${name}:${place}` : `call_${index}${place}standin`;
      return {
        id,
        name,
        arguments: script.arguments ?? JSON.stringify({ text: ask.said }),
        // Only the first of the calls that are made at once is signed.
        ...(script.signed === undefined || nth > 0 ? {} : { signature: signatureOf(id) }),
      };
    });
    const words = wordsFrom(index, script.words ?? 0);
    return { words, thoughts, toolCalls, finish: script.finish ?? "tool_calls" };
  }
  const echo = ask.said.split(/\s+/).filter(Boolean).slice(0, ECHO_WORDS_MAX);
  // Structured text is as long as its schema makes it.
  const json = ask.schema === undefined ? null : jsonWords(ask.schema, echo.join(" "));
  const asked = script.output === undefined ? echo.length + EXTRA_WORDS : script.output - hidden;
  const wanted = json?.length ?? Math.max(0, asked);
  const room = ask.limit === null ? wanted : Math.max(0, Math.min(wanted, ask.limit - hidden));
  const spoken = script.utf8 !== undefined ? [] : echo.slice(0, room).map(spaced);
  const rest = wordsFrom(index, room - spoken.length, script.utf8 === undefined ? WORDS : WIDE_WORDS);
  return {
    words: json?.slice(0, room) ?? [...spoken, ...rest],
    thoughts,
    toolCalls: [],
    finish: script.finish ?? (room < wanted ? "length" : "stop"),
  };
}

const reasoningOf = (ask: Ask, script: Script): number =>
  Math.min(script.reasoning ?? 0, ask.limit ?? Number.POSITIVE_INFINITY);

const callsTool = (ask: Ask, script: Script): boolean =>
  ask.tools.length > 0 &&
  Math.ceil(ask.toolResults / (script.tool ?? 1)) < (script.rounds ?? 1) &&
  (script.tool !== undefined || ask.mustCallTool);

const wordsFrom = (start: number, count: number, words: readonly string[] = WORDS): string[] =>
  Array.from({ length: count }, (_, i) => spaced(words[(start + i) % words.length]!));

const spaced = (word: string): string => ` ${word}`;

/** Words of a text: the stand-in's token count for prompts and tool arguments. */
export function countWords(text: string): number {
  let count = 0;
  let inWord = false;
  for (let i = 0; i < text.length; i++) {
    const blank = text.charCodeAt(i) <= 32;
    if (!blank && !inWord) count++;
    inWord = !blank;
  }
  return count;
}
