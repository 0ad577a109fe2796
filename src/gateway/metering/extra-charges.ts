// What an answer brings beside the usage of the model that was asked: another model's name, turns of other models, calls of
// the provider's own tools; and at which prices these are charged.

import { isSameModel } from "../../../actors/catalog/model-name.ts";
import type { UsagePart } from "../../../actors/pricing/cost-parts.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import type { ToolUses } from "../../../actors/pricing/tool-prices.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import { type Iteration, toolUsesIn } from "../../dialect/extra-usage.ts";
import type { Route } from "../routing/route.ts";
import type { RequestSize } from "./hold-estimate.ts";
import type { MeterKind } from "./meter-kinds.ts";

/** The price of a model that is another than the request's; null: it is the same, or has none that anybody knows. */
export function otherPrice(
  kind: MeterKind,
  { model, priced, prices }: Route,
  named: string | null,
): Priced | null {
  if (named === null || isSameModel(named, model)) return null;
  const found = prices.known(named, kind.groups);
  const isSame = found === null || (found.group === priced.group && found.name === priced.name);
  return isSame ? null : found;
}

/** A turn as a part of the charge: at the dearer of both prices where another model took it. */
export function partOf(
  kind: MeterKind,
  route: Route,
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

/** Always run by the provider: a kept prompt may bring them where the request names none. */
const HOSTED: readonly string[] = ["code_interpreter", "file_search", "code_execution"];

/** Calls of tools that are billed by the call, as the answer shows or counts them. */
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
