// Reads the usage figures of every dialect into the normal form of actors/pricing/usage.ts: disjoint counts.
// The dialect of the response decides what a field means, never which fields are present. Pure; never throws.

import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/pricing/usage.ts";

/** The formats of usage objects. */
export type UsageDialect = keyof typeof READERS;

/** The token limits of a model for one request; 0 means unknown. */
export interface UsageBounds {
  /** For embeddings and rerank this is the limit of all inputs together. */
  readonly contextWindow: number;
  /** The model's output limit times the number of choices. */
  readonly outputLimit: number;
}

// The bounds have slack: providers count templates, tools and images that were not sent as text, and catalogs
// are out of date at times.
const SLACK_FACTOR = 2;
const SLACK_TOKENS = 4_096;
const TOKENS_MAX = 100_000_000;
const COUNT_MAX = 10_000_000;
const SECONDS_MAX = 360_000;

const COUNTS = Object.keys(NO_USAGE) as readonly (keyof Usage)[];

/**
 * Reads a provider's usage object as disjoint counts. Returns null, which means missing, when it is not an
 * object, when a figure is not a non-negative integer, or when its totals exceed the bounds. Fields may be
 * absent or null at every level; a sub-count larger than its total is cut to it. A usage of zero stays zero.
 * Only durations may have fractions. Source: provider facts, "Usage" and "Token and price semantics".
 */
export function readUsage(dialect: UsageDialect, raw: unknown, bounds: UsageBounds): Usage | null {
  if (!isObject(raw)) return null;
  const usage: Usage = { ...NO_USAGE, ...READERS[dialect](raw) };
  for (const count of COUNTS) {
    const value = usage[count];
    const whole = count === "seconds" ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (!whole || value < 0) return null;
  }
  // Each search inside the request is another turn over the whole context; some providers list all turns.
  const turns = 1 + usage.webSearches + (Array.isArray(raw.iterations) ? raw.iterations.length : 0);
  const fits =
    promptTokens(usage) <= limit(bounds.contextWindow, turns) &&
    completionTokens(usage) <= limit(bounds.outputLimit || bounds.contextWindow, turns) &&
    Math.max(usage.calls, usage.chars, usage.webSearches) <= COUNT_MAX &&
    usage.seconds <= SECONDS_MAX;
  return fits ? usage : null;
}

const limit = (known: number, turns: number): number =>
  known > 0 ? Math.min(TOKENS_MAX, (known * SLACK_FACTOR + SLACK_TOKENS) * turns) : TOKENS_MAX;

type Raw = Readonly<Record<string, unknown>>;
type Counts = Partial<Usage>;

/** One reader for each dialect. An invalid figure becomes NaN, which every sum and bound preserves. */
const READERS = {
  chat: readChat,
  messages: readMessages,
  responses: readResponses,
  embeddings: readEmbeddings,
  images: readImages,
  transcription: readTranscription,
  speech: readSpeech,
  rerank: readRerank,
  gemini: readGemini,
} as const satisfies Record<string, (raw: Raw) => Counts>;

/**
 * `prompt_tokens` include cached, written and audio tokens; `completion_tokens` include reasoning and audio.
 */
function readChat(raw: Raw): Counts {
  const inside = part(raw, "prompt_tokens_details");
  const completion = part(raw, "completion_tokens_details");
  const prompt = figure(raw.prompt_tokens);
  const stated = figure(raw.completion_tokens);
  // Some hosts count thinking only in the total.
  const beside = Math.max(0, figure(raw.total_tokens) - prompt - stated);
  return {
    ...splitPrompt(prompt, {
      // Hosts report the same tokens under different names; only one of them counts.
      cached: largest(
        inside.cached_tokens,
        raw.prompt_cache_hit_tokens,
        raw.cached_tokens,
        raw.cache_read_input_tokens,
      ),
      written: largest(
        inside.cache_write_tokens,
        inside.cache_creation_input_tokens,
        inside.cache_creation_tokens,
        raw.cache_write_tokens,
        raw.cache_creation_input_tokens,
      ),
      audio: figure(inside.audio_tokens),
      image: figure(inside.image_tokens),
    }),
    ...splitCompletion(stated + beside, {
      reason: Math.max(largest(completion.reasoning_tokens, raw.reasoning_tokens), beside),
      audio: figure(completion.audio_tokens),
      image: figure(completion.image_tokens),
    }),
    webSearches: largest(part(raw, "server_tool_use").web_search_requests, raw.num_search_queries),
  };
}

/** `input_tokens` exclude cache reads and writes; `output_tokens` include thinking. */
function readMessages(raw: Raw): Counts {
  const lives = part(raw, "cache_creation");
  const oneHour = figure(lives.ephemeral_1h_input_tokens);
  const written = Math.max(
    figure(raw.cache_creation_input_tokens),
    isAbsent(raw.cache_creation_input_tokens) ? figure(lives.ephemeral_5m_input_tokens) + oneHour : 0,
  );
  const inCacheWrite1h = Math.min(oneHour, written);
  return {
    inText: figure(raw.input_tokens),
    inCached: figure(raw.cache_read_input_tokens),
    inCacheWrite: written - inCacheWrite1h,
    inCacheWrite1h,
    ...splitCompletion(figure(raw.output_tokens), {
      reason: figure(part(raw, "output_tokens_details").thinking_tokens),
    }),
    webSearches: figure(part(raw, "server_tool_use").web_search_requests),
  };
}

/**
 * Reads the figures of chat under other names. Searches are not counted here, because they are output items.
 */
