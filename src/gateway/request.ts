// The path of a request, from the call to its outcome:
//
//   identify (API key -> caller) -> parse -> admission (route, estimate, hold)
//   -> callProvider (keys, Levels, models) -> answerWhole or answerStream -> meterUsage
//   -> settlement (the charge is durable before the last byte)
//
// Every way out charges or cancels the hold exactly once, under the id created here.

import { INVALID_KEY } from "../../actors/account/admit.ts";
import type { Idempotency } from "../../actors/account/state.ts";
import type { Protocol } from "../../actors/index.ts";
import type { Random } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { ModelRequest } from "../dialect/dialect.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { ConfigCache } from "./account/config-cache.ts";
import { type Caller, type Identify, MISSING_KEY, wrongKey } from "./account/identify.ts";
import {
  type AdmissionInput,
  admission,
  mustKeepUp,
  type RequestedModel,
  retakeHold,
} from "./admission/admission.ts";
import { type AutoQuota, createAutoQuota } from "./admission/auto-quota.ts";
import { startHoldHeartbeat } from "./admission/hold-heartbeat.ts";
import { createInFlight, type InFlight } from "./admission/in-flight.ts";
import { giveBack } from "./admission/release-hold.ts";
import type { Settlement } from "./admission/settlement.ts";
import type { FailedRequestLog } from "./answer/failed-request-log.ts";
import { failedResponse } from "./answer/failed-response.ts";
import { replayed } from "./answer/headers.ts";
import { hasSseKeepalive, type KeepaliveParts, withSseKeepalive } from "./answer/sse-keepalive.ts";
import { answerStream, type StreamAnswerParts } from "./answer/stream-answer.ts";
import { answerWhole, type WholeAnswerParts } from "./answer/whole-answer.ts";
import { callProvider, type FailoverParts } from "./attempt/failover.ts";
import type { LevelReporter } from "./attempt/level-reports.ts";
import type { GatewayCall, GatewayLimits, Outcome } from "./call.ts";
import { requestedStreamShape, type StreamShape } from "./codec/stream-shape.ts";
import type { RunningRequest } from "./context.ts";
import type { GatewayEndpoint } from "./endpoints.ts";
import type { IdempotencyRecords } from "./idempotency/idempotency-records.ts";
import { createIdempotentAdmission, type IdempotentAdmission } from "./idempotency/idempotent-admission.ts";
import { sizeOf } from "./metering/request-size.ts";
import { createRequestLifetime, type RequestLifetime } from "./request-lifetime.ts";
import { planOf } from "./routing/resolve-route.ts";
import { type KeyPin, keyPinOf } from "./stored-objects/key-pin.ts";
import type { StoredObjectIndex } from "./stored-objects/object-index.ts";

/** The services of the gateway on this node: the sum of what its steps declare. */
export interface GatewayParts extends FailoverParts, StreamAnswerParts, WholeAnswerParts, KeepaliveParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly configs: ConfigCache;
  readonly levelReporter: LevelReporter;
  readonly settlement: Settlement;
  readonly failedRequests: FailedRequestLog;
  readonly storedObjects: StoredObjectIndex;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly upstream: Upstream;
  readonly random: Random;
  readonly limits: GatewayLimits;
  /** Commit lag in ms above which new requests are refused. */
  readonly lagMostMs: number;
}

/** Runs one request of an endpoint to its outcome. */
export type Gateway = (call: GatewayCall, endpoint: GatewayEndpoint) => Promise<Outcome>;

/**
 * Creates the gateway of this node. Its refusals become outcomes of kind `refused`; other errors are thrown.
 */
export function createGateway(parts: GatewayParts): Gateway {
  const autoQuota = createAutoQuota(parts);
  const once = createIdempotentAdmission({ ...parts, autoQuota });
  const inFlight = createInFlight(parts);
  return async (call, endpoint) => {
    const id = parts.random.id();
    const requestId = call.requestId ?? id;
    const lifetime = createRequestLifetime(call.signal, parts.clock, parts.limits.upstreamTimeoutMs);
    try {
      const outcome = await handle(
        parts,
        { once, inFlight, autoQuota },
        { call, endpoint, id, requestId, lifetime },
      );
      // A stream closes its lifetime when it ends.
      if (outcome.kind !== "stream") lifetime.close();
      return outcome;
    } catch (error) {
      lifetime.close();
      if (!(error instanceof RefusedError)) throw error;
      return { kind: "refused", refusal: error.refusal, headers: { "x-request-id": requestId } };
    }
  };
}

interface Incoming {
  readonly call: GatewayCall;
  readonly endpoint: GatewayEndpoint;
  readonly id: string;
  readonly requestId: string;
  readonly lifetime: RequestLifetime;
}

interface Memory {
  readonly once: IdempotentAdmission;
  readonly inFlight: InFlight;
  readonly autoQuota: AutoQuota;
}

