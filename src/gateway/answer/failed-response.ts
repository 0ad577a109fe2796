// Ends a request that delivered nothing: cancels its hold, so that it costs nothing, records its attempts,
// and returns an ordinary error. A token count that no provider offers is answered locally instead.

import { INVALID_KEY } from "../../../actors/account/admit.ts";
import type { Clock } from "../../base/clock.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import { giveBack } from "../admission/release-hold.ts";
import type { Settlement } from "../admission/settlement.ts";
import { clientErrorFor, keyAvailability } from "../attempt/client-error.ts";
import type { FailedAttempts } from "../attempt/failover.ts";
import type { Outcome } from "../call.ts";
import { keySupportFor } from "../codec/key-support.ts";
import type { RunningRequest } from "../context.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import { ACCOUNT_CLOSED } from "../request-lifetime.ts";
import { restrictToKey, withoutKeyPin } from "../stored-objects/key-pin.ts";
import type { FailedRequestLog } from "./failed-request-log.ts";
import { headersOf } from "./headers.ts";
import { isLocalTokenCount, localTokenCount } from "./local-token-count.ts";

/** The services that end a request without an answer. */
export interface FailedResponseParts {
  readonly settlement: Pick<Settlement, "cancel">;
  readonly configs: Pick<ConfigCache, "level">;
  readonly upstream: Pick<Upstream, "address">;
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
  running: RunningRequest,
  unsent: FailedAttempts,
): Promise<Outcome> {
  const { admission, signals, rows, visited, untranslated } = unsent;
  const { accountContext, route, size } = admission;
  const { endpoint } = running;
  const serves = keySupportFor(endpoint, parts.upstream, untranslated === null, size.demands);
  await giveBack(parts, running, running.call.signal.aborted);
  const places = visited.map(({ model, level, view }) => ({
    model,
    view: restrictToKey(running.pinnedKey, parts.configs.level(accountContext.owner, level) ?? view),
  }));
  const found = keyAvailability(places, serves, parts.clock.wall(), rows);
  const headers = headersOf(running, admission, rows.length);
  if (running.lifetime.ended === null && isLocalTokenCount(endpoint, found)) {
    return localTokenCount(parts, running, headers);
  }
  let told =
    running.lifetime.ended === ACCOUNT_CLOSED
      ? { refusal: INVALID_KEY }
      : clientErrorFor(
          signals,
          { path: endpoint.path, model: route.model, untranslated, demands: size.demands },
          found,
        );
  if ("refusal" in told && running.pinnedKey !== null) told = { refusal: withoutKeyPin(told.refusal) };
  const said = "rejection" in told ? told.rejection : told.refusal;
  parts.failedRequests.keep({
    id: running.id,
    request: running.requestId,
    account: admission.caller.account,
    path: running.call.path,
    asked: running.request.model,
    model: route.model,
    level: route.level,
    at: parts.clock.wall(),
    code: said.code,
    message: said.message,
    attempts: rows,
  });
  return "rejection" in told
    ? { kind: "rejected", rejection: told.rejection, headers }
    : { kind: "refused", refusal: told.refusal, headers };
}
