// Translates the provider's usage to the client's dialect through the normal form, so that the client reads
// what is charged. If the provider reports none, the client receives an estimate, by which nothing is
// charged.

import { completionTokens, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { Json } from "../json.ts";
import { readUsage, type UsageDialect } from "../usage.ts";

/** The basis of an estimate. */
export interface Guess {
  readonly promptTokens: number;
  /** Number of generated characters. */
  readonly chars: number;
}

const UNBOUNDED = { contextWindow: 0, outputLimit: 0 };
const CHARS_PER_TOKEN = 4;

/** Returns the normal form of a provider's usage, or null when it is missing; figures of zero count as missing. */
export function figuresOf(dialect: UsageDialect, raw: unknown): Usage | null {
  const usage = readUsage(dialect, raw, UNBOUNDED);
  return usage !== null && promptTokens(usage) + completionTokens(usage) > 0 ? usage : null;
}

const guessed = ({ promptTokens, chars }: Guess) => ({
  prompt: promptTokens,
  completion: Math.ceil(chars / CHARS_PER_TOKEN),
});

/** Returns the usage for a messages client. `input_tokens` exclude cached tokens, which are reported even when 0. */
export function messagesUsageOf(usage: Usage | null, guess: Guess): Json {
  if (usage === null) {
    const { prompt, completion } = guessed(guess);
    return messagesUsage(prompt, 0, 0, completion);
  }
  const written = usage.inCacheWrite + usage.inCacheWrite1h;
  return {
    ...messagesUsage(
      promptTokens(usage) - usage.inCached - written,
      written,
      usage.inCached,
      completionTokens(usage),
    ),
    ...(usage.outReason > 0 ? { output_tokens_details: { thinking_tokens: usage.outReason } } : {}),
    ...(usage.webSearches > 0 ? { server_tool_use: { web_search_requests: usage.webSearches } } : {}),
  };
}

/** Returns the usage at the beginning of a messages stream: the estimated prompt and no output. */
export const openingUsage = (promptTokens: number): Json => messagesUsage(promptTokens, 0, 0, 0);

const messagesUsage = (input: number, written: number, read: number, output: number): Json => ({
  input_tokens: input,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: read,
  output_tokens: output,
});

/** Returns the usage for a chat client. `prompt_tokens` include cached tokens. */
export function chatUsageOf(usage: Usage | null, guess: Guess): Json {
  const { prompt, completion, cached, written, reasoning } = sumsOf(usage, guess);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** Returns the usage for a responses client. `input_tokens` include cached tokens. */
export function responsesUsageOf(usage: Usage | null, guess: Guess): Json {
  const { prompt, completion, cached, written, reasoning } = sumsOf(usage, guess);
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  };
}

/** Sums of a usage, or an estimate without one. */
const sumsOf = (usage: Usage | null, guess: Guess) =>
  usage === null
    ? { ...guessed(guess), cached: 0, written: 0, reasoning: 0 }
    : {
        prompt: promptTokens(usage),
        completion: completionTokens(usage),
        cached: usage.inCached,
        written: usage.inCacheWrite + usage.inCacheWrite1h,
        reasoning: usage.outReason,
      };
