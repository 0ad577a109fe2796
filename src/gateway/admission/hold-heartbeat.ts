// Renews the hold of a running request, and grows it with a stream, so that no other request is admitted on
// money that the answer has already used.

import type { AccountId } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import type { Clock } from "../../base/clock.ts";
import type { Admission, RunningRequest } from "../context.ts";
import { worstCase } from "../metering/hold-estimate.ts";
import type { Settlement } from "./settlement.ts";

/** The services of the heartbeat. */
export interface HoldHeartbeatParts {
  readonly clock: Clock;
  readonly settlement: Pick<Settlement, "renew">;
}

const RENEW_MS = 60_000;
/** An estimate on the high side: the hold must not fall behind the answer. */
const CHARS_PER_TOKEN = 3;

/**
 * Renews a hold every minute while the attempts run, because a provider may take longer than a hold lives.
 * Returns a function that stops it.
 */
export function startHoldHeartbeat(
  { clock, settlement }: HoldHeartbeatParts,
  account: AccountId,
  id: string,
): () => void {
  let cancel = clock.after(RENEW_MS, renew);

  function renew(): void {
    settlement.renew(account, id, { cost: ZERO, tokens: 0 });
    cancel = clock.after(RENEW_MS, renew);
  }

  return () => cancel();
}

/**
 * Renews a stream's hold every minute. `answer.chars` is the number of characters so far; `grow` raises the
 * hold to it, `stop` ends the renewals.
 */
export function trackStreamHold(
  parts: HoldHeartbeatParts,
  admission: Admission,
  { id, endpoint }: Pick<RunningRequest, "id" | "endpoint">,
  answer: { readonly chars: number },
): { grow(): void; stop(): void } {
  const { route, size } = admission;
  let outputTokens = Math.max(0, admission.admitted.tokens - admission.estimate.promptTokens);
  let cost = admission.admitted.cost;
  let cancel = parts.clock.after(RENEW_MS, renew);

  function renew(): void {
    tell();
    cancel = parts.clock.after(RENEW_MS, renew);
  }

  function tell(): void {
    const tokens = admission.estimate.promptTokens + outputTokens;
    parts.settlement.renew(admission.caller.account, id, { cost, tokens });
  }

  return {
    grow() {
      const used = Math.ceil(answer.chars / CHARS_PER_TOKEN);
      if (used <= outputTokens) return;
      // Grown to twice what is used, so that a long answer calls the account a few times and not at every
      // event.
      outputTokens = used * 2;
      const estimate = worstCase(
        endpoint.meter,
        route,
        { ...size, maxOutput: outputTokens, n: 1 },
        route.multipliers,
        0,
      );
      if (estimate.cost > cost) cost = estimate.cost;
      tell();
    },
    stop: () => cancel(),
  };
}
