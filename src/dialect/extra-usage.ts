// Reads the part of a provider's usage that its top-level figures leave out: iterations that are billed in
// addition (compactions, an advisor's messages), and calls of the provider's own tools. Pure; never throws.

import { NO_TOOL_USES, type ToolUses } from "../../actors/pricing/tool-prices.ts";
import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/pricing/usage.ts";
import { isObject } from "./json.ts";
import { readUsage, type UsageBounds, type UsageDialect } from "./usage.ts";

/** The usage of one turn that the top-level figures leave out. */
export interface Iteration {
  /** The provider's name of the model; null means the requested model. */
  readonly model: string | null;
  readonly usage: Usage;
}

/** A usage with more turns is invalid. */
const ITERATIONS_MAX = 1_000;

/** Types of turns that the top-level figures include. */
const COUNTED: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);

const NO_ITERATIONS: readonly never[] = [];

const iterationsIn = (raw: unknown): readonly unknown[] =>
  isObject(raw) && Array.isArray(raw.iterations) ? raw.iterations : NO_ITERATIONS;

/**
 * Returns the iterations that are billed in addition to `stated`, the top-level figures. Returns null when
 * they are invalid. `stated` should include the turns of the answer itself; what it lacks of them is returned
 * as one more iteration.
 */
export function iterationsBeside(
  dialect: UsageDialect,
  raw: unknown,
  stated: Usage,
  bounds: UsageBounds,
): readonly Iteration[] | null {
  const given = dialect === "messages" ? iterationsIn(raw) : NO_ITERATIONS;
  if (given.length === 0) return NO_ITERATIONS;
  if (given.length > ITERATIONS_MAX) return null;
  const beside: Iteration[] = [];
  let inside = NO_USAGE;
  for (const one of given) {
    const model = isObject(one) && typeof one.model === "string" ? one.model : null;
    const usage = readUsage(dialect, one, model === null ? bounds : NO_BOUNDS);
    if (usage === null || !isObject(one)) return null;
    if (COUNTED.has(one.type)) inside = sum(inside, usage);
    else if (promptTokens(usage) + completionTokens(usage) > 0) beside.push({ model, usage });
  }
  const left = leftOf(inside, stated);
  if (promptTokens(left) + completionTokens(left) > 0) beside.push({ model: null, usage: left });
  return beside;
}

const NO_BOUNDS: UsageBounds = { contextWindow: 0, outputLimit: 0 };

const sum = (one: Usage, other: Usage): Usage => each((count) => one[count] + other[count]);

/**
 * Returns what `inside` exceeds `stated` by. Only the total of the output is compared, because not every turn
 * reports how much of it was thinking.
 */
function leftOf(inside: Usage, stated: Usage): Usage {
  const rest = each((count) => (count.startsWith("in") ? Math.max(0, inside[count] - stated[count]) : 0));
  return { ...rest, outText: Math.max(0, completionTokens(inside) - completionTokens(stated)) };
}

const each = (figure: (count: keyof Usage) => number): Usage => {
  const usage: Record<keyof Usage, number> = { ...NO_USAGE };
  for (const count of Object.keys(NO_USAGE) as (keyof Usage)[]) usage[count] = figure(count);
  return usage;
};

const REQUESTS = /^([a-z][a-z0-9_]{0,98})_requests$/;
const USES_MAX = 10_000_000;

/** Returns the number of calls of the provider's own tools in `server_tool_use`, by the tool's name. */
export function toolUsesIn(raw: unknown): ToolUses {
  if (!isObject(raw) || !isObject(raw.server_tool_use)) return NO_TOOL_USES;
  const uses = Object.entries(raw.server_tool_use).flatMap(([field, count]): [string, number][] => {
    const [, name] = REQUESTS.exec(field) ?? [];
    const isCount = Number.isSafeInteger(count) && (count as number) > 0 && (count as number) <= USES_MAX;
    return name !== undefined && isCount ? [[name, count as number]] : [];
  });
  return Object.fromEntries(uses);
}
