// What a provider's usage says beside its top-level figures: iterations that are billed on top of them (compactions, an
// advisor's messages), and calls of its own tools. Pure; never throws.

import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/pricing/usage.ts";
import { isObject } from "./json.ts";
import { readUsage, type UsageBounds, type UsageDialect } from "./usage.ts";

/** Usage that the top-level figures leave out, of one turn. */
export interface Iteration {
  /** As the provider names it; null: the model that was asked. */
  readonly model: string | null;
  readonly usage: Usage;
}

/** No answer takes more turns. */
const ITERATIONS_MAX = 1_000;

/** Turns whose figures the top level adds up. */
const COUNTED: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);

const iterationsIn = (raw: unknown): readonly unknown[] =>
  isObject(raw) && Array.isArray(raw.iterations) ? raw.iterations : [];

/**
 * The iterations that are billed beside `stated`, the top-level figures; null where they make no sense. Turns of the answer
 * itself should stand in those figures: what of them does not is one iteration more.
 */
export function iterationsBeside(
  dialect: UsageDialect,
  raw: unknown,
  stated: Usage,
  bounds: UsageBounds,
): readonly Iteration[] | null {
  const given = dialect === "messages" ? iterationsIn(raw) : [];
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

/** What `inside` has more than `stated`. Of the output the total alone is compared: not all tell what of it was thinking. */
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

/** Calls of the provider's own tools as `server_tool_use` counts them, by the tool's name. */
export function toolUsesIn(raw: unknown): Readonly<Record<string, number>> {
  const given = isObject(raw) && isObject(raw.server_tool_use) ? raw.server_tool_use : {};
  const uses = Object.entries(given).flatMap(([field, count]): [string, number][] => {
    const [, name] = REQUESTS.exec(field) ?? [];
    const isCount = Number.isSafeInteger(count) && (count as number) > 0 && (count as number) <= USES_MAX;
    return name !== undefined && isCount ? [[name, count as number]] : [];
  });
  return Object.fromEntries(uses);
}
