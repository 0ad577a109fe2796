// The facts of a charge: everything the ledger keeps, so that it can be recomputed and explained for ever.

import type { AttemptRow, ChargeFacts } from "../../../actors/account/state.ts";
import { completionTokens, promptTokens } from "../../../actors/usage.ts";
import type { Sent } from "../forward.ts";
import type { Running } from "../running.ts";
import type { Metered } from "./meter.ts";

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
    priceVersion: route.priceVersion,
    admittedAt: admitted.admittedAt,
    stream: running.request.stream,
    attempts: [...sent.rows, last],
    keep: sent.admission.lineage.config.config.userMinBalance,
    ...(idempotency === null ? {} : { idempotency }),
  };
}
