// The path of a request, from the call to its outcome:
//
//   identify (API key -> caller) -> parseRequest (body -> ParsedContext)
//   -> admission (route, estimate, hold -> AdmittedContext)
//   -> callProvider (keys, Levels, models -> AnsweredContext)
//   -> answerWhole or answerStream (usage, charge; the charge is durable before the last byte)
//
// `runRequest` owns the request until its body is returned: every way out charges or cancels the hold exactly
// once. With a streamed body that duty passes to answer/stream-answer.ts.

import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import type { Protocol } from "../../actors/index.ts";
import type { Random } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { ConfigCache } from "./account/config-cache.ts";
import { type Identify, MISSING_KEY, wrongKey } from "./account/identify.ts";
import { readTagsHeader } from "./account/request-tags.ts";
import { type AdmissionParts, admission, mustKeepUp } from "./admission/admission.ts";
import type { AdmissionInput } from "./admission/admission-request.ts";
import { createAutoQuota } from "./admission/auto-quota.ts";
import { cancelHold } from "./admission/hold-duty.ts";
import { createHoldRenewals, HoldHeartbeat } from "./admission/hold-heartbeat.ts";
import { createInFlight, type InFlight } from "./admission/in-flight.ts";
import type { Settlement } from "./admission/settlement.ts";
import type { FailedRequestLog } from "./answer/failed-request-log.ts";
import { failedResponse } from "./answer/failed-response.ts";
import { type AccountNodeParts, replayed, withAccountNode } from "./answer/headers.ts";
import { hasSseKeepalive, type KeepaliveParts, withSseKeepalive } from "./answer/sse-keepalive.ts";
import { answerStream, type StreamAnswerParts } from "./answer/stream-answer.ts";
import { answerWhole, type WholeAnswerParts } from "./answer/whole-answer.ts";
import { callProvider, type FailoverParts } from "./attempt/failover.ts";
import type { LevelReporter } from "./attempt/level-reports.ts";
import type { GatewayCall, GatewayLimits, Outcome } from "./call.ts";
import { requestedStreamShape } from "./codec/stream-shape.ts";
import { type AdmittedContext, RunningRequest } from "./context.ts";
import type { ObservedContext } from "./ended-context.ts";
import type { GatewayEndpoint } from "./endpoints.ts";
import type { IdempotencyRecords, KeptResponse } from "./idempotency/idempotency-records.ts";
import {
  createIdempotentAdmission,
  type IdempotentAdmission,
  isIdempotent,
} from "./idempotency/idempotent-admission.ts";
import type { LargeBodies } from "./large-body/worker-pool.ts";
import { parseRequest, refusedInput } from "./parse-request.ts";
import { endForClient, endOf, FREE_ANSWER, reportEnded } from "./request-history/report-ended.ts";
import type { RequestHistory } from "./request-history/request-history.ts";
import { createRequestDeadlines, type RequestDeadlines, RequestLifetime } from "./request-lifetime.ts";
import type { RequestTracer } from "./request-trace.ts";
import type { StoredObjectIndex } from "./stored-objects/object-index.ts";
import { codeOf } from "./traffic/outcome-code.ts";
import type { RequestObserver } from "./traffic/request-observer.ts";

/** The services of the gateway on this node: the sum of what its steps declare. */
export interface GatewayParts
  extends FailoverParts,
    Omit<StreamAnswerParts, "ended" | "renewals">,
    WholeAnswerParts,
    AccountNodeParts,
    KeepaliveParts {
  readonly system: ActorSystem<Protocol>;
  readonly identify: Identify;
  readonly configs: ConfigCache;
  readonly levelReporter: LevelReporter;
  readonly settlement: Settlement;
  readonly failedRequests: FailedRequestLog;
  readonly storedObjects: StoredObjectIndex;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly upstream: Upstream;
  readonly largeBodies: LargeBodies;
  readonly random: Random;
  readonly limits: GatewayLimits;
  /** Commit lag in ms above which new requests are refused. */
  readonly lagMostMs: number;
  readonly requestHistory: RequestHistory;
  /** Watches the ends of requests. */
  readonly observer: RequestObserver;
  /** Begins traces of requests; null where they are not traced. */
  readonly tracer: RequestTracer | null;
  /** Returns the refusal with which clients see an exception. */
  refusalFor(error: unknown): Refusal;
}

/** The services, with those that only the gateway itself uses. */
interface RequestParts extends GatewayParts, AdmissionParts, Pick<StreamAnswerParts, "ended" | "renewals"> {
  readonly deadlines: RequestDeadlines;
  readonly settlement: Settlement;
  readonly upstream: Upstream;
  readonly limits: GatewayLimits;
  readonly idempotentAdmission: IdempotentAdmission;
  readonly inFlight: InFlight;
}

/** Runs one request of an endpoint to its outcome. */
export type Gateway = (call: GatewayCall, endpoint: GatewayEndpoint) => Promise<Outcome>;

/**
 * Creates the gateway of this node. Its refusals become outcomes of kind `refused`; other errors are thrown.
 */
export function createGateway(given: GatewayParts): Gateway {
  const autoQuota = createAutoQuota(given);
  const idempotentAdmission = createIdempotentAdmission({ ...given, autoQuota });
  const { observer, clock } = given;
  const ended = (context: ObservedContext): void => {
    if (!context.observeOnce()) return;
    observer.ended(context, clock.mono());
    context.trace?.ended(context, codeOf(context));
  };
  const parts: RequestParts = {
    ...given,
    ...{ autoQuota, idempotentAdmission, ended },
    inFlight: createInFlight(given),
    deadlines: createRequestDeadlines(clock, given.limits.upstreamTimeoutMs),
    renewals: createHoldRenewals(clock),
  };
  return (call, endpoint) => runRequest(parts, call, endpoint);
}

