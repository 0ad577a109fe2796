// What an answer is charged for besides the usage of the requested model: another answering model, turns of
// other models, and calls of the provider's own tools; and the prices of these.

import type { UsagePart } from "../../../actors/pricing/cost-parts.ts";
import { findOtherPrice } from "../../../actors/pricing/other-price.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import { NO_TOOL_USES, type ToolUses } from "../../../actors/pricing/tool-prices.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import { type Iteration, toolUsesIn } from "../../dialect/extra-usage.ts";
import type { CandidatePrices } from "./hold-estimate.ts";
import type { MeterKind } from "./meter-kinds.ts";
import type { RequestSize } from "./request-size.ts";

/**
 * Returns the price of a model other than the request's, or null when it is the same model, has the same
 * price, or has no known price.
 */
export function otherPrice(kind: MeterKind, route: CandidatePrices, named: string | null): Priced | null {
  if (named === null) return null;
  const kept = keptPrices(kind, route);
  const before = kept.get(named);
  if (before !== undefined) return before;
  const found = findOtherPrice(route, named, kind.groups);
  if (kept.size >= NAMES_MAX) kept.clear();
  if (named.length <= NAME_LENGTH_MAX) kept.set(named, found);
  return found;
}

/** The prices of models that answers have named instead of a candidate's. */
interface OtherPrices {
  readonly kind: MeterKind;
  readonly byName: Map<string, Priced | null>;
}

// A provider names the same snapshot in each of its answers, and to compare names costs more than to price them.
const known = new WeakMap<CandidatePrices, OtherPrices>();
const NAMES_MAX = 8;
const NAME_LENGTH_MAX = 200;

function keptPrices(kind: MeterKind, route: CandidatePrices): OtherPrices["byName"] {
  const before = known.get(route);
  if (before?.kind === kind) return before.byName;
  const byName: OtherPrices["byName"] = new Map();
  known.set(route, { kind, byName });
  return byName;
}

/**
 * Returns a turn of the answer as a part of the charge. If another model took it, it is charged at the higher
 * of both prices.
 */
export function partOf(
  kind: MeterKind,
  route: CandidatePrices,
  priced: Priced,
  { model, usage }: Iteration,
): UsagePart {
  const other = otherPrice(kind, route, model);
  return {
    name: other === null || model === null ? route.model : model,
    usage,
    priced: other === null ? [priced] : [priced, other],
  };
}

/** Tools that are always considered, because a stored prompt may use them although the request names none. */
const HOSTED: readonly string[] = ["code_interpreter", "file_search", "code_execution"];

/**
 * Returns the calls of tools that are billed per call: the larger of what the usage counts and what the
 * answer shows.
 */
export function usesOf(
  { demands }: Pick<RequestSize, "demands">,
  { usage, measured }: { readonly usage: unknown; readonly measured: NonTokenUsage },
): ToolUses {
  const counted = toolUsesIn(usage);
  const shown = measured.toolUses ?? NO_TOOL_USES;
  if (counted === NO_TOOL_USES && shown === NO_TOOL_USES) return NO_TOOL_USES;
  const names = new Set([...Object.keys(demands?.tools ?? {}), ...HOSTED]);
  const uses = [...names].map((name): [string, number] => [
    name,
    Math.max(ownCount(counted, name), ownCount(shown, name)),
  ]);
  return Object.fromEntries(uses.filter(([, calls]) => calls > 0));
}

/** Returns the number of calls of the provider's own tools that an answer shows, whether or not they are charged. */
export function toolCallsOf({ usage, measured }: Parameters<typeof usesOf>[1]): number {
  const { webSearches = 0, toolUses = NO_TOOL_USES } = measured;
  return Math.max(webSearches + sumOf(toolUses), sumOf(toolUsesIn(usage)));
}

function sumOf(uses: ToolUses): number {
  let sum = 0;
  for (const name in uses) sum += uses[name]!;
  return sum;
}

const ownCount = (uses: ToolUses, name: string): number => (Object.hasOwn(uses, name) ? uses[name]! : 0);
