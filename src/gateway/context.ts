// What one request carries from stage to stage: one `RunningRequest` per request, seen through views that widen.
// A stage fills its own fields once and returns the same object as the wider view, so that nothing is copied and
// no stage reads what is not there yet. It decides nothing and calls no service.

import type { Admitted } from "../../actors/account/admit.ts";
import type { AttemptRow, ChargeFacts, Idempotency } from "../../actors/account/state.ts";
import { type AccountId, type ApiKeyId, MAIN_API_KEY, type ProviderKeyId } from "../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../actors/level/view.ts";
import type { OwnerConfig } from "../../actors/owner/owner.ts";
import { NO_TAGS, type Tags } from "../../actors/tags.ts";
import type { Cancellation } from "../base/cancellation.ts";
import type { Refusal } from "../base/errors.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { ModelRequest } from "../dialect/dialect.ts";
import type { AccountContext } from "./account/account-context.ts";
import type { Caller } from "./account/identify.ts";
import type { GatewayCall } from "./call.ts";
import type { ProviderBody } from "./codec/provider-answer.ts";
import type { ProviderExchange } from "./codec/provider-codec.ts";
import type { StreamShape } from "./codec/stream-shape.ts";
import type { ObservedContext, RequestEnd, UpstreamTimes } from "./ended-context.ts";
import type { GatewayEndpoint } from "./endpoints.ts";
import type { HoldEstimate } from "./metering/hold-estimate.ts";
import type { RequestSize } from "./metering/request-size.ts";
import { modelLabelOf } from "./model-label.ts";
import type { RequestLifetime } from "./request-lifetime.ts";
import type { RequestTrace } from "./request-trace.ts";
import type { ConversationHash } from "./routing/rendezvous.ts";
import type { Route } from "./routing/route.ts";
import type { KeyPin } from "./stored-objects/key-pin.ts";

/** A request that has arrived. */
export interface RequestContext {
  /** The id of hold, charge and ledger line. */
  readonly id: string;
  /** The client's request id, or `id` when it sent none. */
  readonly requestId: string;
  /** Wall-clock milliseconds. */
  readonly startedAtMs: number;
  readonly call: GatewayCall;
  readonly endpoint: GatewayEndpoint;
  readonly lifetime: RequestLifetime;
  /** The caller that the API key names; null before it is known. */
  readonly identifiedAs: Caller | null;
  /** The model it was routed to, else the one asked for; null before the body is read. */
  readonly modelSoFar: string | null;
  /** The API key as the account that admitted the request knows it; null before that. */
  readonly admittedKey: ApiKeyId | null;
  /** Its end was reported to the history of requests. */
  isReported: boolean;
  /** Its trace; null where it has none. */
  readonly trace: RequestTrace | null;
  /** The name of the model that has the hold, for metrics, logs and traces; null before admission. */
  readonly modelLabel: string | null;
  /** How it ended without a charge; null before, and when it was charged. */
  end: RequestEnd | null;
}

/**
 * The requested model and size, or the refusal of an invalid request. The account checks key, flags and IP
 * before it returns that refusal.
 */
export type RequestedModel =
  | { readonly model: string; readonly size: RequestSize }
  | { readonly refusal: Refusal };

/** What reading and parsing add to a request. */
export interface ParsedFields {
  readonly caller: Caller;
  readonly request: ModelRequest;
  readonly size: RequestSize;
  /** The hashed Idempotency-Key and body; null when the client sent no key. */
  readonly idempotency: Idempotency | null;
  /**
   * The only provider key that can answer, because it stores what the request refers to; null when any key
   * can.
   */
  readonly pinnedKey: KeyPin | null;
  /** Whether it is sent without its reasoning, because some of it was not given to the account. */
  readonly isWithoutReasoning: boolean;
  /** The conversation that it is a turn of; null for a request without one, and where `pinnedKey` chooses its key. */
  readonly conversation: ConversationHash | null;
  /** The shape of stream events that the client asked for. */
  readonly streamShape: StreamShape;
  /** The client's headers that are forwarded to a provider. */
  readonly forwardedHeaders: HeaderRecord;
  /** The tags that the client sent, without those of its API key. */
  readonly requestedTags: Tags;
}

