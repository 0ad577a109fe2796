// `GET` and `DELETE` of /v1/responses/{id}: an account reads or deletes a response that a provider stores for
// it. The request goes only to the key that created the response, costs nothing and counts as a request. Its
// result is not reported to a Level, because it says nothing about how the key works with models.

import { type Admitted, INVALID_KEY } from "../../actors/account/admit.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { healthOf, type LevelKey, usability } from "../../actors/level/view.ts";
import { ZERO } from "../../actors/money.ts";
import type { Random } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import { isObject, parseJson } from "../dialect/json.ts";
import { aliasOf, underOwnName } from "../dialect/model-alias.ts";
import type { ActorSystem } from "../runtime/system.ts";
import { cutBy, type UpstreamFailure } from "../upstream/upstream-failure.ts";
import type { AccountContext, ConfigCache } from "./account/config-cache.ts";
import { type Caller, type Identify, MISSING_KEY, wrongKey } from "./account/identify.ts";
import { applyFreshProfile, mustKeepUp } from "./admission/admission.ts";
import type { Settlement } from "./admission/settlement.ts";
import { earlyHeaders } from "./answer/headers.ts";
import { type AttemptParts, keyTargetOf, misread, secretsOf } from "./attempt/attempt.ts";
import { clientErrorFor, NO_KEY_AVAILABILITY } from "./attempt/client-error.ts";
import { readBody } from "./attempt/whole-body.ts";
import type { GatewayCall, GatewayLimits, Outcome } from "./call.ts";
import { createRequestLifetime, type RequestLifetime } from "./request-lifetime.ts";
import { pathClosed } from "./routing/route.ts";
import { keptAt, levelOfKey, UNUSABLE } from "./stored-objects/key-pin.ts";
import type { StoredObject, StoredObjectIndex } from "./stored-objects/object-index.ts";

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
export interface StoredResponseParts extends AttemptParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly configs: ConfigCache;
  readonly settlement: Pick<Settlement, "cancel">;
  readonly storedObjects: StoredObjectIndex;
  readonly random: Random;
  readonly limits: AttemptParts["limits"] & Pick<GatewayLimits, "upstreamTimeoutMs">;
  /** Commit lag in ms above which new requests are refused. */
  readonly lagMostMs: number;
}

/** Answers a request for a stored response. */
export type StoredResponse = (asked: StoredResponseRequest) => Promise<Outcome>;

/** An account that may call this path may also read what it stored there. */
const PATH = "/v1/responses";

/** Creates the handler of stored responses. It takes a free hold and cancels it in every case. */
export function createStoredResponse(parts: StoredResponseParts): StoredResponse {
  return async (asked) => {
    const id = parts.random.id();
    const requestId = asked.requestId ?? id;
    const lifetime = createRequestLifetime(asked.signal, parts.clock, parts.limits.upstreamTimeoutMs);
    let headers: Record<string, string> = { "x-request-id": requestId };
    try {
      const caller = await callerOf(parts, asked);
      mustKeepUp(parts);
      const { place, admitted } = await admit(parts, asked, caller, id).catch((error) => {
        if (!(error instanceof RefusedError)) void parts.settlement.cancel(caller.account, id, false);
        throw wrongKey(parts.identify, caller, error);
      });
      headers = earlyHeaders(requestId, "chat", admitted, parts.clock.wall());
      try {
        return { headers, ...(await recalled(parts, asked, { caller, place, requestId, lifetime })) };
      } finally {
        void parts.settlement.cancel(caller.account, id, asked.signal.aborted);
      }
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return { kind: "refused", refusal: error.refusal, headers };
    } finally {
      lifetime.close();
    }
  };
}

async function callerOf(
  { identify }: StoredResponseParts,
  { key, ip }: StoredResponseRequest,
): Promise<Caller> {
  if (key === null) throw new RefusedError(MISSING_KEY);
  const caller = await identify(key, ip);
  if (caller === null) throw new RefusedError(INVALID_KEY);
  return caller;
}

/** The key and model with which a response was created. */
interface Place extends Pick<StoredObject, "model"> {
  readonly key: LevelKey;
}

