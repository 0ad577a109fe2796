// The way of a request through keys, Levels and models until one of them answers. Where it goes is failover-plan.ts, which key
// key-chooser.ts, one try attempt.ts; here they meet, every attempt is reported to its Level, and a backup model takes the hold
// anew. Nothing here charges, and once an attempt has answered nothing is tried again.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../../actors/level/view.ts";
import { atMost } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { Admission } from "../admission/admission.ts";
import { keySupportFor } from "../codec/key-support.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import { withStreamShape } from "../codec/stream-shape.ts";
import type { GatewayParts, RunningRequest } from "../context.ts";
import {
  ATTEMPTS_MAX,
  type CandidateTable,
  createFailoverPlan,
  type FailoverPlan,
  type FailoverReason,
} from "../routing/failover-plan.ts";
import type { RouteCandidate } from "../routing/route.ts";
import { restrictToKey } from "../stored-objects/key-pin.ts";
import { type AttemptAnswer, attempt, rowOf } from "./attempt.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Attempted } from "./level-reports.ts";

/** An attempt that answered, with all that is needed to charge and explain it. */
export interface SuccessfulAttempt {
  readonly ok: true;
  readonly admission: Admission;
  readonly attempted: Attempted;
  readonly exchange: ProviderExchange;
  readonly opened: AttemptAnswer;
  readonly status: number;
  /** Attempts that failed before this one. */
  readonly rows: readonly AttemptRow[];
  readonly abort: AbortController;
  /** Monotonic ms at which the attempt began. */
  readonly sinceMs: number;
  /** What stands in for a `system_fingerprint` that the provider did not send. */
  readonly fingerprint: string;
  readonly done: () => void;
}

/** Nobody answered. */
export interface FailedAttempts {
  readonly ok: false;
  readonly admission: Admission;
  readonly rows: readonly AttemptRow[];
  /** What each attempt met, in order. */
  readonly signals: readonly UpstreamFailure[];
  readonly visited: readonly RouteCandidate[];
  /** Why only keys of the client's own style came into question; null: all did. */
  readonly untranslated: Refusal | null;
}

/** So long an error answer waits for the Level to have its say. */
const HEARD_MOST_MS = 100;
/** A provider's wait that is worth waiting for when there is nobody else. */
const WAIT_MOST_MS = 2_000;

