// The candidates for a request when the keys of its route fail: the backup models of MODEL_FAILOVER, each at
// its Level, and after each the Levels of SWITCH_OVER. A pure function with a trace; the order of attempts is
// decided by `FailoverPlan`.
//
// spec: Routing order for a gateway request, step 6; Routing failover; contract section 4.

import { pick } from "../../../actors/pattern.ts";
import {
  barredFrom,
  candidateFor,
  chainOf,
  type NeedsLevel,
  type Route,
  type RouteCandidate,
  type RouteInput,
  type RoutingStep,
} from "./route.ts";

/** The number of backup models that are tried at most (contract section 4). */
const BACKUP_MODELS_MAX = 5;

/**
 * Returns all candidates of a request: one row for the model of its route and one for each backup model, each
 * with the model's Level first and then the Levels of SWITCH_OVER. Candidates that the account may not use,
 * that no Level serves, or that have no price are omitted, and the steps say why. Returns `NeedsLevel` when a
 * Level's view is not loaded.
 */
export function failoverCandidates(
  input: RouteInput,
  from: Route,
):
  | { readonly rows: readonly (readonly RouteCandidate[])[]; readonly steps: readonly RoutingStep[] }
  | NeedsLevel {
  const { config } = input.accountContext.config;
  const steps: RoutingStep[] = [];
  const rows: RouteCandidate[][] = [];
  const found = pick(config.modelFailover, from.model);
  // A pattern's list may contain a model that the pattern matches.
  const others = found === null ? [] : found.value.filter((name) => name !== from.model);
  const names = others.slice(0, BACKUP_MODELS_MAX);
  if (found !== null) {
    const rule = `${found.pattern}=${found.value.join("|")}`;
    steps.push({ step: "model_failover", in: from.model, out: names.join(", "), rule });
  }
  for (const name of [from.model, ...names]) {
    const first = name === from.model ? from : candidateFor(input, name, steps);
    if ("ok" in first && first.ok === "needs_level") return first;
    if ("ok" in first && first.ok === false) continue;
    const row = switchOvers(input, first as RouteCandidate, steps);
    if ("ok" in row) return row;
    rows.push(row);
  }
  return { rows, steps };
}

/** Returns the candidate and those that SWITCH_OVER adds after it, each Level once. */
function switchOvers(
  input: RouteInput,
  first: RouteCandidate,
  steps: RoutingStep[],
): RouteCandidate[] | NeedsLevel {
  const { switchOver } = input.accountContext.config.config;
  const chain = chainOf(input.accountContext);
  const row = [first];
  const seen = new Set([first.level]);
  for (
    let level = switchOver[first.level];
    level !== undefined && !seen.has(level);
    level = switchOver[level]
  ) {
    seen.add(level);
    const view = input.level(level);
    if (view === undefined) return { ok: "needs_level", level };
    const barred = barredFrom(chain, level);
    const note =
      barred !== undefined ? "not allowed to this account" : view.keys.length === 0 ? "no keys" : null;
    steps.push({
      step: "switch_over",
      in: `${first.model} at ${first.level}`,
      out: String(level),
      ...(note === null ? {} : { note }),
    });
    if (note === null) row.push({ ...first, level, view });
  }
  return row;
}