/** A request that was read and parsed. */
export interface ParsedContext extends RequestContext, ParsedFields {
  /** `size` and the requested model, in the form that admission takes. */
  readonly requested: RequestedModel;
  /** Returns the client's address. */
  ip(): string;
}

/** An admitted request: its account, route, estimate and hold. */
export interface Admission {
  readonly caller: Caller;
  readonly accountContext: AccountContext;
  readonly route: Route;
  readonly estimate: HoldEstimate;
  readonly admitted: Admitted;
  readonly size: RequestSize;
}

/** A request whose hold is open. */
export interface AdmittedContext extends ParsedContext {
  /** The admission of the candidate that has the hold. */
  readonly admission: Admission;
  /** Replaces the admission. Only `retakeHold` calls it. */
  replaceAdmission(admission: Admission): void;
  /** Fills the fields of an answer. */
  answered(attempts: readonly AttemptRow[], answer: AttemptAnswer): AnsweredContext;
  /** Records that the hold is being charged, or cancelled (null). Throws when that has been recorded before. */
  endHold(charge: ChargeFacts | null): void;
  /** Passes the duty to end the hold from `runRequest` to the streamed body, unless it has ended. */
  passHold(): void;
}

/** An attempt as it is reported to its Level. */
export interface Attempted {
  readonly owner: AccountId;
  readonly key: LevelKey;
  /** The key's Level as this node knew it when the attempt began. */
  readonly view: LevelView;
  readonly model: string;
  /** The name under which the key is passed over if it lacks the model; absent means `model`. */
  readonly modelAtPath?: string;
  /** Wall-clock ms at which the attempt began. */
  readonly startedAt: number;
  /** SWITCH_OVER of the key's Owner; absent where the attempt says nothing of the Level. */
  readonly switchOver?: OwnerConfig["switchOver"];
}

/** What a provider answered to an attempt, with all that is needed to read, charge and explain it. */
export interface AttemptAnswer {
  readonly attempted: Attempted;
  readonly exchange: ProviderExchange;
  readonly body: ProviderBody;
  readonly status: number;
  readonly abort: Cancellation;
  /** Monotonic ms at which the attempt began. */
  readonly sinceMs: number;
  /** The `system_fingerprint` to use when the provider sends none. */
  readonly fingerprint: string;
  /** Milliseconds from the attempt's begin to the first byte of its response; of a stream, to its first content. */
  readonly firstMs: number;
  /** Milliseconds from the attempt's begin until the whole answer was read; of a stream, as `firstMs`. */
  readonly openedMs: number;
  /** Ends the request's count on the key. Further calls do nothing. */
  release(): void;
}

/** A request that a provider has answered. */
export interface AnsweredContext extends AdmittedContext, ObservedContext {
  end: RequestEnd | null;
  /** The attempts that failed before the one that answered. */
  readonly attempts: readonly AttemptRow[];
  readonly answer: AttemptAnswer;
  /** Bytes of the body that were sent, of a streamed answer. */
  bytesSent: number;
}

/** Who ends the hold: nobody before admission, then `runRequest`, then the streamed body if there is one. */
type HoldDuty = "none" | "request" | "body" | "ended";

/** The headers that most requests send on: none. */
export const NO_FORWARDED_HEADERS: HeaderRecord = {};
/** The failed attempts of most requests. */
export const NO_ATTEMPTS: readonly AttemptRow[] = [];

/** The object of one request. */
export class RunningRequest implements AnsweredContext {
  readonly method = "POST";
  caller!: Caller;
  request!: ModelRequest;
  size!: RequestSize;
  requested!: RequestedModel;
  idempotency: Idempotency | null = null;
  pinnedKey: KeyPin | null = null;
  isWithoutReasoning = false;
  conversation: ConversationHash | null = null;
  streamShape: StreamShape = null;
  forwardedHeaders: HeaderRecord = NO_FORWARDED_HEADERS;
  requestedTags: Tags = NO_TAGS;
  attempts = NO_ATTEMPTS;
  identifiedAs: Caller | null = null;
  isReported = false;
  end: RequestEnd | null = null;
  charge: ChargeFacts | null = null;
  respondedMs = 0;
  bytesSent = 0;
  /** The body of a whole answer; null for streams and errors. */
  wholeBody: string | Uint8Array | null = null;
  trace: RequestTrace | null = null;
  private isObserved = false;
  private holdDuty: HoldDuty = "none";
  private filledAdmission: Admission | null = null;
  private filledAnswer: AttemptAnswer | null = null;