async function runRequest(
  parts: RequestParts,
  call: GatewayCall,
  endpoint: GatewayEndpoint,
): Promise<Outcome> {
  const { clock } = parts;
  const lifetime = new RequestLifetime(call.signal, clock, parts.deadlines);
  const context = new RunningRequest(parts.random.id(), call, endpoint, lifetime, clock.wall(), clock.mono());
  const { requestId } = context;
  // A stream closes its lifetime when it ends. A request with keepalives ends its hold with its work.
  let isStreaming = false;
  let endsWithWork = false;
  try {
    const granted = await admit(parts, context);
    if ("body" in granted) {
      reportEnded(parts, context, FREE_ANSWER, 0);
      context.wholeBody = granted.body;
      const headers = replayed(granted.headers, requestId, endpoint.dialect.name);
      return withAccountNode(parts, context, { kind: "whole", body: granted.body, headers });
    }
    let work = answer(parts, granted);
    if (hasSseKeepalive(parts, granted)) {
      endsWithWork = true;
      // The head may be sent before the work fails, and then nobody else here learns of the failure.
      work.then(
        (outcome) => outcome.kind === "stream" || parts.ended(context),
        (error) => {
          reportFailure(parts, context, error);
          parts.ended(context);
        },
      );
      work = withSseKeepalive(
        parts,
        granted,
        work.finally(() => endRequest(parts, context)),
      );
    }
    const outcome = await work;
    isStreaming = outcome.kind === "stream";
    if (outcome.kind === "whole") context.wholeBody = outcome.body;
    return withAccountNode(parts, context, outcome);
  } catch (error) {
    reportFailure(parts, context, error);
    if (!(error instanceof RefusedError)) throw error;
    // The error of an idempotent request is sent only after its hold is cancelled.
    const headers = { "x-request-id": requestId };
    return withAccountNode(parts, context, { kind: "refused", refusal: error.refusal, headers });
  } finally {
    const ending = endsWithWork ? null : endRequest(parts, context);
    if (ending !== null) await ending;
    context.respondedMs = clock.mono();
    if (!isStreaming) {
      lifetime.close();
      parts.ended(context);
    }
  }
}

/** Reports a request that ends with an exception, which may be that its client has disconnected. */
function reportFailure(parts: RequestParts, context: RunningRequest, error: unknown): void {
  const end = endForClient(context.call.signal, endOf({ refusal: parts.refusalFor(error) }));
  reportEnded(parts, context, end, context.attempts.length);
}

/** Cancels the hold of a request that was neither charged nor cancelled nor is streamed; frees its key. */
function endRequest(parts: RequestParts, context: RunningRequest): Promise<void> | null {
  if (!context.mustEndHold) {
    parts.idempotentAdmission.answered(context.id);
    return null;
  }
  return cancelHold(parts, context, context.call.signal.aborted).finally(() =>
    parts.idempotentAdmission.answered(context.id),
  );
}

/** Identifies, reads and admits a request. Returns the first answer when the request repeats another one. */
async function admit(parts: RequestParts, context: RunningRequest): Promise<AdmittedContext | KeptResponse> {
  const { call, lifetime, id } = context;
  if (call.key === null) throw new RefusedError(MISSING_KEY);
  const identified = parts.identify(call.key, call);
  const caller = identified instanceof Promise ? await identified : identified;
  if (caller === null) throw new RefusedError(INVALID_KEY);
  context.identifiedAs = caller;
  // Not before, since a stranger's request must not have a span that takes the place of another's.
  if (parts.tracer !== null) context.trace = parts.tracer.begin(context);
  // Registered before admission, so that a deletion of the account in the meantime also aborts this request.
  parts.inFlight.add(caller.account, lifetime);
  mustKeepUp(parts);
  let input: AdmissionInput;
  try {
    const streamShape = requestedStreamShape(context.endpoint, call.headers);
    const requestedTags = readTagsHeader(call.headers);
    const payload = await call.payload();
    lifetime.startDeadline();
    const reading = parseRequest(parts, context, payload, { caller, streamShape, requestedTags });
    input = reading instanceof Promise ? await reading : reading;
    // All requests of the turn are read before the first of them is admitted, as each step is best taken in a row: see TurnQueue.
    await null;
  } catch (error) {
    // Admission returns the refusal of a body, because key, flags and IP are checked first.
    if (!(error instanceof RefusedError)) throw error;
    input = refusedInput(context, caller, null, error.refusal);
  }
  try {
    const granting = isIdempotent(input)
      ? parts.idempotentAdmission.admit(input, lifetime)
      : admission(parts, input);
    const granted = granting instanceof Promise ? await granting : granting;
    return "body" in granted ? granted : context.admitted(granted);
  } catch (error) {
    // It is unknown whether the account took the hold.
    if (!(error instanceof RefusedError)) void parts.settlement.cancel(caller.account, id, false);
    throw wrongKey(parts.identify, caller, error);
  }
}

/** Calls a provider, and answers or fails the request. A heartbeat renews the hold as long as the call takes. */
async function answer(parts: RequestParts, context: AdmittedContext): Promise<Outcome> {
  const heartbeat = new HoldHeartbeat(parts, context);
  let called: Awaited<ReturnType<typeof callProvider>>;
  try {
    called = await callProvider(parts, context);
  } finally {
    heartbeat.stop();
  }
  if ("failures" in called) return failedResponse(parts, context, called);
  // Likewise all answers of the turn are read before the first of them is charged.
  await null;
  const { body } = called.answer;
  // Awaited here, which costs less than to return a promise from an async function.
  return body.kind === "stream"
    ? await answerStream(parts, called, body)
    : await answerWhole(parts, called, body);
}
