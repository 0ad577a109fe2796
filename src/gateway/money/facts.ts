// The facts of a charge: everything the ledger keeps, so that it can be recomputed and explained for ever.

import type { AttemptRow, ChargeFacts } from "../../../actors/account/state.ts";
import { completionTokens, promptTokens } from "../../../actors/pricing/usage.ts";
import type { Sent } from "../attempt/failover.ts";
import type { GatewayParts, Running } from "../context.ts";
import type { Metered } from "../metering/usage-meter.ts";

/** Says that a provider has answered with another model than the one that was asked of it. */
export function noteAnsweredModel(
  { log }: Pick<GatewayParts, "log">,
  { requestId, id }: Pick<Running, "requestId" | "id">,
  { attempted }: Pick<Sent, "attempted">,
  { answeredModel }: Pick<Metered, "answeredModel">,
): void {
  if (answeredModel === null) return;
  const { key, model } = attempted;
  log("warn", "other_model_answered", { requestId, id, key: key.id, model, answeredModel });
}

/** `last`: the attempt that answered, behind those that failed. */
export function factsOf(running: Running, sent: Sent, metered: Metered, last: AttemptRow): ChargeFacts {
  const { route, admitted } = sent.admission;
  const { idempotency } = running;
  return {
    id: running.id,
    request: running.requestId,
    path: running.call.path,
    asked: running.request.model,
    model: route.model,
    level: route.level,
    usage: metered.usage,
    prompt: promptTokens(metered.usage),
    completion: completionTokens(metered.usage),
    cost: metered.charge.amount,
    basis: metered.basis,
    price: metered.charge.numbers,
    ...(metered.charge.parts.length === 0 ? {} : { parts: metered.charge.parts }),
    ...(metered.answeredModel === null ? {} : { answeredModel: metered.answeredModel }),
    priceVersion: route.priceVersion,
    admittedAt: admitted.admittedAt,
    stream: running.request.stream,
    attempts: [...sent.rows, last],
    keep: sent.admission.lineage.config.config.userMinBalance,
    ...(idempotency === null ? {} : { idempotency }),
  };
}
