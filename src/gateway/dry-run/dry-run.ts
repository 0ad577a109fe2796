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
  readonly worst: HoldEstimate;
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
  readonly legs: CandidateTable;
  /** The account's answer for the route, before any failover. */
  readonly preview: AdmitDryRun;
}

/** The services that a dry run reads. */
export interface DryRunParts extends RoutingParts {
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, "address">;
}

/** A request that no client has sent. */
export interface SampleRequest extends Pick<AdmissionInput, "caller" | "ip" | "asked" | "keeper"> {
  /** The parsed request; omitted when any request for the model is meant. */
  readonly request?: ModelRequest;
}

/** Returns what would happen to a request. Throws `RefusedError` only when the account does not exist. */
export async function dryRun(
  parts: DryRunParts,
  surface: GatewayEndpoint,
  imagined: SampleRequest,
): Promise<DryRunResult> {
  const { account } = imagined.caller;
  const input = { ...imagined, surface, idempotency: null };
  for (let tries = 0; ; tries++) {
    const lineage = await parts.replicas.lineage(account);
    try {
      return await foreseeOnce(parts, surface, input, lineage);
    } catch (error) {
      if (!applyFreshProfile(parts.replicas, account, error, tries)) throw error;
    }
  }
}

type Input = Omit<AdmissionInput, "id"> & Pick<SampleRequest, "request">;

async function foreseeOnce(
  parts: DryRunParts,
  surface: GatewayEndpoint,
  input: Input,
  lineage: AccountContext,
): Promise<DryRunResult> {
  const { question, routed, found, worst, size } = await buildAdmissionRequest(parts, input, lineage);
  const preview = await parts.system.ask(actorRef.account(input.caller.account), "preview", question);
  const { refusal } = preview;
  const steps = routed?.steps ?? [];
  if (found === null || worst === null || size === null || "refusal" in input.asked) {
    return { refusal, at: null, model: modelOf(routed), steps, legs: [], preview };
  }
  const { keeper = null } = input;
  const plan =
    keeper === null
      ? await planOf(parts.replicas, lineage, found, surface, input.asked.model)
      : { rows: [[{ ...found, view: restrictToKey(keeper.key, found.view) }]], steps: [] };
  const seen = { legs: plan.rows, preview };
  const held: Held = { route: found, worst, preview };
  if (refusal !== null) {
    return { ...seen, refusal, at: held, model: found.model, steps: [...steps, ...plan.steps] };
  }
  const went = await follow(parts, surface, { input, lineage, size, held, legs: plan.rows });
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
  readonly lineage: AccountContext;
  readonly size: RequestSize;
  readonly held: Held;
  readonly legs: CandidateTable;
}

/** Follows the order of `callProvider` until a candidate has a usable key. */
async function follow(
  parts: DryRunParts,
  surface: GatewayEndpoint,
  { input, lineage, size, held, legs }: Setting,
): Promise<{ readonly refusal: Refusal | null; readonly at: Held; readonly steps: readonly RoutingStep[] }> {
  const now = parts.clock.wall();
  const walk = createFailoverPlan(legs);
  const { demands } = size;
  let serves = keySupportFor(surface, parts.upstream, true, demands);
  let untranslated: Refusal | null = null;
  const steps: RoutingStep[] = [];
  let at = held;

  async function heldAt(leg: RouteCandidate): Promise<Held> {
    if (leg.model === at.route.model) return { ...at, route: { ...at.route, ...leg } };
    const { question, found, worst } = questionAt(parts, input, { lineage, size, route: at.route }, leg);
    const preview = await parts.system.ask(actorRef.account(input.caller.account), "preview", question);
    return { route: found, worst, preview };
  }

  for (;;) {
    const { leg } = walk;
    const until = leg.view.switchedUntil;
    const away = until > now && walk.behind.some((other) => readyAt(other, serves, now) !== null);
    const key = away ? null : readyAt(leg, serves, now);
    if (key !== null) {
      const refused = untranslatable(surface, key, leg.model, input.request);
      if (refused === null) return { refusal: null, at, steps };
      untranslated = refused;
      serves = keySupportFor(surface, parts.upstream, false, demands);
      continue;
    }
    let note = away
      ? `Level ${leg.level} is switched over until ${new Date(until).toISOString()}`
      : `no key of Level ${leg.level} can be used now`;
    for (let why: FailoverReason = "exhausted"; ; why = "refused") {
      const from = walk.leg;
      const turn = walk.advance(why);
      if (turn === null) {
        const found = keyAvailability(walk.visited, serves, now);
        if (isLocalTokenCount(surface, found)) return { refusal: null, at, steps };
        const told = clientErrorFor(
          [],
          { path: surface.path, model: at.route.model, untranslated, demands },
          found,
        );
        if ("rejection" in told) throw new Error("a provider's words without an attempt");
        const refusal = (input.keeper ?? null) === null ? told.refusal : withoutKeyPin(told.refusal);
        return { refusal, at, steps };
      }
      const step = turn === "level" ? "switch_over" : "model_failover";
      steps.push({ step, in: placeOf(from), out: placeOf(walk.leg), note });
      const anew = await heldAt(walk.leg);
      if (anew.preview.refusal === null) {
        at = anew;
        break;
      }
      note = `${walk.leg.model} is refused: ${anew.preview.refusal.code}`;
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
  surface: GatewayEndpoint,
  key: LevelKey,
  model: string,
  request: ModelRequest | undefined,
): Refusal | null {
  const wire = codecFor(surface, key, model);
  if (request === undefined || wire === null || !wire.translates) return null;
  const naming = { model, add: {} };
  const opened = wire.open(request, { model, naming, headers: {}, id: "", now: 0, promptTokens: 0 });
  return "refusal" in opened ? opened.refusal : null;
}
