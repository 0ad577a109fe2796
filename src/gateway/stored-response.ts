// `GET` and `DELETE` of /v1/responses/{id}: an account reads or deletes a response that a provider stores for
// it. The request goes only to the key that created the response, costs nothing and counts as a request. Its
// result is not reported to a Level, because it says nothing about how the key works with models.

import type { Admitted } from "../../actors/account/admit.ts";
import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import { type AccountId, type ApiKeyId, MAIN_API_KEY } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { healthOf, type LevelKey, type LevelView, usability } from "../../actors/level/view.ts";
import { ZERO } from "../../actors/money.ts";
import { allows } from "../../actors/pattern.ts";
import type { Random } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { AccountContext } from "./account/account-context.ts";
import type { ConfigCache } from "./account/config-cache.ts";
import { type Caller, type Identify, MISSING_KEY, wrongKey } from "./account/identify.ts";
import { acceptFreshProfile, mustKeepUp } from "./admission/admission.ts";
import { addressFor } from "./admission/admission-request.ts";
import type { Settlement } from "./admission/settlement.ts";
import { type AccountNodeParts, earlyHeaders, withAccountNode } from "./answer/headers.ts";
import { type AttemptInput, type AttemptParts, attempt, SECRETS_UNREADABLE } from "./attempt/attempt.ts";
import { clientErrorFor, NO_KEY_AVAILABILITY } from "./attempt/client-error.ts";
import type { GatewayCall, GatewayLimits, Outcome } from "./call.ts";
import { RESPONSES_PATH } from "./codec/key-formats.ts";
import { StoredResponseExchange } from "./codec/stored-response-codec.ts";
import type { EndedContext, RequestEnd } from "./ended-context.ts";
import {
  endForClient,
  endOf,
  FREE_ANSWER,
  type ReportEndedParts,
  reportEnded,
} from "./request-history/report-ended.ts";
import { createRequestDeadlines, RequestLifetime } from "./request-lifetime.ts";
import { barredFrom, chainOf, pathClosed } from "./routing/route.ts";
import { keptAt, levelOfKey, UNUSABLE } from "./stored-objects/key-pin.ts";
import type { StoredObject, StoredObjectIndex } from "./stored-objects/object-index.ts";
import type { RequestObserver } from "./traffic/request-observer.ts";

/** A request for one stored response. */
export interface StoredResponseRequest
  extends Pick<GatewayCall, "key" | "ip" | "requestId" | "headers" | "signal"> {
  readonly method: "GET" | "DELETE";
  readonly id: string;
  /** What follows the id in the path, such as `/input_items`; may be empty. */
  readonly behind: string;
  /** The query string with its question mark; empty when there is none. */
  readonly query: string;
}

/** The services that stored responses need. */
export interface StoredResponseParts
  extends AttemptParts,
    AccountNodeParts,
    Pick<ReportEndedParts, "requestHistory"> {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly configs: ConfigCache;
  readonly settlement: Pick<Settlement, "cancel">;
  readonly storedObjects: StoredObjectIndex;
  readonly random: Random;
  readonly limits: AttemptParts["limits"] & Pick<GatewayLimits, "upstreamTimeoutMs">;
  /** Commit lag in ms above which new requests are refused. */
  readonly lagMostMs: number;
  /** Watches the ends of requests. */
  readonly observer: RequestObserver;
  /** Returns the refusal with which clients see an exception. */
  refusalFor(error: unknown): Refusal;
}

/** Answers a request for a stored response. */
export type StoredResponse = (request: StoredResponseRequest) => Promise<Outcome>;

