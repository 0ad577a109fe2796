// Tries provider keys, Levels and models until one answers. `FailoverWalk` has the order of candidates,
// `KeyChooser` the key, and `attempt` makes one try. Here the keys that failed are remembered, and a backup model
// takes the hold again. It charges nothing, and tries nothing after an attempt has answered.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../../actors/level/view.ts";
import { atMost } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FAILURE_RULES, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import { candidatesOf, type HoldingParts, retakeHold } from "../admission/admission.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import { withStreamShape } from "../codec/stream-shape.ts";
import type { Admission, AdmittedContext, AnsweredContext, AttemptAnswer } from "../context.ts";
import { ATTEMPTS_MAX, type CandidateTable } from "../routing/failover-plan.ts";
import type { RouteCandidate } from "../routing/route.ts";
import { restrictToKey } from "../stored-objects/key-pin.ts";
import { type AttemptParts, attempt, encodeFor, type FailedAttempt } from "./attempt.ts";
import { FailoverWalk, type Move, type Visit } from "./failover-walk.ts";
import type { Choice, KeyChooser, Wish } from "./key-chooser.ts";
import type { LevelReporter } from "./level-reports.ts";

/** The services of failover. */
export interface FailoverParts extends AttemptParts, HoldingParts {
  readonly chooser: KeyChooser;
  readonly levelReporter: LevelReporter;
  readonly log: Log;
  readonly limits: AttemptParts["limits"] & HoldingParts["limits"];
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
): Promise<AnsweredContext | FailedAttempts> => new ProviderCall(parts, context).outcome();

/** A key and the request encoded for it. */
interface Opening {
  readonly key: LevelKey;
  readonly exchange: ProviderExchange;
}

const NO_KEYS: ReadonlySet<ProviderKeyId> = new Set();

/** The walk of one request that sends attempts. */
class ProviderCall extends FailoverWalk<AttemptAnswer> {
  private readonly attempts: AttemptRow[] = [];
  private readonly failures: UpstreamFailure[] = [];
  /** Resolves when the last failure has been processed by its Level; null before the first. */
  private reported: Promise<void> | null = null;
  /** Keys that failed. */
  private tried: Set<ProviderKeyId> | null = null;
  /** The shortest rest that a provider requested, if it is at most `WAIT_MS_MAX`. */
  private brief: {
    readonly candidate: RouteCandidate;
    readonly key: LevelKey;
    readonly until: number;
  } | null = null;

  constructor(
    private readonly parts: FailoverParts,
    private readonly context: AdmittedContext,
  ) {
    const { admission, endpoint } = context;
    const { demands } = admission.size;
    super(admission.route, { endpoint, upstream: parts.upstream, demands });
  }

  /** Walks, and returns the answer, or all failures. */
  outcome(): Promise<AnsweredContext | FailedAttempts> {
    return this.run().then<AnsweredContext | FailedAttempts>((answer) =>
      answer === null ? this.failed() : this.context.answered(this.attempts, answer),
    );
  }

  private async failed(): Promise<FailedAttempts> {
    const { attempts, failures, visited, untranslated } = this;
    // The client's error depends on the keys' new state: how long they sleep, and whether all of them rest.
    if (this.reported !== null) await atMost(this.parts.clock, REPORTED_MS_MAX, this.reported);
    return { attempts, failures, visited, untranslated };
  }

  protected candidates(): Promise<CandidateTable> {
    const { admission } = this.context;
    return candidatesOf(this.parts.configs, this.context, admission.accountContext, admission.route);
  }

  protected viewOf({ level, view }: RouteCandidate): LevelView {
    const { admission, pinnedKey } = this.context;
    return restrictToKey(pinnedKey, this.parts.configs.level(admission.accountContext.owner, level) ?? view);
  }

  protected now(): number {
    return this.parts.clock.wall();
  }

  protected hasKeyLeft(candidate: RouteCandidate): boolean {
    return this.parts.chooser.choose(this.viewOf(candidate), this.wishAt(candidate)) !== null;
  }

