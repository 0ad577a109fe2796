// Tries provider keys, Levels and models until one answers. `FailoverWalk` has the order of candidates,
// `OpeningWalk` finds the key, and `attempt` makes one try. Here the keys that failed are remembered, and a backup model
// takes the hold again. It charges nothing, and tries nothing after an attempt has answered.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../../actors/level/view.ts";
import { atMost } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { HoldingParts } from "../admission/admission.ts";
import { retakeHold } from "../admission/retake-hold.ts";
import { mayLackPath, modelAtPath } from "../codec/key-formats.ts";
import { type AdmittedContext, type AnsweredContext, NO_ATTEMPTS } from "../context.ts";
import { ATTEMPTS_MAX } from "../routing/failover-plan.ts";
import type { RouteCandidate } from "../routing/route.ts";
import { type AttemptParts, attempt, type FailedAttempt } from "./attempt.ts";
import type { Move, Visit } from "./failover-walk.ts";
import { type KeyChooser, NO_KEYS } from "./key-chooser.ts";
import type { LevelReporter } from "./level-reports.ts";
import { type OpenedKey, type OpeningParts, OpeningWalk } from "./opening-walk.ts";
import { systemFingerprint } from "./system-fingerprint.ts";

/** The services of failover. */
export interface FailoverParts extends AttemptParts, HoldingParts, OpeningParts {
  readonly chooser: KeyChooser;
  readonly levelReporter: LevelReporter;
  readonly log: Log;
  readonly limits: AttemptParts["limits"] & HoldingParts["limits"];
  readonly upstream: Upstream;
}

/** The result when no attempt answered. */
export interface FailedAttempts {
  readonly attempts: readonly AttemptRow[];
  /** The failure of each attempt, in order. */
  readonly failures: readonly UpstreamFailure[];
  /** The candidates that were reached, in order. */
  readonly visited: readonly RouteCandidate[];
  /**
   * Why the request could not be translated, so that only keys of the client's style were considered; null
   * otherwise.
   */
  readonly untranslated: Refusal | null;
}

/** Milliseconds that an error response waits for the Level to process the last failure report. */
const REPORTED_MS_MAX = 100;
/** The longest `retry-after` of a provider, in ms, that is waited for when no other key is left. */
const WAIT_MS_MAX = 2_000;

/**
 * Tries the candidates of a request until one answers or none is left. Reports failures to the Levels, logs
 * them, and takes the hold again for a backup model. Provider failures are returned, not thrown.
 */
export const callProvider = (
  parts: FailoverParts,
  context: AdmittedContext,
): Promise<AnsweredContext | FailedAttempts> => new ProviderCall(parts, context).run();

const NO_FAILURES: readonly UpstreamFailure[] = [];

/** The walk of one request that sends attempts. */
class ProviderCall extends OpeningWalk<FailoverParts, AnsweredContext, FailedAttempts> {
  private attempts = NO_ATTEMPTS;
  private failures = NO_FAILURES;
  /** Resolves when the last failure has been processed by its Level; null before the first. */
  private reported: Promise<void> | null = null;
  /** The last key that was asked without the encrypted reasoning of the request, which it could not read. */
  private askedWithout: ProviderKeyId | null = null;
  /** The shortest rest that a provider requested, if it is at most `WAIT_MS_MAX`. */
  private brief: {
    readonly candidate: RouteCandidate;
    readonly key: LevelKey;
    readonly until: number;
  } | null = null;

  protected async failure(): Promise<FailedAttempts> {
    const { attempts, failures, visited, untranslated } = this;
    // The client's error depends on the keys' new state: how long they sleep, and whether all of them rest.
    if (this.reported !== null) await atMost(this.parts.clock, REPORTED_MS_MAX, this.reported);
    return { attempts, failures, visited, untranslated };
  }

  protected visit(
    candidate: RouteCandidate,
    view: LevelView,
  ): Visit<AnsweredContext> | Promise<Visit<AnsweredContext>> {
    const opening = this.openingAt(candidate, view, NO_KEYS);
    if (opening === null) return "no_key";
    if (!(opening instanceof Promise)) return this.tryKey(candidate, opening, view);
    return opening.then((found) => (found === null ? "no_key" : this.tryKey(candidate, found, view)));
  }

  protected async moveTo({ to, step }: Move): Promise<boolean> {
    // A key that failed for one model may work for another.
    if (step === "model") this.tried = null;
    return retakeHold(this.parts, this.context, to);
  }

  /** Waits for the shortest rest and tries its key once more. */
  protected async lastResort(): Promise<AnsweredContext | null> {
    if (this.brief === null || this.plan.made === ATTEMPTS_MAX) return null;
    const { candidate, key, until } = this.brief;
    const { lifetime } = this.context;
    await lifetime.sleep(until - this.parts.clock.mono());
    if (lifetime.ended !== null || !(await retakeHold(this.parts, this.context, candidate))) return null;
    const encoding = this.encode(candidate, key);
    const exchange = encoding instanceof Promise ? await encoding : encoding;
    if (exchange === null) return null;
    const visit = await this.tryKey(candidate, { key, exchange }, this.viewOf(candidate));
    return typeof visit === "object" ? visit.answer : null;
  }