/** Creates the handler of stored responses. It takes a free hold and cancels it in every case. */
export function createStoredResponse(parts: StoredResponseParts): StoredResponse {
  const deadlines = createRequestDeadlines(parts.clock, parts.limits.upstreamTimeoutMs);
  return async (request) => {
    const id = parts.random.id();
    const requestId = request.requestId ?? id;
    const lifetime = new RequestLifetime(request.signal, parts.clock, deadlines);
    lifetime.startDeadline();
    let headers: Record<string, string> = { "x-request-id": requestId };
    const report = new StoredResponseReport(parts, request, id, requestId);
    try {
      const caller = await callerOf(parts, request);
      report.identifiedAs = caller;
      mustKeepUp(parts);
      const { place, admitted } = await admit(parts, request, caller, id).catch((error) => {
        if (!(error instanceof RefusedError)) void parts.settlement.cancel(caller.account, id, false);
        throw wrongKey(parts.identify, caller, error);
      });
      headers = earlyHeaders(requestId, "chat", admitted, parts.clock.wall());
      report.modelSoFar = place.model;
      report.admittedKey = admitted.apiKey?.id ?? MAIN_API_KEY;
      try {
        const answer = await answerOf(parts, request, { caller, place, requestId, lifetime });
        const end = answer.kind === "whole" ? FREE_ANSWER : endOf(answer);
        report.noteEnd(endForClient(request.signal, end), 1);
        return withAccountNode(parts, report, { headers, ...answer });
      } finally {
        void parts.settlement.cancel(caller.account, id, request.signal.aborted);
      }
    } catch (error) {
      const end = endOf({ refusal: parts.refusalFor(error) });
      report.noteEnd(endForClient(request.signal, end), 0);
      if (!(error instanceof RefusedError)) throw error;
      return withAccountNode(parts, report, { kind: "refused", refusal: error.refusal, headers });
    } finally {
      lifetime.close();
      parts.observer.ended(report, parts.clock.mono());
    }
  };
}

/** What is reported of a request for a stored response, in the form of a context. */
class StoredResponseReport implements EndedContext {
  readonly charge = null;
  readonly route = null;
  readonly modelLabel = null;
  readonly answeredBy = null;
  readonly isStream = false;
  readonly upstream = null;
  readonly respondedMs = 0;
  readonly method: string;
  end: RequestEnd | null = null;
  identifiedAs: Caller | null = null;
  modelSoFar: string | null = null;
  admittedKey: ApiKeyId | null = null;
  isReported = false;
  readonly startedAtMs: number;
  readonly arrivedMs: number;
  readonly path: string;
  readonly call: { readonly path: string };

  constructor(
    private readonly parts: ReportEndedParts & Pick<StoredResponseParts, "clock">,
    { method, behind }: StoredResponseRequest,
    readonly id: string,
    readonly requestId: string,
  ) {
    this.startedAtMs = parts.clock.wall();
    this.arrivedMs = parts.clock.mono();
    this.method = method;
    this.path = `${RESPONSES_PATH}/{id}${behind}`;
    this.call = { path: this.path };
  }

  bodyBytes(): null {
    return null;
  }

  noteEnd(end: RequestEnd, attempts: number): void {
    reportEnded(this.parts, this, end, attempts);
  }
}

async function callerOf({ identify }: StoredResponseParts, request: StoredResponseRequest): Promise<Caller> {
  const { key } = request;
  if (key === null) throw new RefusedError(MISSING_KEY);
  const caller = await identify(key, request);
  if (caller === null) throw new RefusedError(INVALID_KEY);
  return caller;
}

/** The key and model with which a response was created. */
interface Place extends Pick<StoredObject, "model"> {
  readonly owner: AccountId;
  readonly key: LevelKey;
  readonly view: LevelView;
}

/** Admits the request with a hold of zero cost. Throws `RefusedError`. */
async function admit(
  parts: StoredResponseParts,
  request: StoredResponseRequest,
  { account, keyHash }: Caller,
  id: string,
): Promise<{ readonly place: Place; readonly admitted: Admitted }> {
  for (let tries = 1; ; tries++) {
    const accountContext = await parts.configs.accountContext(account);
    const { profile, version } = accountContext.account;
    // The account decides key, flags and IP before this refusal.
    const place = await find(parts, request, accountContext).catch((error) => {
      if (error instanceof RefusedError) return error.refusal;
      throw error;
    });
    const question = {
      ...{ id, keyHash, version, path: RESPONSES_PATH, idempotency: null, modelLimits: null },
      // The key's own list of models is judged by the account.
      model: "code" in place ? "" : place.model,
      ...{ promptTokens: 0, outputTokens: 0, cost: ZERO, promptCost: ZERO },
      ip: addressFor(profile, { account, keyHash }, request),
      routing: "code" in place ? place : null,
      threshold: accountContext.config.config.userApiBalance,
    };
    const admitted = await parts.system.ask(actorRef.account(account), "admit", question, { id });
    if ("stale" in admitted) acceptFreshProfile(parts.configs, account, admitted, tries);
    else if ("code" in place) throw new Error("admitted without a place");
    else return { place, admitted };
  }
}

