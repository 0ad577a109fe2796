// Ends a request that delivered nothing: cancels its hold, so that it costs nothing, records its attempts,
// and returns an ordinary error. A token count that no provider offers is answered locally instead.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { AttemptRow } from "../../../actors/account/state.ts";
import type { Clock } from "../../base/clock.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import { cancelHold } from "../admission/hold-duty.ts";
import type { Settlement } from "../admission/settlement.ts";
import {
  clientErrorFor,
  type KeyAvailability,
  keyAvailability,
  type LastFailure,
} from "../attempt/client-error.ts";
import type { FailedAttempts } from "../attempt/failover.ts";
import type { Outcome } from "../call.ts";
import { keySupportFor } from "../codec/key-support.ts";
import type { AdmittedContext } from "../context.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import {
  endForClient,
  endOf,
  FREE_ANSWER,
  type ReportEndedParts,
  reportEnded,
} from "../request-history/report-ended.ts";
import { ACCOUNT_CLOSED } from "../request-lifetime.ts";
import { restrictToKey, upstreamFor, withoutKeyPin } from "../stored-objects/key-pin.ts";
import type { FailedRequestLog } from "./failed-request-log.ts";
import { headersOf } from "./headers.ts";
import { isLocalTokenCount, localTokenCount } from "./local-token-count.ts";

/** The services that end a request without an answer. */
export interface FailedResponseParts extends ReportEndedParts {
  readonly settlement: Pick<Settlement, "cancel">;
  readonly configs: Pick<ConfigCache, "level">;
  readonly upstream: Pick<Upstream, "address" | "lacks">;
  readonly failedRequests: Pick<FailedRequestLog, "keep">;
  readonly counter: TokenCounter;
  readonly clock: Clock;
}

/**
 * Returns the outcome of a request whose attempts all failed. Cancels the hold and adds the request to the
 * `FailedRequestLog`.
 */
export async function failedResponse(
  parts: FailedResponseParts,
  context: AdmittedContext,
  failed: FailedAttempts,
): Promise<Outcome> {
  const { admission, endpoint, size, pinnedKey, lifetime } = context;
  const { attempts, visited, untranslated } = failed;
  await cancelHold(parts, context, context.call.signal.aborted);
  const { owner } = admission.accountContext.account;
  const candidates = visited.map(({ model, level, view }) => ({
    model,
    view: restrictToKey(pinnedKey, parts.configs.level(owner, level) ?? view),
  }));
  const upstream = upstreamFor(pinnedKey, parts.upstream);
  const serves = keySupportFor(endpoint, upstream, untranslated === null, size.demands);
  const keys = keyAvailability(endpoint.path, candidates, serves, parts.clock.wall(), attempts);
  const headers = headersOf(context, attempts.length);
  if (lifetime.ended === null && isLocalTokenCount(endpoint, keys)) {
    reportEnded(parts, context, FREE_ANSWER, attempts.length);
    return localTokenCount(parts, context, headers);
  }
  const error = errorOfRequest(context, failed, keys);
  const end = endForClient(context.call.signal, endOf(error));
  reportEnded(parts, context, end, attempts.length);
  keepFailure(parts, context, attempts, "rejection" in error ? error.rejection : error.refusal);
  return "rejection" in error
    ? { kind: "rejected", rejection: error.rejection, headers }
    : { kind: "refused", refusal: error.refusal, headers };
}

function errorOfRequest(
  { admission, endpoint, size, pinnedKey, lifetime }: AdmittedContext,
  { failures, untranslated }: FailedAttempts,
  keys: KeyAvailability,
): LastFailure {
  if (lifetime.ended === ACCOUNT_CLOSED) return { refusal: INVALID_KEY };
  const { model } = admission.route;
  const request = { path: endpoint.path, model, untranslated, demands: size.demands };
  const error = clientErrorFor(failures, request, keys);
  return "refusal" in error && pinnedKey !== null ? { refusal: withoutKeyPin(error.refusal) } : error;
}

/** Adds a request to the list of those that delivered nothing. */
function keepFailure(
  { failedRequests, clock }: FailedResponseParts,
  { id, requestId, caller, call, request, admission }: AdmittedContext,
  attempts: readonly AttemptRow[],
  { code, message }: { readonly code: string; readonly message: string },
): void {
  const { model, level } = admission.route;
  const { account } = caller;
  const where = { account, path: call.path, asked: request.model, model, level };
  failedRequests.keep({ id, request: requestId, ...where, at: clock.wall(), code, message, attempts });
}
