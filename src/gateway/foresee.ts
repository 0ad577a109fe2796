// What would happen to a request, by the very functions that decide it: the route, the worst case, the account's answer,
// and the first place where a key could take it. Nothing is taken and nothing is sent. Quotes and explanations are written
// from it.

import type { Preview } from "../../actors/account/preview.ts";
import { to } from "../../actors/index.ts";
import { healthOf, usability } from "../../actors/level/view.ts";
import type { Refusal } from "../runtime/actor.ts";
import type { Clock } from "../runtime/clock.ts";
import {
  type AdmissionInput,
  planOf,
  questionAt,
  questionFor,
  type RoutingParts,
  renewed,
} from "./admission.ts";
import { failure, outlook } from "./failure.ts";
import type { Size, Worst } from "./hold.ts";
import type { Lineage } from "./replicas.ts";
import type { Leg, NoRoute, Route, Step } from "./route.ts";
import { type Style, stylesOf } from "./styles.ts";
import type { Surface } from "./surfaces.ts";
import { createWalk, type Legs, type Why } from "./walk.ts";

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
}

/** A request that nobody has made. */
export type Imagined = Pick<AdmissionInput, "caller" | "ip" | "asked">;

/** Throws Refused only when the account is not there. */
export async function foresee(parts: ForeseeParts, surface: Surface, imagined: Imagined): Promise<Foreseen> {
  const { account } = imagined.caller;
  const input = {
    ...imagined,
    path: surface.path,
    free: surface.meter === "free",
    idempotency: null,
  };
  for (let tries = 0; ; tries++) {
    const lineage = await parts.replicas.lineage(account);
    try {
      return await foreseeOnce(parts, surface.dialect.name, input, lineage);
    } catch (error) {
      if (!renewed(parts.replicas, account, error, tries)) throw error;
    }
  }
}

type Input = Omit<AdmissionInput, "id">;

async function foreseeOnce(
  parts: ForeseeParts,
  style: Style,
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
  const plan = await planOf(parts.replicas, lineage, found, input.path, input.asked.model);
  const seen = { legs: plan.rows, preview };
  const held: Held = { route: found, worst, preview };
  if (refusal !== null) {
    return { ...seen, refusal, at: held, model: found.model, steps: [...steps, ...plan.steps] };
  }
  const went = await follow(parts, style, { input, lineage, size, held, legs: plan.rows });
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

/** Goes where forward.ts would go until a key is there to try. */
async function follow(
  parts: ForeseeParts,
  style: Style,
  { input, lineage, size, held, legs }: Setting,
): Promise<{ readonly refusal: Refusal | null; readonly at: Held; readonly steps: readonly Step[] }> {
  const now = parts.clock.wall();
  const walk = createWalk(legs);
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
    const away = until > now && walk.behind.some((other) => isReady(other, style, now));
    if (!away && isReady(leg, style, now)) return { refusal: null, at, steps };
    let note = away
      ? `Level ${leg.level} is switched over until ${new Date(until).toISOString()}`
      : `no key of Level ${leg.level} can be used now`;
    for (let why: Why = "exhausted"; ; why = "refused") {
      const from = walk.leg;
      const turn = walk.advance(why);
      if (turn === null) {
        const told = failure([], at.route.model, outlook(walk.visited, style, now), style);
        if ("rejection" in told) throw new Error("a provider's words without an attempt");
        return { refusal: told.refusal, at, steps };
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

/** Is there a key that could be tried? */
function isReady({ view, model }: Leg, style: Style, now: number): boolean {
  const health = healthOf(view);
  return view.keys.some(
    (key) => stylesOf(key, model).has(style) && !("until" in usability(key, health?.get(key.id), model, now)),
  );
}
