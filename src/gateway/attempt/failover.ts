// Tries provider keys, Levels and models until one answers. `createFailoverPlan` decides the order of
// candidates, `KeyChooser` the key, and `attempt` makes one try. Here every attempt is reported to its Level,
// and a backup model takes the hold again. It charges nothing, and tries nothing after an attempt has
// answered.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../../actors/level/view.ts";
import { atMost } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import { keySupportFor } from "../codec/key-support.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import { withStreamShape } from "../codec/stream-shape.ts";
import type { Admission, RunningRequest } from "../context.ts";
import {
  ATTEMPTS_MAX,
  type CandidateTable,
  createFailoverPlan,
  type FailoverPlan,
  type FailoverReason,
} from "../routing/failover-plan.ts";
import type { RouteCandidate } from "../routing/route.ts";
import { restrictToKey } from "../stored-objects/key-pin.ts";
import { type AttemptAnswer, type AttemptParts, attempt, rowOf } from "./attempt.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Attempted, LevelReporter } from "./level-reports.ts";

/** The services of failover. */
export interface FailoverParts extends AttemptParts {
  readonly configs: Pick<ConfigCache, "level">;
  readonly levelReporter: Pick<LevelReporter, "failed" | "probe">;
  readonly log: Log;
}

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
  /** The `system_fingerprint` to use when the provider sends none. */
  readonly fingerprint: string;
  /** Ends the request's count on the key. */
  readonly done: () => void;
}

/** The result when no attempt answered. */
export interface FailedAttempts {
  readonly ok: false;
  readonly admission: Admission;
  readonly rows: readonly AttemptRow[];
  /** The failure of each attempt, in order. */
  readonly signals: readonly UpstreamFailure[];
  /** The candidates that were reached, in order. */
  readonly visited: readonly RouteCandidate[];
  /**
   * Why the request could not be translated, so that only keys of the client's style were considered; null
   * otherwise.
   */
  readonly untranslated: Refusal | null;
}

/** Milliseconds that an error response waits for the Level to process the last failure report. */
const HEARD_MS_MAX = 100;
/** The longest `retry-after` of a provider, in ms, that is waited for when no other key is left. */
const WAIT_MS_MAX = 2_000;

/**
 * Tries the candidates of a request until one answers or none is left. Reports failures to the Levels, logs
 * them, and takes the hold again for a backup model. Provider failures are returned, not thrown.
 */
