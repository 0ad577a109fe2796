// Predicts what would happen to a request, with the functions that decide it: its route, its hold estimate,
// the account's answer, and the first candidate with a usable key. It takes no hold and sends nothing.
// `quote` and `explain` are written from its result.

import type { AdmitDryRun } from "../../../actors/account/admit-dry-run.ts";
import { actorRef } from "../../../actors/index.ts";
import { healthOf, type LevelKey, usability } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext } from "../account/config-cache.ts";
import {
  type AdmissionInput,
  applyFreshProfile,
  buildAdmissionRequest,
  questionAt,
  type RoutingParts,
} from "../admission/admission.ts";
import { isLocalTokenCount } from "../answer/local-token-count.ts";
import { clientErrorFor, keyAvailability } from "../attempt/client-error.ts";
import { keySupportFor, type Serves } from "../codec/key-support.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { HoldEstimate } from "../metering/hold-estimate.ts";
import type { RequestSize } from "../metering/request-size.ts";
import { type CandidateTable, createFailoverPlan, type FailoverReason } from "../routing/failover-plan.ts";
import { planOf } from "../routing/resolve-route.ts";
import type { NoRoute, Route, RouteCandidate, RoutingStep } from "../routing/route.ts";
import { restrictToKey, withoutKeyPin } from "../stored-objects/key-pin.ts";

/** The hold that a request would take at one of its candidates. */
interface Held {
  readonly route: Route;
  readonly estimate: HoldEstimate;
  readonly preview: AdmitDryRun;
}

/** What would happen to a request. */
export interface DryRunResult {
  /** Why it would be refused, or fail before any attempt; null when it would be tried. */
  readonly refusal: Refusal | null;
  /** Where it would be tried first, or where it would take its last hold; null when it has no route. */
  readonly at: Held | null;
  /** The model after the mappers that ran; null when the request itself is invalid. */
  readonly model: string | null;
  readonly steps: readonly RoutingStep[];
  /** All candidates, its route first. */
  readonly candidates: CandidateTable;
  /** The account's answer for the route, before any failover. */
  readonly preview: AdmitDryRun;
}

/** The services that a dry run reads. */
export interface DryRunParts extends RoutingParts {
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, "address">;
}

/** A request that no client has sent. */
export interface SampleRequest extends Pick<AdmissionInput, "caller" | "ip" | "requested" | "pinnedKey"> {
  /** The parsed request; omitted when any request for the model is meant. */
  readonly request?: ModelRequest;
}

/** Returns what would happen to a request. Throws `RefusedError` only when the account does not exist. */
export async function dryRun(
  parts: DryRunParts,
  endpoint: GatewayEndpoint,
  imagined: SampleRequest,
): Promise<DryRunResult> {
  const { account } = imagined.caller;
  const input = { ...imagined, endpoint, idempotency: null };
  for (let tries = 0; ; tries++) {
    const accountContext = await parts.configs.lineage(account);
    try {
      return await foreseeOnce(parts, endpoint, input, accountContext);
    } catch (error) {
      if (!applyFreshProfile(parts.configs, account, error, tries)) throw error;
    }
  }
}

type Input = Omit<AdmissionInput, "id"> & Pick<SampleRequest, "request">;

async function foreseeOnce(
  parts: DryRunParts,
  endpoint: GatewayEndpoint,
  input: Input,
  accountContext: AccountContext,
): Promise<DryRunResult> {
  const { question, routed, found, estimate, size } = await buildAdmissionRequest(
    parts,
    input,
    accountContext,
  );
  const preview = await parts.system.ask(actorRef.account(input.caller.account), "preview", question);
  const { refusal } = preview;
  const steps = routed?.steps ?? [];
  if (found === null || estimate === null || size === null || "refusal" in input.requested) {
    return { refusal, at: null, model: modelOf(routed), steps, candidates: [], preview };
  }
  const { pinnedKey = null } = input;
  const plan =
    pinnedKey === null
      ? await planOf(parts.configs, accountContext, found, endpoint, input.requested.model)
      : { rows: [[{ ...found, view: restrictToKey(pinnedKey.key, found.view) }]], steps: [] };
  const seen = { candidates: plan.rows, preview };
  const held: Held = { route: found, estimate, preview };
  if (refusal !== null) {
    return { ...seen, refusal, at: held, model: found.model, steps: [...steps, ...plan.steps] };
  }
  const went = await follow(parts, endpoint, { input, accountContext, size, held, candidates: plan.rows });
  return {
    ...seen,
    ...went,
    model: went.at.route.model,
    steps: [...steps, ...plan.steps, ...went.steps],
  };
}