  protected visit(
    candidate: RouteCandidate,
    view: LevelView,
  ): Visit<AttemptAnswer> | Promise<Visit<AttemptAnswer>> {
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
  protected async lastResort(): Promise<AttemptAnswer | null> {
    if (this.brief === null || this.plan.made === ATTEMPTS_MAX) return null;
    const { candidate, key, until } = this.brief;
    const { lifetime } = this.context;
    await lifetime.sleep(Math.max(0, until - this.parts.clock.mono()));
    if (lifetime.ended !== null || !(await retakeHold(this.parts, this.context, candidate))) return null;
    const encoding = this.encode(candidate, key);
    const exchange = encoding instanceof Promise ? await encoding : encoding;
    if (exchange === null) return null;
    const visit = await this.tryKey(candidate, { key, exchange }, this.viewOf(candidate));
    return typeof visit === "object" ? visit.answer : null;
  }

  private wishAt({ model }: RouteCandidate, probing = NO_KEYS): Wish {
    return { model, serves: this.serves, now: this.now(), tried: this.tried ?? NO_KEYS, probing };
  }

  /**
   * Returns a key to try at the candidate, for which the right to probe was granted where it is needed. `probing`
   * are keys that another request probes.
   */
  private openingAt(
    candidate: RouteCandidate,
    view: LevelView,
    probing: ReadonlySet<ProviderKeyId>,
  ): Opening | null | Promise<Opening | null> {
    for (;;) {
      const choice = this.parts.chooser.choose(view, this.wishAt(candidate, probing));
      if (choice === null) return null;
      const { key, probe } = choice;
      const exchange = this.encode(candidate, key);
      if (exchange === null) continue;
      if (exchange instanceof Promise) return this.openLater(candidate, view, { choice, exchange }, probing);
      return probe ? this.probe(candidate, view, { key, exchange }, probing) : { key, exchange };
    }
  }

  /** Does the same for a request that a worker encodes. */
  private async openLater(
    candidate: RouteCandidate,
    view: LevelView,
    { choice, exchange }: { readonly choice: Choice; readonly exchange: Promise<ProviderExchange | null> },
    probing: ReadonlySet<ProviderKeyId>,
  ): Promise<Opening | null> {
    const encoded = await exchange;
    if (encoded === null) return this.openingAt(candidate, view, probing);
    const found = { key: choice.key, exchange: encoded };
    return choice.probe ? this.probe(candidate, view, found, probing) : found;
  }

  /** Returns the opening if this node may probe its key, otherwise one with another key. */
  private async probe(
    candidate: RouteCandidate,
    view: LevelView,
    opening: Opening,
    probing: ReadonlySet<ProviderKeyId>,
  ): Promise<Opening | null> {
    const { owner } = this.context.admission.accountContext;
    const { key } = opening;
    if (await this.parts.levelReporter.probe(owner, key)) return opening;
    return this.openingAt(candidate, view, new Set([...probing, key.id]));
  }

  /** Encodes the request for the key. Returns null when it cannot be translated, which narrows the walk. */
  private encode(
    { model }: RouteCandidate,
    key: LevelKey,
  ): ProviderExchange | null | Promise<ProviderExchange | null> {
    const { endpoint, request, forwardedHeaders: headers, id, size } = this.context;
    const { promptTokens } = size;
    const encoded = encodeFor(this.parts, endpoint, key, request, { model, headers, id, promptTokens });
    return encoded instanceof Promise ? encoded.then((found) => this.shaped(found)) : this.shaped(encoded);
  }

  /** Returns the exchange in the shape that the client asked for, or null for a refusal, which narrows the walk. */
  private shaped(encoded: ProviderExchange | { readonly refusal: Refusal }): ProviderExchange | null {
    const { streamShape, size } = this.context;
    if (!("refusal" in encoded)) return withStreamShape(encoded, streamShape, size.promptTokens);
    this.narrow(encoded.refusal);
    return null;
  }

  private tryKey(
    candidate: RouteCandidate,
    { key, exchange }: Opening,
    view: LevelView,
  ): Promise<Visit<AttemptAnswer>> {
    const { clock, levelReporter } = this.parts;
    const { admission, endpoint, request, requestId, lifetime } = this.context;
    const { owner, config } = admission.accountContext;
    const { switchOver } = config.config;
    this.plan.count();
    return attempt(this.parts, {
      attempted: { owner, key, view, model: candidate.model, startedAt: clock.wall(), switchOver },
      exchange,
      answers: endpoint.answers,
      request,
      requestId,
      fingerprint: fingerprintOf(admission, key),
      abort: lifetime.newAttempt(),
      reporter: levelReporter,
    }).then((result) => ("body" in result ? { answer: result } : this.noteFailure(candidate, key, result)));
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
    this.attempts.push(row);
    this.failures.push(failure);
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

const fingerprints = new Map<string, string>();
const FINGERPRINTS_MAX = 10_000;
/** What the last fingerprint was made of: mostly what the next one is made of. */
const last = { model: "", provider: "", priceVersion: -1, print: "" };

/**
 * Returns the `system_fingerprint` of answers whose provider sends none, which changes with model, provider and
 * configuration. The results are cached.
 */
function fingerprintOf({ route }: Admission, { provider }: LevelKey): string {
  const { model, priceVersion } = route;
  if (last.model === model && last.provider === provider && last.priceVersion === priceVersion)
    return last.print;
  const source = `${model}\n${provider}\n${priceVersion}`;
  let print = fingerprints.get(source);
  if (print === undefined) {
    print = `fp_${Bun.SHA256.hash(source, "hex").slice(0, 10)}`;
    if (fingerprints.size >= FINGERPRINTS_MAX) fingerprints.clear();
    fingerprints.set(source, print);
  }
  Object.assign(last, { model, provider, priceVersion, print });
  return print;
}
