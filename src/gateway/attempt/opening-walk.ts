// Finds the next key for a request and encodes the request for it: `KeyChooser` picks, the Level grants probes, and a request that
// cannot be translated narrows the walk. It sends nothing, and remembers no failure.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { Refusal } from "../../base/errors.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { HoldingParts } from "../admission/admission.ts";
import { candidatesOf } from "../admission/admission-request.ts";
import { modelAtPath } from "../codec/key-formats.ts";
import { firstSupportFor, type Serves } from "../codec/key-support.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import { withStreamShape } from "../codec/stream-shape.ts";
import type { AdmittedContext } from "../context.ts";
import type { CandidateTable } from "../routing/failover-plan.ts";
import { atLevel, type ConversationHash } from "../routing/rendezvous.ts";
import type { RouteCandidate } from "../routing/route.ts";
import { restrictToKey, upstreamFor } from "../stored-objects/key-pin.ts";
import { encodeFor } from "./encode-request.ts";
import { FailoverWalk } from "./failover-walk.ts";
import { type Choice, type KeyChooser, NO_KEYS, type Wish } from "./key-chooser.ts";
import type { LevelReporter } from "./level-reports.ts";

/** The services that find a key. */
export interface OpeningParts extends Pick<HoldingParts, "configs"> {
  readonly chooser: KeyChooser;
  readonly levelReporter: Pick<LevelReporter, "probe">;
  readonly clock: Clock;
  readonly upstream: Upstream;
}

/** A key and the request encoded for it. */
export interface OpenedKey {
  readonly key: LevelKey;
  readonly exchange: ProviderExchange;
}

/** The part of a walk that finds keys. */
export abstract class OpeningWalk<Parts extends OpeningParts, Answer, Failure> extends FailoverWalk<
  Answer,
  Failure
> {
  /** The keys that are asked before all others; null where there is no such difference. */
  private readonly servesFirst: Serves | null;
  /** Keys that failed. */
  protected tried: Set<ProviderKeyId> | null = null;
  protected readonly parts: Parts;

  constructor(
    parts: Parts,
    protected readonly context: AdmittedContext,
  ) {
    const { admission, endpoint, pinnedKey } = context;
    const { demands } = admission.size;
    const upstream = upstreamFor(pinnedKey, parts.upstream);
    super(admission.route, { endpoint, upstream, demands });
    this.parts = upstream === parts.upstream ? parts : { ...parts, upstream };
    this.servesFirst = firstSupportFor(endpoint, upstream, demands);
  }

  protected candidates(): Promise<CandidateTable> {
    const { admission } = this.context;
    return candidatesOf(this.parts.configs, this.context, admission.accountContext, admission.route);
  }

  protected viewOf({ level, view }: RouteCandidate): LevelView {
    const { admission, pinnedKey } = this.context;
    return restrictToKey(
      pinnedKey,
      this.parts.configs.level(admission.accountContext.account.owner, level) ?? view,
    );
  }

  protected now(): number {
    return this.parts.clock.wall();
  }

  protected hasKeyLeft(candidate: RouteCandidate): boolean {
    return this.parts.chooser.choose(this.viewOf(candidate), this.wishAt(candidate)) !== null;
  }

  private wishAt(candidate: RouteCandidate, probing = NO_KEYS): Wish {
    return {
      model: candidate.model,
      modelAtPath: modelAtPath(this.context.endpoint.path, candidate.model),
      serves: this.serves,
      servesFirst: this.servesFirst,
      conversation: this.conversationAt(candidate),
      isLaterTurn: this.context.request.conversation?.isLaterTurn === true,
      now: this.now(),
      tried: this.tried ?? NO_KEYS,
      probing,
    };
  }

  /** Returns the conversation by which the candidate's Level chooses a key; null where it does not choose by one. */
  private conversationAt({ level }: RouteCandidate): ConversationHash | null {
    const { conversation, admission } = this.context;
    const { levelAffinity } = admission.accountContext.config.config;
    return conversation === null || levelAffinity === "off" ? null : atLevel(conversation, level);
  }

  /**
   * Returns a key to try at the candidate, for which the right to probe was granted where it is needed. `probing`
   * are keys that another request probes.
   */
  protected openingAt(
    candidate: RouteCandidate,
    view: LevelView,
    probing: ReadonlySet<ProviderKeyId>,
  ): OpenedKey | null | Promise<OpenedKey | null> {
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
  ): Promise<OpenedKey | null> {
    const encoded = await exchange;
    if (encoded === null) return this.openingAt(candidate, view, probing);
    const found = { key: choice.key, exchange: encoded };
    return choice.probe ? this.probe(candidate, view, found, probing) : found;
  }

  /** Returns the opening if this node may probe its key, otherwise one with another key. */
  private async probe(
    candidate: RouteCandidate,
    view: LevelView,
    opening: OpenedKey,
    probing: ReadonlySet<ProviderKeyId>,
  ): Promise<OpenedKey | null> {
    const { owner } = this.context.admission.accountContext.account;
    const { key } = opening;
    if (await this.parts.levelReporter.probe(owner, key)) return opening;
    return this.openingAt(candidate, view, new Set([...probing, key.id]));
  }

  /** Encodes the request for the key. Returns null when it cannot be translated, which narrows the walk. */
  protected encode(
    { model }: RouteCandidate,
    key: LevelKey,
    isWithoutReasoning = this.context.isWithoutReasoning,
  ): ProviderExchange | null | Promise<ProviderExchange | null> {
    const { endpoint, request, forwardedHeaders: headers, id, size } = this.context;
    const { promptTokens } = size;
    const input = { model, headers, id, promptTokens, isWithoutReasoning };
    const encoded = encodeFor(this.parts, endpoint, key, request, input);
    return encoded instanceof Promise ? encoded.then((found) => this.shaped(found)) : this.shaped(encoded);
  }

  /** Returns the exchange in the shape that the client asked for, or null for a refusal, which narrows the walk. */
  private shaped(encoded: ProviderExchange | { readonly refusal: Refusal }): ProviderExchange | null {
    const { streamShape, size } = this.context;
    if (!("refusal" in encoded)) return withStreamShape(encoded, streamShape, size.promptTokens);
    this.narrow(encoded.refusal);
    return null;
  }

  /** Remembers where the conversation was answered, since its prompt is now in the cache of that key. */
  protected noteAnswer(candidate: RouteCandidate, key: LevelKey, view: LevelView): void {
    const conversation = this.conversationAt(candidate);
    if (conversation === null) return;
    const { serves, servesFirst } = this;
    const query = { model: candidate.model, serves, servesFirst, conversation };
    this.parts.chooser.answered(view, query, key.id);
  }
}
