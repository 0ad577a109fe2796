// How hard a model is to think: a budget in tokens or an adaptive mode in one dialect, an effort in the other.

import { isObject, type Json } from "../json.ts";
import { EFFORTS, type Effort, type ModelFacts } from "./translation.ts";

const isEffort = (value: unknown): value is Effort => (EFFORTS as readonly unknown[]).includes(value);
const rank = (effort: Effort): number => EFFORTS.indexOf(effort);

/** The strongest effort that the model takes and that asks for no more; else its weakest. Null: it takes none. */
function nearest(wanted: Effort, { efforts }: ModelFacts): Effort | null {
  if (wanted === "none") return efforts.includes("none") ? "none" : null;
  const thinking = efforts.filter((effort) => effort !== "none");
  return thinking.findLast((effort) => rank(effort) <= rank(wanted)) ?? thinking[0] ?? null;
}

/** Budgets below the first figure are low, below the second medium, any other high. */
const LOW_BELOW_TOKENS = 2_048;
const MEDIUM_BELOW_TOKENS = 8_192;

/** `reasoning_effort` for what a messages request says of thinking; null: the model's own habit. */
export function effortOf(body: Json, model: ModelFacts): Effort | null {
  const thinking = isObject(body.thinking) ? body.thinking : {};
  const stated = isObject(body.output_config) ? body.output_config.effort : undefined;
  if (thinking.type === "disabled") return nearest("none", model);
  if (isEffort(stated)) return nearest(stated, model);
  const { budget_tokens: budget } = thinking;
  if (thinking.type !== "enabled" || typeof budget !== "number") return null;
  const effort = budget < LOW_BELOW_TOKENS ? "low" : budget < MEDIUM_BELOW_TOKENS ? "medium" : "high";
  return nearest(effort, model);
}

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
/** The output limit where the client sets none, beside its thinking. */
const OUTPUT_TOKENS = 8_192;

/** What stands against thinking in a request, whatever the client wants. */
export interface Obstacles {
  /** The model must call a tool. */
  readonly forced: boolean;
  /** The answer is begun already, or its thinking before a tool's result is gone: a budget is refused then. */
  readonly begun: boolean;
}

export interface Thinking {
  readonly thinking: Json | null;
  /** For `output_config`. */
  readonly effort: Effort | null;
  readonly maxTokens: number;
}

/**
 * Thinking and the output limit for what a chat request wants. The client's limit holds for thinking too, so that it
 * never pays for more than it allowed: the budget is cut to leave a quarter of it for the answer.
 */
export function thinkingOf(
  wanted: unknown,
  limit: number | null,
  model: ModelFacts,
  { forced, begun }: Obstacles,
): Thinking {
  const effort = isEffort(wanted) && wanted !== "none" ? nearest(wanted, model) : null;
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
