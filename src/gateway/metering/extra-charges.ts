// What an answer is charged for besides the usage of the requested model: another answering model, turns of
// other models, and calls of the provider's own tools; and the prices of these.

import { isSameModel } from "../../../actors/catalog/model-name.ts";
import type { UsagePart } from "../../../actors/pricing/cost-parts.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import type { ToolUses } from "../../../actors/pricing/tool-prices.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import { type Iteration, toolUsesIn } from "../../dialect/extra-usage.ts";
import type { CandidatePrices } from "./hold-estimate.ts";
import type { MeterKind } from "./meter-kinds.ts";
import type { RequestSize } from "./request-size.ts";

/**
 * Returns the price of a model other than the request's, or null when it is the same model, has the same
 * price, or has no known price.
 */
export function otherPrice(
  kind: MeterKind,
  { model, priced, prices }: CandidatePrices,
  named: string | null,
): Priced | null {
  if (named === null || isSameModel(named, model)) return null;
  const found = prices.known(named, kind.groups);
  const isSame = found === null || (found.group === priced.group && found.name === priced.name);
  return isSame ? null : found;
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
  const shown = measured.toolUses ?? {};
  const names = new Set([...Object.keys(demands?.tools ?? {}), ...HOSTED]);
  const uses = [...names].map((name): [string, number] => [
    name,
    Math.max(ownCount(counted, name), ownCount(shown, name)),
  ]);
  return Object.fromEntries(uses.filter(([, calls]) => calls > 0));
}

const ownCount = (uses: ToolUses, name: string): number => (Object.hasOwn(uses, name) ? uses[name]! : 0);
