// Usage figures as the client's dialect says them, out of the provider's, by way of the one normal form: what the client
// reads is what is charged. Where a provider gives none, the client reads an estimate rather than nothing; nobody charges by it.

import { completionTokens, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { Json } from "../json.ts";
import { readUsage, type UsageDialect } from "../usage.ts";

/** What is known without the provider. */
export interface Guess {
  readonly promptTokens: number;
  /** Of all that was generated. */
  readonly chars: number;
}

const UNBOUNDED = { contextWindow: 0, outputLimit: 0 };
const CHARS_PER_TOKEN = 4;

/** Figures of zero, too, say that nobody counted. */
function figures(dialect: UsageDialect, raw: unknown): Usage | null {
  const usage = readUsage(dialect, raw, UNBOUNDED);
  return usage !== null && promptTokens(usage) + completionTokens(usage) > 0 ? usage : null;
}

const guessed = ({ promptTokens, chars }: Guess) => ({
  prompt: promptTokens,
  completion: Math.ceil(chars / CHARS_PER_TOKEN),
});

/** A chat provider's usage for a messages client: cached tokens stand beside `input_tokens`, and are said even when 0. */
export function messagesUsageOf(raw: unknown, guess: Guess): Json {
  const usage = figures("chat", raw);
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

/** What a messages client reads at the beginning of a stream: the prompt's estimate, and no output yet. */
export const openingUsage = (promptTokens: number): Json => messagesUsage(promptTokens, 0, 0, 0);

const messagesUsage = (input: number, written: number, read: number, output: number): Json => ({
  input_tokens: input,
  cache_creation_input_tokens: written,
  cache_read_input_tokens: read,
  output_tokens: output,
});

/** A messages provider's usage for a chat client: cached tokens stand inside `prompt_tokens`. */
export function chatUsageOf(raw: unknown, guess: Guess): Json {
  const usage = figures("messages", raw);
  const { prompt, completion } =
    usage === null ? guessed(guess) : { prompt: promptTokens(usage), completion: completionTokens(usage) };
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage?.inCached ?? 0,
      cache_write_tokens: usage === null ? 0 : usage.inCacheWrite + usage.inCacheWrite1h,
    },
    completion_tokens_details: { reasoning_tokens: usage?.outReason ?? 0 },
  };
}
