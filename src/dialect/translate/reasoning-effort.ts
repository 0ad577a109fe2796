// Translates how much a model thinks: a token budget or an adaptive mode in the messages dialect, an effort
// in the chat dialect.

import type { Json } from "../json.ts";
import type { RequestForm } from "./request-form.ts";
import { EFFORTS, type Effort, type ModelFacts } from "./translation.ts";

/** Returns the effort that a value names, or null when it names none. */
export const effortIn = (value: unknown): Effort | null => EFFORTS.find((effort) => effort === value) ?? null;

const rank = (effort: Effort): number => EFFORTS.indexOf(effort);

/**
 * Returns the strongest supported effort up to `wanted`, otherwise the weakest. Returns null when there is
 * none.
 */
export function nearest(wanted: Effort, { efforts }: ModelFacts): Effort | null {
  if (wanted === "none") return efforts.includes("none") ? "none" : null;
  const thinking = efforts.filter((effort) => effort !== "none");
  return thinking.findLast((effort) => rank(effort) <= rank(wanted)) ?? thinking[0] ?? null;
}

/** Budgets below this are low effort, those below the next constant medium, others high. */
const LOW_BELOW_TOKENS = 2_048;
const MEDIUM_BELOW_TOKENS = 8_192;

/** Returns the effort that a budget of thinking tokens means. */
export const effortOfBudget = (budget: number): Effort =>
  budget < LOW_BELOW_TOKENS ? "low" : budget < MEDIUM_BELOW_TOKENS ? "medium" : "high";

const BUDGETS_TOKENS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 4_096,
  high: 8_192,
  xhigh: 16_384,
  max: 32_768,
};
const BUDGET_MIN_TOKENS = 1_024;
/** The usual output limit without thinking, if the client sets none. */
const OUTPUT_TOKENS = 8_192;

/**
 * Returns the output limit in tokens that a request states or means; null means the usual one. The longest output is what
 * the context window leaves of the model's maximum, because some models refuse a prompt and a limit that exceed it together.
 */
export function outputLimitOf(
  { outputLimit, outputDefault }: Pick<RequestForm, "outputLimit" | "outputDefault">,
  { maxOutputTokens, contextWindow }: ModelFacts,
  promptTokens: number,
): number | null {
  if (outputLimit !== null || outputDefault === "usual" || maxOutputTokens === 0) return outputLimit;
  const left = contextWindow > 0 ? contextWindow - promptTokens : maxOutputTokens;
  return left < OUTPUT_TOKENS ? null : Math.min(left, maxOutputTokens);
}

/** Properties of a request that exclude thinking. */
export interface Obstacles {
  /** Whether the model must call a tool. */
  readonly forced: boolean;
  /**
   * Whether the answer has begun, or the thinking before a tool result is missing; a budget is then refused.
   */
  readonly begun: boolean;
}

/** The thinking of a messages request. */
export interface Thinking {
  readonly thinking: Json | null;
  /** The effort in `output_config`. */
  readonly effort: Effort | null;
  readonly maxTokens: number;
}

/**
 * Returns thinking and the output limit in tokens of a messages request. `wanted` is the client's effort; `limit` is that
 * of `outputLimitOf`. The limit includes thinking, so that the client never pays for more than it allowed; up to a quarter of it is reserved for the answer.
 */
export function thinkingOf(
  wanted: Effort | null,
  limit: number | null,
  model: ModelFacts,
  { forced, begun }: Obstacles,
): Thinking {
  const effort = wanted === null || wanted === "none" ? null : nearest(wanted, model);
  const within = (tokens: number): number =>
    model.maxOutputTokens > 0 ? Math.min(tokens, model.maxOutputTokens) : tokens;
  const plain: Thinking = { thinking: null, effort: null, maxTokens: within(limit ?? OUTPUT_TOKENS) };
  if (effort === null) return plain;
  if (model.quirks.has("adaptive_thinking")) {
    const thinking = forced ? null : { type: "adaptive", display: "summarized" };
    return { ...plain, thinking, effort };
  }
  const maxTokens = within(limit ?? BUDGETS_TOKENS[effort] + OUTPUT_TOKENS);
  const kept = Math.min(OUTPUT_TOKENS, Math.ceil(maxTokens / 4));
  const budget = Math.min(BUDGETS_TOKENS[effort], maxTokens - kept);
  if (forced || begun || budget < BUDGET_MIN_TOKENS) return plain;
  return { thinking: { type: "enabled", budget_tokens: budget }, effort: null, maxTokens };
}
