// What would happen to a request, by the very functions that decide it: the route, the worst case, the account's answer,
// and the first place where a key could take it. Nothing is taken and nothing is sent. Quotes and explanations are written
// from it.

import type { Preview } from "../../../actors/account/admit-dry-run.ts";
import { to } from "../../../actors/index.ts";
import { healthOf, type LevelKey, usability } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import type { Refusal } from "../../runtime/actor.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { Lineage } from "../account/config-cache.ts";
import {
  type AdmissionInput,
  planOf,
  questionAt,
  questionFor,
  type RoutingParts,
  renewed,
} from "../admission/admission.ts";
import { isCountedHere } from "../answer/local-token-count.ts";
import { failure, outlook } from "../attempt/client-error.ts";
import { type Serves, servingAt } from "../codec/key-support.ts";
import { wireFor } from "../codec/native-codec.ts";
import type { Surface } from "../endpoints.ts";
import type { Size, Worst } from "../metering/hold-estimate.ts";
import { createWalk, type Legs, type Why } from "../routing/failover-plan.ts";
import type { Leg, NoRoute, Route, Step } from "../routing/route.ts";
import { seenBy, withoutKeeper } from "../stored-objects/key-pin.ts";

/** A request as it would be held, at one of its legs. */
interface Held {
  readonly route: Route;
  readonly worst: Worst;
  readonly preview: Preview;
}

export interface Foreseen {
  /** Why it would be refused, or answered with an error before any attempt; null: it would be tried. */
  readonly refusal: Refusal | null;
  /** Where it would be tried first, or where it would be held last; null: it is not routed at all. */
  readonly at: Held | null;
  /** As far as it was mapped; null: the request itself was at fault. */
  readonly model: string | null;
  readonly steps: readonly Step[];
  /** Everywhere it may go, its route first. */
  readonly legs: Legs;
  /** Of its route, before it went anywhere else. */
  readonly preview: Preview;
}

export interface ForeseeParts extends RoutingParts {
  readonly clock: Clock;
  readonly upstream: Pick<Upstream, "address">;
}

/** A request that nobody has made. */
export interface Imagined extends Pick<AdmissionInput, "caller" | "ip" | "asked" | "keeper"> {
  /** Absent: any that asks for the model. */
  readonly request?: ModelRequest;
}

/** Throws Refused only when the account is not there. */
export async function foresee(parts: ForeseeParts, surface: Surface, imagined: Imagined): Promise<Foreseen> {
  const { account } = imagined.caller;
  const input = { ...imagined, surface, idempotency: null };
  for (let tries = 0; ; tries++) {
    const lineage = await parts.replicas.lineage(account);
    try {
      return await foreseeOnce(parts, surface, input, lineage);
    } catch (error) {
      if (!renewed(parts.replicas, account, error, tries)) throw error;
    }
  }
}

type Input = Omit<AdmissionInput, "id"> & Pick<Imagined, "request">;

async function foreseeOnce(
  parts: ForeseeParts,
  surface: Surface,
  input: Input,
  lineage: Lineage,
): Promise<Foreseen> {
  const { question, routed, found, worst, size } = await questionFor(parts, input, lineage);
  const preview = await parts.system.ask(to.account(input.caller.account), "preview", question);
  const { refusal } = preview;
  const steps = routed?.steps ?? [];
  if (found === null || worst === null || size === null || "refusal" in input.asked) {
    return { refusal, at: null, model: modelOf(routed), steps, legs: [], preview };
  }
  const { keeper = null } = input;
  const plan =
    keeper === null
      ? await planOf(parts.replicas, lineage, found, surface, input.asked.model)
      : { rows: [[{ ...found, view: seenBy(keeper.key, found.view) }]], steps: [] };
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
  readonly lineage: Lineage;
  readonly size: Size;
  readonly held: Held;
  readonly legs: Legs;
}

/** Goes where attempt/failover.ts would go until a key is there to try. */
async function follow(
  parts: ForeseeParts,
  surface: Surface,
  { input, lineage, size, held, legs }: Setting,
): Promise<{ readonly refusal: Refusal | null; readonly at: Held; readonly steps: readonly Step[] }> {
  const now = parts.clock.wall();
  const walk = createWalk(legs);
  const { demands } = size;
  let serves = servingAt(surface, parts.upstream, true, demands);
  let untranslated: Refusal | null = null;
  const steps: Step[] = [];
  let at = held;

  async function heldAt(leg: Leg): Promise<Held> {
    if (leg.model === at.route.model) return { ...at, route: { ...at.route, ...leg } };
    const { question, found, worst } = questionAt(parts, input, { lineage, size, route: at.route }, leg);
    const preview = await parts.system.ask(to.account(input.caller.account), "preview", question);
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
      serves = servingAt(surface, parts.upstream, false, demands);
      continue;
    }
    let note = away
      ? `Level ${leg.level} is switched over until ${new Date(until).toISOString()}`
      : `no key of Level ${leg.level} can be used now`;
    for (let why: Why = "exhausted"; ; why = "refused") {
      const from = walk.leg;
      const turn = walk.advance(why);
      if (turn === null) {
        const found = outlook(walk.visited, serves, now);
        if (isCountedHere(surface, found)) return { refusal: null, at, steps };
        const told = failure([], { path: surface.path, model: at.route.model, untranslated, demands }, found);
        if ("rejection" in told) throw new Error("a provider's words without an attempt");
        const refusal = (input.keeper ?? null) === null ? told.refusal : withoutKeeper(told.refusal);
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

const placeOf = ({ model, level }: Leg): string => `${model} at ${level}`;

/** A key that could be tried; null: there is none. */
function readyAt({ view, model }: Leg, serves: Serves, now: number): LevelKey | null {
  const health = healthOf(view);
  const isReady = (key: LevelKey) =>
    serves(key, model) === "served" && !("until" in usability(key, health?.get(key.id), model, now));
  return view.keys.find(isReady) ?? null;
}

/** Why the request cannot be put into the key's style; null: it can, or need not. */
function untranslatable(
  surface: Surface,
  key: LevelKey,
  model: string,
  request: ModelRequest | undefined,
): Refusal | null {
  const wire = wireFor(surface, key, model);
  if (request === undefined || wire === null || !wire.translates) return null;
  const naming = { model, add: {} };
  const opened = wire.open(request, { model, naming, headers: {}, id: "", now: 0, promptTokens: 0 });
  return "refusal" in opened ? opened.refusal : null;
}