export async function callProvider(
  parts: GatewayParts,
  running: RunningRequest,
): Promise<SuccessfulAttempt | FailedAttempts> {
  const { chooser, reports, clock } = parts;
  const { leash, request, surface } = running;
  const { owner } = running.admission.lineage;
  const { demands } = running.admission.size;
  let serves = keySupportFor(surface, parts.upstream, true, demands);
  let untranslated: Refusal | null = null;
  const tried = new Set<ProviderKeyId>();
  const rows: AttemptRow[] = [];
  const signals: UpstreamFailure[] = [];
  let { admission } = running;
  /** The last failure has come to its Level. */
  let heard: Promise<void> = Promise.resolve();
  let walk: FailoverPlan = createFailoverPlan([[admission.route]]);
  /** The soonest rest that a provider asked for, if it is worth waiting for. */
  let brief: { readonly leg: RouteCandidate; readonly key: LevelKey; readonly until: number } | null = null;
  /** The other legs are looked for when the first one does not answer: most requests never need them. */
  let legs: CandidateTable | null = null;

  const viewOf = (leg: RouteCandidate): LevelView =>
    restrictToKey(running.keeper, parts.replicas.level(owner, leg.level) ?? leg.view);
  const wishAt = (leg: RouteCandidate, probing: ReadonlySet<ProviderKeyId> = new Set()) => ({
    model: leg.model,
    serves,
    now: clock.wall(),
    tried,
    probing,
  });

  /** A key to try at the leg, with the right to probe it where it needs one. */
  async function keyAt(leg: RouteCandidate, view: LevelView): Promise<Opening | null> {
    const probing = new Set<ProviderKeyId>();
    for (;;) {
      const choice = chooser.choose(view, wishAt(leg, probing));
      if (choice === null) return null;
      const { key, probe } = choice;
      const exchange = exchangeWith(leg, key);
      if (exchange === null) continue;
      if (!probe || (await reports.probe(owner, key))) return { key, exchange };
      probing.add(key.id);
    }
  }

  /** The request in the key's words. Null: it cannot be put into them, and from now on only keys of its own style serve it. */
  function exchangeWith({ model }: RouteCandidate, key: LevelKey): ProviderExchange | null {
    const wire = codecFor(surface, key, model);
    if (wire === null) throw new Error("a key was chosen that does not serve the path");
    const { provider, config } = key;
    const destination = { provider, config, path: wire.path, model, stream: request.stream };
    const opened = wire.open(request, {
      model,
      naming: parts.upstream.naming(destination),
      headers: running.forwarded,
      id: running.id,
      now: clock.wall(),
      promptTokens: admission.size.promptTokens,
    });
    if (!("refusal" in opened)) return withStreamShape(opened, running.shape, admission.size.promptTokens);
    untranslated = opened.refusal;
    serves = keySupportFor(surface, parts.upstream, false, demands);
    return null;
  }

  const keyLeft = (leg: RouteCandidate, view: LevelView): boolean =>
    chooser.choose(view, wishAt(leg)) !== null;

  /** Its backup is used while a Level is switched over, unless nobody there could answer. */
  async function switchedOver(view: LevelView): Promise<boolean> {
    if (view.switchedUntil <= clock.wall()) return false;
    await plan();
    return walk.behind.some((other) => keyLeft(other, viewOf(other)));
  }

  async function plan(): Promise<void> {
    if (legs !== null) return;
    legs = await running.legs(admission);
    walk = createFailoverPlan(legs, walk.made);
  }

  async function tryKey(
    leg: RouteCandidate,
    { key, exchange }: Opening,
    view: LevelView,
  ): Promise<SuccessfulAttempt | UpstreamFailure> {
    const sinceMs = clock.mono();
    const attempted: Attempted = { owner, key, view, model: leg.model, startedAt: clock.wall() };
    const abort = leash.newAttempt();
    const fingerprint = fingerprintOf(admission, key);
    tried.add(key.id);
    walk.count();
    const result = await attempt(
      parts,
      key,
      {
        exchange,
        answers: surface.answers,
        request,
        model: leg.model,
        requestId: running.requestId,
        fingerprint,
      },
      abort,
    );
    if (result.ok) return { ...result, admission, attempted, exchange, rows, abort, sinceMs, fingerprint };
    const signal = exchange.translateFailure(result.signal);
    const row = rowOf(key, leg.model, signal, clock.mono() - sinceMs);
    rows.push(row);
    signals.push(signal);
    heard = reports.failed(attempted, signal);
    parts.log("warn", "attempt_failed", { requestId: running.requestId, ...row, note: signal.note });
    const until = clock.mono() + (shortWait(signal) ?? Number.POSITIVE_INFINITY);
    if (until < (brief?.until ?? Number.POSITIVE_INFINITY)) brief = { leg, key, until };
    return signal;
  }

  /** Makes the leg the one that is held and charged for; false: the account may not use it, and all stays as it was. */
  async function goTo(leg: RouteCandidate): Promise<boolean> {
    const { route } = admission;
    const anew =
      leg.model === route.model
        ? { ...admission, route: { ...route, ...leg } }
        : await running.retake(admission, leg);
    if (anew === null) return false;
    admission = anew;
    return true;
  }

  /** Goes to the next leg; false: there is none. */
  async function moveOn(why: FailoverReason): Promise<boolean> {
    await plan();
    for (let reason = why; ; reason = "refused") {
      const turn = walk.advance(reason);
      if (turn === null) return false;
      // What a key said of one model it need not say of another.
      if (turn === "model") tried.clear();
      if (await goTo(walk.leg)) return true;
    }
  }

  /** Waits for the shortest rest and tries its key once more; null: nothing is worth waiting for, or that failed too. */
  async function tryAgain(): Promise<SuccessfulAttempt | null> {
    if (brief === null || walk.made === ATTEMPTS_MAX) return null;
    const { leg, key, until } = brief;
    await leash.sleep(Math.max(0, until - clock.mono()));
    if (leash.ended !== null || !(await goTo(leg))) return null;
    const exchange = exchangeWith(leg, key);
    if (exchange === null) return null;
    const result = await tryKey(leg, { key, exchange }, viewOf(leg));
    return "ok" in result ? result : null;
  }

  /** The request has ended, its content was refused, or a conflict met a second one: no other key would help. */
  const final = (signal: UpstreamFailure): boolean =>
    leash.ended !== null ||
    !FAILURE_RULES[signal.name].over ||
    (signal.name === "conflict" && signals.filter((one) => one.name === "conflict").length > 1);

  for (;;) {
    const { leg } = walk;
    const view = viewOf(leg);
    const away = await switchedOver(view);
    const opening = !away && walk.mayTry() ? await keyAt(leg, view) : null;
    if (opening !== null) {
      const result = await tryKey(leg, opening, view);
      if ("ok" in result) return result;
      if (final(result)) break;
    } else if (!(await moveOn(away || !keyLeft(leg, view) ? "exhausted" : "tries"))) {
      const sent = await tryAgain();
      if (sent !== null) return sent;
      break;
    }
  }
  // What the client is told depends on what became of the keys: how long they sleep, whether all of them rest.
  await atMost(clock, HEARD_MOST_MS, heard);
  return { ok: false, admission, rows, signals, visited: walk.visited, untranslated };
}

/** A key, and the request in its words. */
interface Opening {
  readonly key: LevelKey;
  readonly exchange: ProviderExchange;
}

/** The wait that a limited provider asks for; null: it asks for none, or for too long a one. */
function shortWait(signal: UpstreamFailure): number | null {
  const waitMs = signal.name === "rate_limited" ? signal.retryAfterMs : undefined;
  return waitMs !== undefined && waitMs <= WAIT_MOST_MS ? waitMs : null;
}