export async function callProvider(
  parts: FailoverParts,
  running: RunningRequest,
): Promise<SuccessfulAttempt | FailedAttempts> {
  const { chooser, levelReporter, clock } = parts;
  const { lifetime, request, endpoint } = running;
  const { owner } = running.admission.accountContext;
  const { demands } = running.admission.size;
  let serves = keySupportFor(endpoint, parts.upstream, true, demands);
  let untranslated: Refusal | null = null;
  const tried = new Set<ProviderKeyId>();
  const rows: AttemptRow[] = [];
  const signals: UpstreamFailure[] = [];
  let { admission } = running;
  /** Resolves when the last failure has been processed by its Level. */
  let heard: Promise<void> = Promise.resolve();
  let walk: FailoverPlan = createFailoverPlan([[admission.route]]);
  /** The shortest rest that a provider requested, if it is at most `WAIT_MS_MAX`. */
  let brief: { readonly candidate: RouteCandidate; readonly key: LevelKey; readonly until: number } | null =
    null;
  /** Found only when the first candidate does not answer, since most requests never need them. */
  let candidates: CandidateTable | null = null;

  const viewOf = (candidate: RouteCandidate): LevelView =>
    restrictToKey(running.pinnedKey, parts.configs.level(owner, candidate.level) ?? candidate.view);
  const wishAt = (candidate: RouteCandidate, probing: ReadonlySet<ProviderKeyId> = new Set()) => ({
    model: candidate.model,
    serves,
    now: clock.wall(),
    tried,
    probing,
  });

  /** Returns a key to try at the candidate, for which the right to probe was granted where it is needed. */
  async function keyAt(candidate: RouteCandidate, view: LevelView): Promise<Opening | null> {
    const probing = new Set<ProviderKeyId>();
    for (;;) {
      const choice = chooser.choose(view, wishAt(candidate, probing));
      if (choice === null) return null;
      const { key, probe } = choice;
      const exchange = exchangeWith(candidate, key);
      if (exchange === null) continue;
      if (!probe || (await levelReporter.probe(owner, key))) return { key, exchange };
      probing.add(key.id);
    }
  }

  /**
   * Encodes the request for the key. Returns null when it cannot be translated; from then on only keys of its
   * own style are considered.
   */
  function exchangeWith({ model }: RouteCandidate, key: LevelKey): ProviderExchange | null {
    const wire = codecFor(endpoint, key, model);
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
    serves = keySupportFor(endpoint, parts.upstream, false, demands);
    return null;
  }

  const keyLeft = (candidate: RouteCandidate, view: LevelView): boolean =>
    chooser.choose(view, wishAt(candidate)) !== null;

  /** Returns whether the Level is switched over and a later candidate of its row has a key left. */
  async function switchedOver(view: LevelView): Promise<boolean> {
    if (view.switchedUntil <= clock.wall()) return false;
    await plan();
    return walk.behind.some((other) => keyLeft(other, viewOf(other)));
  }

  async function plan(): Promise<void> {
    if (candidates !== null) return;
    candidates = await running.candidates(admission);
    walk = createFailoverPlan(candidates, walk.made);
  }

  async function tryKey(
    candidate: RouteCandidate,
    { key, exchange }: Opening,
    view: LevelView,
  ): Promise<SuccessfulAttempt | UpstreamFailure> {
    const sinceMs = clock.mono();
    const attempted: Attempted = { owner, key, view, model: candidate.model, startedAt: clock.wall() };
    const abort = lifetime.newAttempt();
    const fingerprint = fingerprintOf(admission, key);
    tried.add(key.id);
    walk.count();
    const result = await attempt(
      parts,
      key,
      {
        exchange,
        answers: endpoint.answers,
        request,
        model: candidate.model,
        requestId: running.requestId,
        fingerprint,
      },
      abort,
    );
    if (result.ok) return { ...result, admission, attempted, exchange, rows, abort, sinceMs, fingerprint };
    const signal = exchange.translateFailure(result.signal);
    const row = rowOf(key, candidate.model, signal, clock.mono() - sinceMs);
    rows.push(row);
    signals.push(signal);
    heard = levelReporter.failed(attempted, signal);
    parts.log("warn", "attempt_failed", { requestId: running.requestId, ...row, note: signal.note });
    const until = clock.mono() + (shortWait(signal) ?? Number.POSITIVE_INFINITY);
    if (until < (brief?.until ?? Number.POSITIVE_INFINITY)) brief = { candidate, key, until };
    return signal;
  }

  /**
   * Moves hold and route to the candidate. Returns false when the account refuses, and then nothing has
   * changed.
   */
  async function goTo(candidate: RouteCandidate): Promise<boolean> {
    const { route } = admission;
    const anew =
      candidate.model === route.model
        ? { ...admission, route: { ...route, ...candidate } }
        : await running.retake(admission, candidate);
    if (anew === null) return false;
    admission = anew;
    return true;
  }

  /** Moves to the next candidate. Returns false when there is none. */
  async function moveOn(why: FailoverReason): Promise<boolean> {
    await plan();
    for (let reason = why; ; reason = "refused") {
      const turn = walk.advance(reason);
      if (turn === null) return false;
      // A key that failed for one model may work for another.
      if (turn === "model") tried.clear();
      if (await goTo(walk.candidate)) return true;
    }
  }

  /**
   * Waits for the shortest rest and tries its key once more. Returns null when there is nothing to wait for
   * or that fails.
   */
  async function tryAgain(): Promise<SuccessfulAttempt | null> {
    if (brief === null || walk.made === ATTEMPTS_MAX) return null;
    const { candidate, key, until } = brief;
    await lifetime.sleep(Math.max(0, until - clock.mono()));
    if (lifetime.ended !== null || !(await goTo(candidate))) return null;
    const exchange = exchangeWith(candidate, key);
    if (exchange === null) return null;
    const result = await tryKey(candidate, { key, exchange }, viewOf(candidate));
    return "ok" in result ? result : null;
  }

  /**
   * Returns whether no other key would help: the request has ended, its content was refused, or a second
   * conflict occurred.
   */
  const final = (signal: UpstreamFailure): boolean =>
    lifetime.ended !== null ||
    !FAILURE_RULES[signal.name].over ||
    (signal.name === "conflict" && signals.filter((one) => one.name === "conflict").length > 1);

  for (;;) {
    const { candidate } = walk;
    const view = viewOf(candidate);
    const away = await switchedOver(view);
    const opening = !away && walk.mayTry() ? await keyAt(candidate, view) : null;
    if (opening !== null) {
      const result = await tryKey(candidate, opening, view);
      if ("ok" in result) return result;
      if (final(result)) break;
    } else if (!(await moveOn(away || !keyLeft(candidate, view) ? "exhausted" : "tries"))) {
      const sent = await tryAgain();
      if (sent !== null) return sent;
      break;
    }
  }
  // The client's error depends on the keys' new state: how long they sleep, and whether all of them rest.
  await atMost(clock, HEARD_MS_MAX, heard);
  return { ok: false, admission, rows, signals, visited: walk.visited, untranslated };
}

/** A key and the request encoded for it. */
interface Opening {
  readonly key: LevelKey;
  readonly exchange: ProviderExchange;
}

/**
 * Returns the ms that a rate-limited provider asks to wait, or null when it asks for none or for too long.
 */
function shortWait(signal: UpstreamFailure): number | null {
  const waitMs = signal.name === "rate_limited" ? signal.retryAfterMs : undefined;
  return waitMs !== undefined && waitMs <= WAIT_MS_MAX ? waitMs : null;
}