async function find(
  parts: StoredResponseParts,
  { id, query }: StoredResponseRequest,
  accountContext: AccountContext,
): Promise<Place> {
  // An account that may call this path may also read what it stored there.
  const closed = pathClosed(accountContext, RESPONSES_PATH);
  if (closed !== null) throw new RefusedError(closed);
  if (new URLSearchParams(query).get("stream") === "true") throw new RefusedError(NO_STREAM);
  const { owner, profile } = accountContext.account;
  const at = await keptAt(parts.storedObjects, profile.id, id);
  const { level, view } = await levelOfKey(parts, owner, at.key);
  const barred = barredAt(accountContext, at.model, level);
  if (barred !== null) throw new RefusedError(barred);
  const key = view.keys.find((one) => one.id === at.key);
  if (key === undefined) throw new RefusedError(UNUSABLE);
  const now = parts.clock.wall();
  const usable = usability(key, healthOf(view)?.get(key.id), at.model, now);
  if (!("until" in usable) || usable.state === "passed_over") return { owner, key, view, model: at.model };
  const retryAfterS = Math.max(1, Math.ceil((usable.until - now) / 1_000));
  throw new RefusedError(usable.until === 0 ? UNUSABLE : { ...UNUSABLE, retryAfterS });
}

/** Returns the refusal of what a model or Level made that is not allowed any more to the account or an ancestor; null for others. */
function barredAt(accountContext: AccountContext, model: string, level: number): Refusal | null {
  const chain = chainOf(accountContext);
  if (chain.some(({ allowModels }) => !allows(allowModels, model))) {
    const message = `The model ${model}, which made the response, is not among the models allowed to this account.`;
    return { code: "model_not_allowed", message };
  }
  if (barredFrom(chain, level) === undefined) return null;
  const message = `Level ${level}, where the response was made, is not allowed to this account.`;
  return { code: "level_not_allowed", message };
}

const NO_STREAM: Refusal = {
  code: "invalid_parameter",
  message: '"stream" is for responses made in the background, which are not offered here: leave it out.',
};

/** An admitted request for a stored response. */
interface StoredResponseContext {
  readonly caller: Caller;
  readonly place: Place;
  readonly requestId: string;
  readonly lifetime: RequestLifetime;
}

type Answer =
  | { readonly kind: "whole"; readonly body: string | Uint8Array<ArrayBuffer>; readonly headers?: never }
  | Omit<Extract<Outcome, { kind: "refused" }>, "headers">
  | Omit<Extract<Outcome, { kind: "rejected" }>, "headers">;

/** Asks the provider. Removes the response from the index when it was deleted or no longer exists. */
async function answerOf(
  parts: StoredResponseParts,
  request: StoredResponseRequest,
  context: StoredResponseContext,
): Promise<Answer> {
  const { method, id, behind } = request;
  const { caller, place } = context;
  const result = await attempt(parts, attemptAt(parts, request, context));
  if ("failure" in result && result.failure === SECRETS_UNREADABLE) throw new RefusedError(UNUSABLE);
  const isGone = "failure" in result && result.failure.status === 404;
  if (method === "DELETE" && behind === "" && (isGone || !("failure" in result))) {
    await parts.storedObjects.forget(caller.account, id);
  }
  if (!("failure" in result)) {
    const { body, exchange, fingerprint } = result;
    if (body.kind !== "whole") throw new Error("a stored response is not streamed");
    const { large, text, answer } = body;
    return { kind: "whole", body: large?.client ?? exchange.clientText(text, answer.body, fingerprint) };
  }
  if (isGone) return { kind: "refused", refusal: GONE };
  const failed = { model: place.model, path: RESPONSES_PATH };
  const error = clientErrorFor([result.failure], failed, NO_KEY_AVAILABILITY);
  return "rejection" in error ? { kind: "rejected", ...error } : { kind: "refused", ...error };
}

const GONE: Refusal = { code: "not_found", message: "The provider does not have it any more." };

/** Returns what the one attempt at the response's key sends. */
function attemptAt(
  { upstream, clock }: StoredResponseParts,
  { method, id, behind, query, headers }: StoredResponseRequest,
  { place: { owner, key, view, model }, requestId, lifetime }: StoredResponseContext,
): AttemptInput {
  const path = `${RESPONSES_PATH}/${encodeURIComponent(id)}${behind}${query}`;
  const { provider, config } = key;
  const naming = upstream.naming({ provider, config, path, model, stream: false });
  const beta = headers.get("openai-beta");
  const outgoing = { method, body: null, headers: beta === null ? {} : { "openai-beta": beta } };
  return {
    attempted: { owner, key, view, model, startedAt: clock.wall() },
    exchange: new StoredResponseExchange(path, outgoing, model, naming),
    answers: "json",
    request: { stream: false, includeUsage: false },
    requestId,
    fingerprint: "",
    abort: lifetime.newAttempt(),
    reporter: null,
    trace: null,
  };
}