/** Admits the request with a hold of zero cost. Throws `RefusedError`. */
async function admit(
  parts: StoredResponseParts,
  asked: StoredResponseRequest,
  { account, keyHash }: Caller,
  id: string,
): Promise<{ readonly place: Place; readonly admitted: Admitted }> {
  for (let tries = 0; ; tries++) {
    const accountContext = await parts.configs.lineage(account);
    const { profile, version } = accountContext.account;
    // The account decides key, flags and IP before this refusal.
    const place = await find(parts, asked, accountContext).catch((error) => {
      if (error instanceof RefusedError) return error.refusal;
      throw error;
    });
    const question = {
      ...{ id, keyHash, version, idempotency: null, model: "", modelLimits: null },
      ...{ promptTokens: 0, outputTokens: 0, cost: ZERO, promptCost: ZERO },
      ip: profile.allowIps.length === 0 ? "" : asked.ip(),
      routing: "code" in place ? place : null,
      threshold: accountContext.config.config.userApiBalance,
    };
    try {
      const admitted = await parts.system.ask(actorRef.account(account), "admit", question, { id });
      if ("code" in place) throw new Error("admitted without a place");
      return { place, admitted };
    } catch (error) {
      if (!applyFreshProfile(parts.configs, account, error, tries)) throw error;
    }
  }
}

async function find(
  parts: StoredResponseParts,
  { id, query }: StoredResponseRequest,
  accountContext: AccountContext,
): Promise<Place> {
  const closed = pathClosed(accountContext, PATH);
  if (closed !== null) throw new RefusedError(closed);
  if (new URLSearchParams(query).get("stream") === "true") throw new RefusedError(NO_STREAM);
  const at = await keptAt(parts.storedObjects, accountContext.account.profile.id, id);
  const { view } = await levelOfKey(parts, accountContext.owner, at.key);
  const key = view.keys.find((one) => one.id === at.key);
  if (key === undefined) throw new RefusedError(UNUSABLE);
  const now = parts.clock.wall();
  const usable = usability(key, healthOf(view)?.get(key.id), at.model, now);
  if (!("until" in usable) || usable.state === "passed_over") return { key, model: at.model };
  const retryAfterS = Math.max(1, Math.ceil((usable.until - now) / 1_000));
  throw new RefusedError(usable.until === 0 ? UNUSABLE : { ...UNUSABLE, retryAfterS });
}

const NO_STREAM: Refusal = {
  code: "invalid_parameter",
  message: '"stream" is for responses made in the background, which are not offered here: leave it out.',
};

type Told =
  | { readonly kind: "whole"; readonly body: string; readonly headers?: never }
  | Omit<Extract<Outcome, { kind: "refused" }>, "headers">
  | Omit<Extract<Outcome, { kind: "rejected" }>, "headers">;

async function recalled(
  parts: StoredResponseParts,
  asked: StoredResponseRequest,
  on: { caller: Caller; place: Place; requestId: string; lifetime: RequestLifetime },
): Promise<Told> {
  const { method, id, behind } = asked;
  const found = await ask(parts, asked, on);
  const isGone = typeof found !== "string" && found.status === 404;
  if (method === "DELETE" && behind === "" && (isGone || typeof found === "string")) {
    await parts.storedObjects.forget(on.caller.account, id);
  }
  if (typeof found === "string") return { kind: "whole", body: found };
  if (isGone) return { kind: "refused", refusal: GONE };
  const told = clientErrorFor([found], { model: on.place.model, path: PATH }, NO_KEY_AVAILABILITY);
  return "rejection" in told ? { kind: "rejected", ...told } : { kind: "refused", ...told };
}

const GONE: Refusal = { code: "not_found", message: "The provider does not have it any more." };

/** Returns the provider's answer with only its model name replaced, or the failure. */
async function ask(
  { upstream, vault, chooser, clock, limits }: StoredResponseParts,
  { method, id, behind, query, headers }: StoredResponseRequest,
  {
    place: { key, model },
    requestId,
    lifetime,
  }: { place: Place; requestId: string; lifetime: RequestLifetime },
): Promise<string | UpstreamFailure> {
  const secrets = secretsOf(vault, key);
  if (secrets === null) throw new RefusedError(UNUSABLE);
  const abort = lifetime.newAttempt();
  const beta = headers.get("openai-beta");
  chooser.take(key.id);
  const path = `${PATH}/${encodeURIComponent(id)}${behind}${query}`;
  try {
    const head = await upstream.send({
      key: { ...keyTargetOf(key), ...secrets },
      path,
      model,
      method,
      headers: beta === null ? {} : { "openai-beta": beta },
      body: null,
      stream: false,
      signal: abort.signal,
      requestId,
    });
    if (!head.ok) return head.signal;
    const text = await readBody(head.response, { clock, idleMs: limits.upstreamIdleMs, abort });
    const body = parseJson(text);
    if (!isObject(body)) return misread(head.scrub(text), 200, model, clock);
    const { provider, config } = key;
    const naming = upstream.naming({ provider, config, path, model, stream: false });
    return underOwnName(text, body, aliasOf(naming, model));
  } catch (error) {
    return cutBy(abort.signal, error);
  } finally {
    chooser.done(key.id);
  }
}
