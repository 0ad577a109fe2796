// The one walk through the candidates of a request: which candidate comes next, when a switched-over Level is
// passed by, and when the walk ends. `ProviderCall` walks it and sends attempts; the dry run walks it and sends
// nothing. So what is explained is what would be done.

import type { LevelView } from "../../../actors/level/view.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import { keySupportFor, type Serves } from "../codec/key-support.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import {
  type CandidateTable,
  FailoverPlan,
  type FailoverReason,
  type FailoverStep,
} from "../routing/failover-plan.ts";
import type { RouteCandidate } from "../routing/route.ts";

/** What keys must serve. */
export interface Required {
  readonly endpoint: GatewayEndpoint;
  readonly upstream: Pick<Upstream, "address" | "lacks">;
  readonly demands: Demands | undefined;
}

/**
 * What a visit of a candidate led to: an answer, a failed try after which another key is tried, a failure after
 * which no other key would help, or no key.
 */
export type Visit<Answer> = { readonly answer: Answer } | "failed" | "final" | "no_key";

/** A move of the walk. */
export interface Move {
  readonly from: RouteCandidate;
  readonly to: RouteCandidate;
  readonly step: FailoverStep;
  readonly reason: FailoverReason;
  /** `from` was passed by because its Level is switched over. */
  readonly isAway: boolean;
}

/** A walk through the candidates of one request, until one answers or none is left. It results in `Answer` or `Failure`. */
export abstract class FailoverWalk<Answer, Failure> {
  /** Whether a key can take the request; narrower once the request turned out to be untranslatable. */
  protected serves: Serves;
  /** Why the request could not be translated, so that only keys of the client's style count; else null. */
  untranslated: Refusal | null = null;
  protected plan: FailoverPlan;
  /** The candidates besides the first are found only when it does not answer: most requests never need them. */
  private isPlanned = false;

  constructor(
    first: RouteCandidate,
    private readonly required: Required,
  ) {
    this.serves = keySupportFor(required.endpoint, required.upstream, true, required.demands);
    this.plan = new FailoverPlan([[first]]);
  }

  /** The candidates that were reached, in order. */
  get visited(): readonly RouteCandidate[] {
    return this.plan.visited;
  }

  /** Returns all candidates of the request, the first one first. */
  protected abstract candidates(): Promise<CandidateTable>;
  /** Returns the newest view of a candidate's Level, restricted to the keys that may answer. */
  protected abstract viewOf(candidate: RouteCandidate): LevelView;
  /** Wall-clock milliseconds. */
  protected abstract now(): number;
  /** Returns whether a key of the candidate can be tried. */
  protected abstract hasKeyLeft(candidate: RouteCandidate): boolean;
  /** Tries one key of the candidate. */
  protected abstract visit(
    candidate: RouteCandidate,
    view: LevelView,
  ): Visit<Answer> | Promise<Visit<Answer>>;
  /** Moves route and hold to a candidate. Returns false when the account refuses; then nothing has changed. */
  protected abstract moveTo(move: Move): Promise<boolean>;
  /** What is left to try when no candidate is left; null when that gives no answer either. */
  protected abstract lastResort(): Promise<Answer | null>;
  /** The result when nothing gave an answer. */
  protected abstract failure(): Failure | Promise<Failure>;

  /** Walks until a candidate answers or none is left. */
  async run(): Promise<Answer | Failure> {
    for (;;) {
      const { candidate } = this.plan;
      const view = this.viewOf(candidate);
      const isAway = view.switchedUntil > this.now() && (await this.hasKeyBehind());
      const visiting = !isAway && this.plan.mayTry() ? this.visit(candidate, view) : "no_key";
      const visit = visiting instanceof Promise ? await visiting : visiting;
      if (typeof visit === "object") return visit.answer;
      if (visit === "final") return this.failure();
      if (visit === "failed") continue;
      const reason = isAway || !this.hasKeyLeft(candidate) ? "exhausted" : "tries";
      if (await this.moveOn(reason, isAway)) continue;
      return (await this.lastResort()) ?? this.failure();
    }
  }

  /** Considers only keys of the client's style from now on, because the request cannot be translated. */
  protected narrow(untranslated: Refusal): void {
    const { endpoint, upstream, demands } = this.required;
    this.untranslated = untranslated;
    this.serves = keySupportFor(endpoint, upstream, false, demands);
  }

  /** Returns whether a later candidate of the current row has a key left. */
  private async hasKeyBehind(): Promise<boolean> {
    await this.loadPlan();
    return this.plan.behind.some((other) => this.hasKeyLeft(other));
  }

  /** Moves to the next candidate that the account allows. Returns false when there is none. */
  private async moveOn(why: FailoverReason, isAway: boolean): Promise<boolean> {
    await this.loadPlan();
    for (let reason = why; ; reason = "refused") {
      const from = this.plan.candidate;
      const step = this.plan.advance(reason);
      if (step === null) return false;
      if (await this.moveTo({ from, to: this.plan.candidate, step, reason, isAway })) return true;
    }
  }

  private async loadPlan(): Promise<void> {
    if (this.isPlanned) return;
    this.isPlanned = true;
    this.plan = new FailoverPlan(await this.candidates(), this.plan.made);
  }
}