const modelOf = (routed: Route | NoRoute | null): string | null => routed?.model ?? null;

interface Setting {
  readonly input: Input;
  readonly accountContext: AccountContext;
  readonly size: RequestSize;
  readonly held: Held;
  readonly candidates: CandidateTable;
}

/** Follows the order of `callProvider` until a candidate has a usable key. */
async function follow(
  parts: DryRunParts,
  endpoint: GatewayEndpoint,
  { input, accountContext, size, held, candidates }: Setting,
): Promise<{ readonly refusal: Refusal | null; readonly at: Held; readonly steps: readonly RoutingStep[] }> {
  const now = parts.clock.wall();
  const walk = createFailoverPlan(candidates);
  const { demands } = size;
  let serves = keySupportFor(endpoint, parts.upstream, true, demands);
  let untranslated: Refusal | null = null;
  const steps: RoutingStep[] = [];
  let at = held;

  async function heldAt(candidate: RouteCandidate): Promise<Held> {
    if (candidate.model === at.route.model) return { ...at, route: { ...at.route, ...candidate } };
    const { question, found, estimate } = questionAt(
      parts,
      input,
      { accountContext, size, route: at.route },
      candidate,
    );
    const preview = await parts.system.ask(actorRef.account(input.caller.account), "preview", question);
    return { route: found, estimate, preview };
  }

  for (;;) {
    const { candidate } = walk;
    const until = candidate.view.switchedUntil;
    const away = until > now && walk.behind.some((other) => readyAt(other, serves, now) !== null);
    const key = away ? null : readyAt(candidate, serves, now);
    if (key !== null) {
      const refused = untranslatable(endpoint, key, candidate.model, input.request);
      if (refused === null) return { refusal: null, at, steps };
      untranslated = refused;
      serves = keySupportFor(endpoint, parts.upstream, false, demands);
      continue;
    }
    let note = away
      ? `Level ${candidate.level} is switched over until ${new Date(until).toISOString()}`
      : `no key of Level ${candidate.level} can be used now`;
    for (let why: FailoverReason = "exhausted"; ; why = "refused") {
      const from = walk.candidate;
      const turn = walk.advance(why);
      if (turn === null) {
        const found = keyAvailability(walk.visited, serves, now);
        if (isLocalTokenCount(endpoint, found)) return { refusal: null, at, steps };
        const told = clientErrorFor(
          [],
          { path: endpoint.path, model: at.route.model, untranslated, demands },
          found,
        );
        if ("rejection" in told) throw new Error("a provider's words without an attempt");
        const refusal = (input.pinnedKey ?? null) === null ? told.refusal : withoutKeyPin(told.refusal);
        return { refusal, at, steps };
      }
      const step = turn === "level" ? "switch_over" : "model_failover";
      steps.push({ step, in: placeOf(from), out: placeOf(walk.candidate), note });
      const anew = await heldAt(walk.candidate);
      if (anew.preview.refusal === null) {
        at = anew;
        break;
      }
      note = `${walk.candidate.model} is refused: ${anew.preview.refusal.code}`;
    }
  }
}

const placeOf = ({ model, level }: RouteCandidate): string => `${model} at ${level}`;

/** Returns a key that could be tried, or null when there is none. */
function readyAt({ view, model }: RouteCandidate, serves: Serves, now: number): LevelKey | null {
  const health = healthOf(view);
  const isReady = (key: LevelKey) =>
    serves(key, model) === "served" && !("until" in usability(key, health?.get(key.id), model, now));
  return view.keys.find(isReady) ?? null;
}

/** Returns why the request cannot be translated into the key's style, or null when it can or need not be. */
function untranslatable(
  endpoint: GatewayEndpoint,
  key: LevelKey,
  model: string,
  request: ModelRequest | undefined,
): Refusal | null {
  const wire = codecFor(endpoint, key, model);
  if (request === undefined || wire === null || !wire.translates) return null;
  const naming = { model, add: {} };
  const opened = wire.open(request, { model, naming, headers: {}, id: "", now: 0, promptTokens: 0 });
  return "refusal" in opened ? opened.refusal : null;
}
