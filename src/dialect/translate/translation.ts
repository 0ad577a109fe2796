// The contract of a translation between two dialects: what the client wrote becomes what the provider reads, what the
// provider answers becomes what the client reads. Pure: nothing is asked, nothing is stored, the same input gives the
// same output. A translation loses what the other side has no word for, and never invents meaning.

import type { RequestRefusal, StreamMachine, StreamOptions } from "../dialect.ts";
import type { Json } from "../json.ts";

/** What must be known of the model, beside its name, to write a request that its provider takes. */
export interface ModelFacts {
  /** As the provider is told. */
  readonly name: string;
  /** 0: not known. */
  readonly maxOutputTokens: number;
  /** As the catalogue marks them: `no_sampling_params`, `no_prefill`, `no_forced_tool_choice`, `adaptive_thinking`, `thinking_always_on`. */
  readonly quirks: ReadonlySet<string>;
  /** Its name says that it reasons and refuses `max_tokens`, `stop` and sampling parameters (the chat dialect's o-series and gpt-5 on). */
  readonly reasoning: boolean;
  /** The provider reads earlier reasoning under `reasoning_content` and may demand it. */
  readonly readsReasoning: boolean;
  /** The efforts it takes; empty: it takes none. */
  readonly efforts: readonly Effort[];
  /** It can be held to a JSON schema. */
  readonly structured: boolean;
  /** It takes system messages after the conversation has begun. */
  readonly lateSystem: boolean;
  /** The provider takes `top_k` in the chat dialect. */
  readonly topK: boolean;
}

/** How hard a model is to think, weakest first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

/** Names that had to be changed on the way out, so that they can be changed back: sent name to the client's. */
export type Renamed = ReadonlyMap<string, string>;

export type TranslatedRequest =
  | { readonly ok: true; readonly body: Json; readonly toolNames: Renamed }
  | { readonly ok: false; readonly refusal: RequestRefusal };

/** What an answer's translation needs of its request. */
export interface AnswerContext {
  /** Fresh for every answer, of letters and digits; ids of messages and of calls without one are made from it. */
  readonly id: string;
  /** The model's name as the client is told. */
  readonly model: string;
  readonly toolNames: Renamed;
  /** Wall ms. */
  readonly now: number;
  /** An estimate of the prompt, for clients that read it at the beginning of a stream. */
  readonly promptTokens: number;
}

/** A machine that is fed the events of the provider's dialect and gives those of the client's. Its usage is the provider's. */
export type StreamTranslation = (context: AnswerContext, options: StreamOptions) => StreamMachine;
