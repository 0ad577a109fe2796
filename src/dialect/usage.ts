// Reads the usage figures of every dialect into the normal form of actors/pricing/usage.ts: disjoint counts.
// The dialect of the response decides what a field means, never which fields are present. Pure; never throws.

import {
  completionTokens,
  promptTokens,
  type Usage,
  type UsageCounts,
  zeroUsage,
} from "../../actors/pricing/usage.ts";

/** The formats of usage objects. */
export type UsageDialect = keyof typeof READERS;

/** The token limits of a model for one request; 0 means unknown. */
export interface UsageBounds {
  /** For embeddings and rerank this is the limit of all inputs together. */
  readonly contextWindow: number;
  /** The model's output limit times the number of choices. */
  readonly outputLimit: number;
  /** Calls of the provider's own tools that the answer shows. Omitted means 0. */
  readonly toolCalls?: number;
}

// The bounds have slack: providers count templates, tools and images that were not sent as text, and catalogs
// are out of date at times.
const SLACK_FACTOR = 2;
const SLACK_TOKENS = 4_096;
const TOKENS_MAX = 100_000_000;
const COUNT_MAX = 10_000_000;
const SECONDS_MAX = 360_000;

/**
 * Reads a provider's usage object as disjoint counts. Returns null, which means missing, when it is not an
 * object, when a figure is not a non-negative integer, or when its totals exceed the bounds. Fields may be
 * absent or null at every level; a sub-count larger than its total is cut to it. A usage of zero stays zero.
 * Only durations may have fractions. Source: provider facts, "Usage" and "Token and price semantics".
 */
export function readUsage(dialect: UsageDialect, raw: unknown, bounds: UsageBounds): Usage | null {
  if (!isObject(raw)) return null;
  const usage = zeroUsage();
  READERS[dialect](raw, usage);
  // Each call of a provider's own tool is another turn over the whole context; some providers list all turns.
  const toolCalls = Math.max(usage.webSearches, bounds.toolCalls ?? 0);
  const turns = 1 + toolCalls + (Array.isArray(raw.iterations) ? raw.iterations.length : 0);
  // NaN fits no bound, and readers split totals without a remainder, so a usage that fits has whole counts only.
  const fits =
    promptTokens(usage) <= limit(bounds.contextWindow, turns) &&
    completionTokens(usage) <= limit(bounds.outputLimit || bounds.contextWindow, turns) &&
    Math.max(usage.calls, usage.chars, usage.webSearches) <= COUNT_MAX &&
    usage.seconds >= 0 &&
    usage.seconds <= SECONDS_MAX;
  return fits ? usage : null;
}

const limit = (known: number, turns: number): number =>
  known > 0 ? Math.min(TOKENS_MAX, (known * SLACK_FACTOR + SLACK_TOKENS) * turns) : TOKENS_MAX;

type Raw = Readonly<Record<string, unknown>>;

/**
 * One reader for each dialect, which fills counts that are all 0. An invalid figure becomes NaN, which every sum and bound
 * preserves; all other counts but seconds become whole numbers of at least 0.
 */
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
} as const satisfies Record<string, (raw: Raw, into: UsageCounts) => void>;

/**
 * `prompt_tokens` include cached, written and audio tokens; `completion_tokens` include reasoning and audio.
 */
function readChat(raw: Raw, into: UsageCounts): void {
  const inside = part(raw, "prompt_tokens_details");
  const completion = part(raw, "completion_tokens_details");
  const prompt = figure(raw.prompt_tokens);
  const stated = figure(raw.completion_tokens);
  // Some hosts count thinking only in the total.
  const beside = Math.max(0, figure(raw.total_tokens) - prompt - stated);
  // Hosts report the same tokens under different names; only one of them counts.
  const cached = largest(
    inside.cached_tokens,
    raw.prompt_cache_hit_tokens,
    raw.cached_tokens,
    raw.cache_read_input_tokens,
  );
  const written = largest(
    inside.cache_write_tokens,
    inside.cache_creation_input_tokens,
    inside.cache_creation_tokens,
    raw.cache_write_tokens,
    raw.cache_creation_input_tokens,
  );
  splitPrompt(into, prompt, cached, written, figure(inside.audio_tokens), figure(inside.image_tokens));
  const reason = Math.max(largest(completion.reasoning_tokens, raw.reasoning_tokens), beside);
  const { audio_tokens: audio, image_tokens: image } = completion;
  splitCompletion(into, stated + beside, reason, figure(audio), figure(image));
  into.webSearches = largest(part(raw, "server_tool_use").web_search_requests, raw.num_search_queries);
}

/** `input_tokens` exclude cache reads and writes; `output_tokens` include thinking. */
function readMessages(raw: Raw, into: UsageCounts): void {
  const lives = part(raw, "cache_creation");
  const oneHour = figure(lives.ephemeral_1h_input_tokens);
  const written = Math.max(
    figure(raw.cache_creation_input_tokens),
    isAbsent(raw.cache_creation_input_tokens) ? figure(lives.ephemeral_5m_input_tokens) + oneHour : 0,
  );
  into.inText = figure(raw.input_tokens);
  into.inCached = figure(raw.cache_read_input_tokens);
  into.inCacheWrite1h = Math.min(oneHour, written);
  into.inCacheWrite = written - into.inCacheWrite1h;
  const thinking = figure(part(raw, "output_tokens_details").thinking_tokens);
  splitCompletion(into, figure(raw.output_tokens), thinking, 0, 0);
  into.webSearches = figure(part(raw, "server_tool_use").web_search_requests);
}