  private tryKey(
    candidate: RouteCandidate,
    opening: OpenedKey,
    view: LevelView,
  ): Promise<Visit<AnsweredContext>> {
    this.plan.count();
    return this.send(candidate, opening, view);
  }

  private async send(
    candidate: RouteCandidate,
    { key, exchange }: OpenedKey,
    view: LevelView,
  ): Promise<Visit<AnsweredContext>> {
    const { clock, levelReporter } = this.parts;
    const { admission, endpoint, request, requestId, lifetime, pinnedKey, trace } = this.context;
    const { account, config } = admission.accountContext;
    const { switchOver } = config.config;
    const { model } = candidate;
    const result = await attempt(this.parts, {
      attempted: {
        owner: account.owner,
        key,
        view,
        model,
        modelAtPath: modelAtPath(endpoint.path, model),
        startedAt: clock.wall(),
        switchOver,
      },
      exchange,
      answers: endpoint.answers,
      request,
      requestId,
      fingerprint: systemFingerprint(admission.route, key.provider),
      abort: lifetime.newAttempt(),
      reporter: levelReporter,
      trace,
      mayLackPath: pinnedKey === null && mayLackPath(exchange.path, key),
    });
    if ("body" in result) {
      this.noteAnswer(candidate, key, view);
      return { answer: this.context.answered(this.attempts, result) };
    }
    const visit = this.noteFailure(candidate, key, result);
    if (visit === "final") return visit;
    const { name } = result.failure;
    if (name === "path_missing") return this.tryTranslated(candidate, key, view);
    return name === "foreign_reasoning"
      ? this.tryWithoutReasoning(candidate, { key, exchange }, view)
      : visit;
  }

  /** Tries a key again whose host turned out to lack the client's path, with the request translated. */
  private async tryTranslated(
    candidate: RouteCandidate,
    key: LevelKey,
    view: LevelView,
  ): Promise<Visit<AnsweredContext>> {
    const exchange = await this.encode(candidate, key);
    if (exchange === null || exchange.path === this.context.endpoint.path) return "failed";
    this.tried?.delete(key.id);
    return this.send(candidate, { key, exchange }, view);
  }

  /**
   * Tries a key again that cannot read the encrypted reasoning of the request, because a key of another organization has
   * answered before: without it, once. No other key is asked when that is refused too.
   */
  private async tryWithoutReasoning(
    candidate: RouteCandidate,
    { key, exchange: refused }: OpenedKey,
    view: LevelView,
  ): Promise<Visit<AnsweredContext>> {
    const { path, dialect } = this.context.endpoint;
    const canDrop = dialect.withoutReasoning !== undefined && refused.path === path;
    if (!canDrop || this.askedWithout === key.id || this.plan.made >= ATTEMPTS_MAX) return "final";
    this.askedWithout = key.id;
    const exchange = await this.encode(candidate, key, true);
    if (exchange === null) return "failed";
    this.tried?.delete(key.id);
    return this.tryKey(candidate, { key, exchange }, view);
  }

  /** Remembers a failed attempt. Returns whether another key may be tried. */
  private noteFailure(
    candidate: RouteCandidate,
    key: LevelKey,
    { failure, row, reported }: FailedAttempt,
  ): "failed" | "final" {
    const { clock, log } = this.parts;
    const { requestId } = this.context;
    this.tried ??= new Set();
    this.tried.add(key.id);
    this.attempts = [...this.attempts, row];
    this.failures = [...this.failures, failure];
    this.reported = reported;
    log("warn", "attempt_failed", { requestId, ...row, note: failure.note });
    const until = clock.mono() + (shortWait(failure) ?? Number.POSITIVE_INFINITY);
    if (until < (this.brief?.until ?? Number.POSITIVE_INFINITY)) this.brief = { candidate, key, until };
    return this.isFinal(failure) ? "final" : "failed";
  }

  /**
   * Returns whether no other key would help: the request has ended, its content was refused, or a second
   * conflict occurred.
   */
  private isFinal({ name }: UpstreamFailure): boolean {
    if (this.context.lifetime.ended !== null || !FAILURE_RULES[name].over) return true;
    return name === "conflict" && this.failures.filter((one) => one.name === "conflict").length > 1;
  }
}

/**
 * Returns the ms that a rate-limited provider asks to wait, or null when it asks for none or for too long.
 */
function shortWait(failure: UpstreamFailure): number | null {
  const waitMs = failure.name === "rate_limited" ? failure.retryAfterMs : undefined;
  return waitMs !== undefined && waitMs <= WAIT_MS_MAX ? waitMs : null;
}
