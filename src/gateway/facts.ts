// The facts of a charge: everything the ledger keeps, so that it can be recomputed and explained for ever.

import type { AttemptRow, ChargeFacts } from "../../actors/account/state.ts";
import { completionTokens, promptTokens } from "../../actors/usage.ts";
import type { Metered } from "./meter.ts";
import type { Running } from "./running.ts";

export function factsOf(
  running: Running,
  metered: Metered,
  attempts: readonly AttemptRow[],
  stream: boolean,
): ChargeFacts {
  const { route, admitted } = running.admission;
  return {
    id: running.id,
    request: running.requestId,
    path: running.call.path,
    asked: running.asked,
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
    stream,
    attempts,
  };
}