/**
 * Reads the figures of chat under other names. Searches are not counted here, because they are output items.
 */
function readResponses(raw: Raw, into: UsageCounts): void {
  const asChat = {
    prompt_tokens: raw.input_tokens,
    prompt_tokens_details: raw.input_tokens_details,
    completion_tokens: raw.output_tokens,
    completion_tokens_details: raw.output_tokens_details,
    total_tokens: raw.total_tokens,
  };
  readChat(asChat, into);
}

/** Some providers report only the total, some only `meta.billed_units`. */
function readEmbeddings(raw: Raw, into: UsageCounts): void {
  into.inText = largest(raw.prompt_tokens, raw.input_tokens, raw.total_tokens, billed(raw).input_tokens);
}

/** Output counts as image tokens unless the provider reports how much of it is text. */
function readImages(raw: Raw, into: UsageCounts): void {
  const inside = part(raw, "input_tokens_details");
  const made = part(raw, "output_tokens_details");
  const output = figure(raw.output_tokens);
  const text = isAbsent(made.image_tokens) ? figure(made.text_tokens) : output - figure(made.image_tokens);
  const { cached_tokens: cached, image_tokens: image } = inside;
  splitPrompt(into, figure(raw.input_tokens), figure(cached), 0, 0, figure(image));
  into.outText = Math.min(Math.max(0, text), output);
  into.outImage = output - into.outText;
}

/**
 * Usage is either tokens or a duration (`seconds`, or `duration` of a verbose answer, also as a numeric
 * string).
 */
function readTranscription(raw: Raw, into: UsageCounts): void {
  if (raw.type === "duration" || (isAbsent(raw.input_tokens) && isAbsent(raw.output_tokens))) {
    into.seconds = duration(isAbsent(raw.seconds) ? raw.duration : raw.seconds);
    return;
  }
  const inside = { ...part(raw, "input_tokens_details"), ...part(raw, "input_token_details") };
  const input = figure(raw.input_tokens);
  into.inText = Math.min(figure(inside.text_tokens), input);
  into.inAudio = input - into.inText;
  into.outText = figure(raw.output_tokens);
}

function readSpeech(raw: Raw, into: UsageCounts): void {
  into.inText = figure(raw.input_tokens);
  into.outAudio = figure(raw.output_tokens);
}

/**
 * Reads `usage` or `meta` of the answer: search units, tokens or both; the price decides which of them costs.
 */
function readRerank(raw: Raw, into: UsageCounts): void {
  const units = billed(raw);
  const { input_tokens: tokens } = part(raw, "tokens");
  into.calls = figure(units.search_units);
  into.inText = largest(raw.total_tokens, raw.prompt_tokens, units.input_tokens, tokens);
}

/** Candidates exclude thoughts, and the prompt excludes tool results but includes cached tokens. */
function readGemini(raw: Raw, into: UsageCounts): void {
  const prompt = figure(raw.promptTokenCount) + figure(raw.toolUsePromptTokenCount);
  const stated = figure(raw.candidatesTokenCount) + figure(raw.thoughtsTokenCount);
  const output = Math.max(stated, figure(raw.totalTokenCount) - prompt);
  const { promptTokensDetails: inside, candidatesTokensDetails: made } = raw;
  const cached = figure(raw.cachedContentTokenCount);
  splitPrompt(into, prompt, cached, 0, ofModality(inside, "AUDIO"), ofModality(inside, "IMAGE"));
  const reason = figure(raw.thoughtsTokenCount) + output - stated;
  splitCompletion(into, output, reason, ofModality(made, "AUDIO"), ofModality(made, "IMAGE"));
}

/** Subtracts the parts from the total one after the other, so that they never sum to more than it. */
function splitPrompt(
  into: UsageCounts,
  total: number,
  cached: number,
  written: number,
  audio: number,
  image: number,
): void {
  into.inCached = Math.min(cached, total);
  into.inCacheWrite = Math.min(written, total - into.inCached);
  into.inAudio = Math.min(audio, total - into.inCached - into.inCacheWrite);
  into.inImage = Math.min(image, total - into.inCached - into.inCacheWrite - into.inAudio);
  into.inText = total - into.inCached - into.inCacheWrite - into.inAudio - into.inImage;
}

function splitCompletion(
  into: UsageCounts,
  total: number,
  reason: number,
  audio: number,
  image: number,
): void {
  into.outAudio = Math.min(audio, total);
  into.outImage = Math.min(image, total - into.outAudio);
  into.outReason = Math.min(reason, total - into.outAudio - into.outImage);
  into.outText = total - into.outAudio - into.outImage - into.outReason;
}

const isObject = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const NO_PART: Raw = Object.freeze({});

function part(raw: Raw, name: string): Raw {
  const value = raw[name];
  return isObject(value) ? value : NO_PART;
}

/** Returns `billed_units` of a `meta` object, or of the answer that holds one. */
const billed = (raw: Raw): Raw => part({ ...raw, ...part(raw, "meta") }, "billed_units");

function figure(value: unknown): number {
  if (isAbsent(value)) return 0;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : Number.NaN;
}

const largest = (a: unknown, b: unknown, c?: unknown, d?: unknown, e?: unknown): number =>
  Math.max(figure(a), figure(b), figure(c), figure(d), figure(e));

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
