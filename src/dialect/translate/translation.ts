// The contract of a translation between two dialects, of requests in one direction and of answers in the
// other. It is pure: the same input gives the same output. A translation drops what the other dialect cannot
// express, and must not invent meaning.

import type { RequestRefusal, StreamMachine, StreamOptions } from "../dialect.ts";
import type { Json } from "../json.ts";

/** The facts about a model that are needed to write a request that its provider accepts. */
export interface ModelFacts {
  /** The model's name that the provider receives. */
  readonly name: string;
  /** The model's output limit in tokens; 0 means unknown. */
  readonly maxOutputTokens: number;
  /** How many tokens prompt and output may have together; 0 means unknown. */
  readonly contextWindow: number;
  /**
   * The marks of the catalog, of which these matter here: `no_sampling_params`, `no_prefill`, `no_forced_tool_choice`,
   * `adaptive_thinking`.
   */
  readonly quirks: ReadonlySet<string>;
  /** Whether it refuses `max_tokens`, `stop` and sampling parameters (the o-series, and gpt from 5 on). */
  readonly reasoning: boolean;
  /** Whether the provider reads earlier reasoning in `reasoning_content`, which it may require. */
  readonly readsReasoning: boolean;
  /** Whether it refuses function calls of the chat dialect that have no signature (see call-signatures.ts). */
  readonly signsCalls: boolean;
  /** The supported efforts; empty when there are none. */
  readonly efforts: readonly Effort[];
  /** Whether it supports JSON schemas for its output. */
  readonly structured: boolean;
  /** Whether it accepts system messages after the conversation has begun. */
  readonly lateSystem: boolean;
  /** Whether the provider accepts `top_k` in the chat dialect. */
  readonly topK: boolean;
  /** Whether it accepts `verbosity` in the chat dialect. */
  readonly verbosity: boolean;
  /** Whether the provider accepts `prompt_cache_key` in the chat dialect. */
  readonly cacheKey: boolean;
  /** Whether the model's prompt cache, at providers of the messages dialect, keeps what is marked with `cache_control`. */
  readonly cacheMarks: boolean;
  /**
   * The provider whose thinking the model's answers hold, which is the only one that can read it again: its name in the
   * catalog, or a hash of its host.
   */
  readonly provider: string;
}

/** Reasoning efforts, weakest first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
/** A reasoning effort. */
export type Effort = (typeof EFFORTS)[number];

/** The client's tool names by the changed names that were sent, so that answers can be translated back. */
export type Renamed = Pick<ReadonlyMap<string, string>, "get">;

/** A translated request, or its refusal. */
export type TranslatedRequest =
  | { readonly ok: true; readonly body: Json; readonly toolNames: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly refusal: RequestRefusal };

/** What the translation of an answer needs to know about its request. */
export interface AnswerContext {
  /** A unique id of letters and digits, from which ids of messages and of calls without one are made. */
  readonly id: string;
  /** The client's name of the model. */
  readonly model: string;
  /**
   * The fields of the client's request that its response repeats, as `repeatedFieldsOf` returns them: without the input and
   * without fields that are too long; of too many tools the types and names alone. Empty for styles that repeat none.
   */
  readonly repeatedFields: Json;
  /** The provider that answers; thinking is passed back to no other. */
  readonly provider: string;
  /** As `ModelFacts.readsReasoning`. */
  readonly readsReasoning: boolean;
  readonly toolNames: Renamed;
  /** Wall-clock milliseconds. */
  readonly now: number;
  /** The estimated prompt tokens, which clients read at the beginning of a stream. */
  readonly promptTokens: number;
}

/**
 * Creates a machine that reads the provider's events and writes the client's. Its usage is the provider's.
 */
export type StreamTranslation = (context: AnswerContext, options: StreamOptions) => StreamMachine;