  constructor(
    readonly id: string,
    readonly call: GatewayCall,
    readonly endpoint: GatewayEndpoint,
    readonly lifetime: RequestLifetime,
    readonly startedAtMs: number,
    readonly arrivedMs: number,
  ) {}

  get requestId(): string {
    return this.call.requestId ?? this.id;
  }

  ip(): string {
    return this.call.ip();
  }

  get modelSoFar(): string | null {
    return this.filledAdmission?.route.model ?? this.request?.model ?? null;
  }

  get admittedKey(): ApiKeyId | null {
    const admission = this.filledAdmission;
    return admission === null ? null : (admission.admitted.apiKey?.id ?? MAIN_API_KEY);
  }

  get route(): Route | null {
    return this.filledAdmission?.route ?? null;
  }

  get modelLabel(): string | null {
    const admission = this.filledAdmission;
    return admission === null ? null : modelLabelOf(admission.route.priced);
  }

  get path(): string {
    return this.call.path;
  }

  get answeredBy(): ProviderKeyId | null {
    return this.filledAnswer?.attempted.key.id ?? null;
  }

  get isStream(): boolean {
    return this.filledAnswer?.body.kind === "stream";
  }

  get upstream(): UpstreamTimes | null {
    const answer = this.filledAnswer;
    if (answer === null) return null;
    let attemptsMs = answer.openedMs;
    for (const { ms } of this.attempts) attemptsMs += ms;
    return { firstMs: answer.firstMs, attemptsMs };
  }

  bodyBytes(): number | null {
    const { wholeBody } = this;
    if (wholeBody !== null) return Buffer.byteLength(wholeBody);
    return this.isStream ? this.bytesSent : null;
  }

  observeOnce(): boolean {
    const isFirst = !this.isObserved;
    this.isObserved = true;
    return isFirst;
  }

  /** Fills the fields of parsing. Throws when they are filled. */
  parsed(fields: ParsedFields): ParsedContext {
    if (this.requested !== undefined) throw this.filledTwice("parsed");
    this.caller = fields.caller;
    this.request = fields.request;
    this.size = fields.size;
    this.requested = { model: fields.request.model, size: fields.size };
    this.idempotency = fields.idempotency;
    this.pinnedKey = fields.pinnedKey;
    this.isWithoutReasoning = fields.isWithoutReasoning;
    this.conversation = fields.conversation;
    this.streamShape = fields.streamShape;
    this.forwardedHeaders = fields.forwardedHeaders;
    this.requestedTags = fields.requestedTags;
    return this;
  }

  get admission(): Admission {
    if (this.filledAdmission === null) throw new Error(`request ${this.id} is not admitted`);
    return this.filledAdmission;
  }

  /** Fills the admission, whose hold is open from now on. Throws when it is filled. */
  admitted(admission: Admission): AdmittedContext {
    if (this.filledAdmission !== null) throw this.filledTwice("admitted");
    this.filledAdmission = admission;
    this.holdDuty = "request";
    return this;
  }

  replaceAdmission(admission: Admission): void {
    if (this.filledAdmission === null) throw new Error(`request ${this.id} is not admitted`);
    this.filledAdmission = admission;
  }

  get answer(): AttemptAnswer {
    if (this.filledAnswer === null) throw new Error(`request ${this.id} is not answered`);
    return this.filledAnswer;
  }

  answered(attempts: readonly AttemptRow[], answer: AttemptAnswer): AnsweredContext {
    if (this.filledAnswer !== null) throw this.filledTwice("answered");
    this.attempts = attempts;
    this.filledAnswer = answer;
    return this;
  }

  /** Whether `runRequest` has still to cancel the hold. */
  get mustEndHold(): boolean {
    return this.holdDuty === "request";
  }

  endHold(charge: ChargeFacts | null): void {
    if (this.holdDuty === "none" || this.holdDuty === "ended") {
      throw new Error(`the hold of request ${this.id} cannot end: ${this.holdDuty}`);
    }
    this.holdDuty = "ended";
    this.charge = charge;
  }

  passHold(): void {
    if (this.holdDuty === "request") this.holdDuty = "body";
  }

  private filledTwice(stage: string): Error {
    return new Error(`request ${this.id} was ${stage} twice`);
  }
}