async function handle(
  parts: GatewayParts,
  { once, inFlight, autoQuota }: Memory,
  incoming: Incoming,
): Promise<Outcome> {
  const { call, endpoint, id, lifetime } = incoming;
  if (call.key === null) throw new RefusedError(MISSING_KEY);
  const caller = await parts.identify(call.key, call.ip);
  if (caller === null) throw new RefusedError(INVALID_KEY);
  // Registered before admission, so that a deletion of the account in the meantime also aborts this request.
  inFlight.add(caller.account, lifetime);
  mustKeepUp(parts);

  const startedAt = parts.clock.wall();
  const { requested, request, idempotency, pinnedKey, shape } = await parse(parts, call, endpoint, caller);
  const input: AdmissionInput = {
    id,
    endpoint,
    caller,
    ip: call.ip,
    requested,
    idempotency,
    pinnedKey,
  };
  const granted = await (idempotency === null
    ? admission({ ...parts, autoQuota }, input)
    : once.admit({ ...input, idempotency }, lifetime)
  ).catch((error) => {
    // It is unknown whether the account took the hold.
    if (!(error instanceof RefusedError)) void parts.settlement.cancel(caller.account, id, false);
    throw wrongKey(parts.identify, caller, error);
  });
  if ("body" in granted) {
    const headers = replayed(granted.headers, incoming.requestId, endpoint.dialect.name);
    return { kind: "whole", body: granted.body, headers };
  }
  if (request === null) throw new Error("admitted without a request");

  const running: RunningRequest = {
    ...incoming,
    request,
    admission: granted,
    startedAt,
    idempotency,
    pinnedKey: pinnedKey?.key ?? null,
    shape,
    forwarded: forwardedHeaders(call.headers, endpoint),
    candidates: async ({ accountContext, route }) =>
      pinnedKey === null
        ? (await planOf(parts.configs, accountContext, route, endpoint, request.model)).rows
        : [[route]],
    retake: (from, candidate) => retakeHold(parts, input, from, candidate),
  };
  const work = run(parts, running)
    .catch(async (error) => {
      await giveBack(parts, running, call.signal.aborted);
      throw error;
    })
    .finally(() => once.answered(id));
  return hasSseKeepalive(parts, running) ? withSseKeepalive(parts, running, work) : work;
}

async function run(parts: GatewayParts, running: RunningRequest): Promise<Outcome> {
  const letGo = startHoldHeartbeat(parts, running.admission.caller.account, running.id);
  const sent = await callProvider(parts, running).finally(letGo);
  if (!sent.ok) return failedResponse(parts, running, sent);
  const { opened } = sent;
  if (opened.kind === "stream") return answerStream(parts, running, sent, opened);
  return answerWhole(parts, running, sent, opened);
}

interface Read {
  readonly requested: RequestedModel;
  readonly request: ModelRequest | null;
  readonly idempotency: Idempotency | null;
  readonly pinnedKey: KeyPin | null;
  readonly shape: StreamShape;
}

/**
 * Reads and parses the body. A body that is invalid becomes a refusal that admission returns, because key,
 * flags and IP are checked first.
 */
async function parse(
  parts: GatewayParts,
  call: GatewayCall,
  endpoint: GatewayEndpoint,
  { account }: Caller,
): Promise<Read> {
  const { dialect, meter } = endpoint;
  let idempotency: Idempotency | null = null;
  const refused = (refusal: Refusal): Read => ({
    requested: { refusal },
    request: null,
    idempotency,
    pinnedKey: null,
    shape: null,
  });
  try {
    const shape = requestedStreamShape(endpoint, call.headers);
    const payload = await call.payload();
    const parsed = dialect.parse(payload);
    if (!parsed.ok) {
      const { code, message, errorDetails } = parsed.refusal;
      const details = errorDetails === undefined ? {} : { errorDetails };
      return refused({ code, message: `${message}.`, ...details });
    }
    const { request } = parsed;
    const name = meter.free ? null : call.headers.get("idempotency-key");
    // From here on a repeat gets the answer of the first request, even if the objects that it refers to are
    // gone.
    idempotency = name === null ? null : parts.idempotencyRecords.hashes(call.path, name, payload);
    const pinnedKey = await keyPinOf(parts.storedObjects, account, dialect, payload);
    const size = sizeOf(request, pinnedKey?.tokens);
    return {
      requested: { model: request.model, size },
      request,
      idempotency,
      pinnedKey,
      shape,
    };
  } catch (error) {
    if (error instanceof RefusedError) return refused(error.refusal);
    throw error;
  }
}

/** Client headers that are forwarded to providers. All others concern only the client and this service. */
const FORWARDED = ["openai-beta", "anthropic-version", "anthropic-beta"];
/** For audio the `accept` header selects the format. */
const FORWARDED_FOR_SOUND = [...FORWARDED, "accept"];

function forwardedHeaders(headers: Headers, { answers }: GatewayEndpoint): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of answers === "sound" ? FORWARDED_FOR_SOUND : FORWARDED) {
    const value = headers.get(name);
    if (value !== null) forwarded[name] = value;
  }
  return forwarded;
}