function readResponses(raw: Raw): Counts {
  return readChat({
    prompt_tokens: raw.input_tokens,
    prompt_tokens_details: raw.input_tokens_details,
    completion_tokens: raw.output_tokens,
    completion_tokens_details: raw.output_tokens_details,
    total_tokens: raw.total_tokens,
  });
}

/** Some providers report only the total, some only `meta.billed_units`. */
function readEmbeddings(raw: Raw): Counts {
  return { inText: largest(raw.prompt_tokens, raw.input_tokens, raw.total_tokens, billed(raw).input_tokens) };
}

/** Output counts as image tokens unless the provider reports how much of it is text. */
function readImages(raw: Raw): Counts {
  const inside = part(raw, "input_tokens_details");
  const made = part(raw, "output_tokens_details");
  const output = figure(raw.output_tokens);
  const text = isAbsent(made.image_tokens) ? figure(made.text_tokens) : output - figure(made.image_tokens);
  const outText = Math.min(Math.max(0, text), output);
  return {
    ...splitPrompt(figure(raw.input_tokens), {
      cached: figure(inside.cached_tokens),
      image: figure(inside.image_tokens),
    }),
    outText,
    outImage: output - outText,
  };
}

/**
 * Usage is either tokens or a duration (`seconds`, or `duration` of a verbose answer, also as a numeric
 * string).
 */
function readTranscription(raw: Raw): Counts {
  if (raw.type === "duration" || (isAbsent(raw.input_tokens) && isAbsent(raw.output_tokens))) {
    return { seconds: duration(isAbsent(raw.seconds) ? raw.duration : raw.seconds) };
  }
  const inside = { ...part(raw, "input_tokens_details"), ...part(raw, "input_token_details") };
  const input = figure(raw.input_tokens);
  const inText = Math.min(figure(inside.text_tokens), input);
  return { inText, inAudio: input - inText, outText: figure(raw.output_tokens) };
}

function readSpeech(raw: Raw): Counts {
  return { inText: figure(raw.input_tokens), outAudio: figure(raw.output_tokens) };
}

/**
 * Reads `usage` or `meta` of the answer: search units, tokens or both; the price decides which of them costs.
 */
function readRerank(raw: Raw): Counts {
  const units = billed(raw);
  return {
    calls: figure(units.search_units),
    inText: largest(
      raw.total_tokens,
      raw.prompt_tokens,
      units.input_tokens,
      part(raw, "tokens").input_tokens,
    ),
  };
}

/** Candidates exclude thoughts, and the prompt excludes tool results but includes cached tokens. */
function readGemini(raw: Raw): Counts {
  const prompt = figure(raw.promptTokenCount) + figure(raw.toolUsePromptTokenCount);
  const stated = figure(raw.candidatesTokenCount) + figure(raw.thoughtsTokenCount);
  const output = Math.max(stated, figure(raw.totalTokenCount) - prompt);
  return {
    ...splitPrompt(prompt, {
      cached: figure(raw.cachedContentTokenCount),
      audio: ofModality(raw.promptTokensDetails, "AUDIO"),
      image: ofModality(raw.promptTokensDetails, "IMAGE"),
    }),
    ...splitCompletion(output, {
      reason: figure(raw.thoughtsTokenCount) + output - stated,
      audio: ofModality(raw.candidatesTokensDetails, "AUDIO"),
      image: ofModality(raw.candidatesTokensDetails, "IMAGE"),
    }),
  };
}

interface PromptParts {
  readonly cached?: number;
  readonly written?: number;
  readonly audio?: number;
  readonly image?: number;
}

/** Subtracts the parts from the total one after the other, so that they never sum to more than it. */
function splitPrompt(total: number, { cached = 0, written = 0, audio = 0, image = 0 }: PromptParts): Counts {
  const inCached = Math.min(cached, total);
  const inCacheWrite = Math.min(written, total - inCached);
  const inAudio = Math.min(audio, total - inCached - inCacheWrite);
  const inImage = Math.min(image, total - inCached - inCacheWrite - inAudio);
  const inText = total - inCached - inCacheWrite - inAudio - inImage;
  return { inText, inCached, inCacheWrite, inAudio, inImage };
}

interface CompletionParts {
  readonly reason?: number;
  readonly audio?: number;
  readonly image?: number;
}

function splitCompletion(total: number, { reason = 0, audio = 0, image = 0 }: CompletionParts): Counts {
  const outAudio = Math.min(audio, total);
  const outImage = Math.min(image, total - outAudio);
  const outReason = Math.min(reason, total - outAudio - outImage);
  return { outText: total - outAudio - outImage - outReason, outReason, outAudio, outImage };
}

const isObject = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function part(raw: Raw, name: string): Raw {
  const value = raw[name];
  return isObject(value) ? value : {};
}

/** Returns `billed_units` of a `meta` object, or of the answer that holds one. */
const billed = (raw: Raw): Raw => part({ ...raw, ...part(raw, "meta") }, "billed_units");

function figure(value: unknown): number {
  if (isAbsent(value)) return 0;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

const largest = (...values: readonly unknown[]): number => Math.max(0, ...values.map(figure));

function duration(value: unknown): number {
  if (isAbsent(value)) return 0;
  const seconds = typeof value === "string" && /^\d{1,9}(\.\d{1,20})?$/.test(value) ? Number(value) : value;
  return typeof seconds === "number" ? seconds : Number.NaN;
}

function ofModality(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isObject)
    .filter((each) => each.modality === modality)
    .reduce((sum, each) => sum + figure(each.tokenCount), 0);
}
