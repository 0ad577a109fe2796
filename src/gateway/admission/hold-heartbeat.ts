// Keeps the hold of a running request alive; and that of a stream as large as its answer has become, so that nobody is
// admitted against what is already generated.

import type { AccountId } from "../../../actors/ids.ts";
import { ZERO } from "../../../actors/money.ts";
import type { GatewayParts, RunningRequest } from "../context.ts";
import { worstCase } from "../metering/hold-estimate.ts";
import type { Admission } from "./admission.ts";

const RENEW_MS = 60_000;
/** Rather too many tokens than too few: the hold must not lag behind. */
const CHARS_PER_TOKEN = 3;

/** While its attempts are under way: a provider may think for longer than a hold lives. The answer ends it. */
export function startHoldHeartbeat(
  { clock, settle }: Pick<GatewayParts, "clock" | "settle">,
  account: AccountId,
  id: string,
): () => void {
  let cancel = clock.after(RENEW_MS, renew);

  function renew(): void {
    settle.renew(account, id, { cost: ZERO, tokens: 0 });
    cancel = clock.after(RENEW_MS, renew);
  }

  return () => cancel();
}

/** `answer`: the characters generated so far. `grow` looks at them, `stop` ends the renewing. */
export function trackStreamHold(
  parts: GatewayParts,
  admission: Admission,
  { id, surface }: Pick<RunningRequest, "id" | "surface">,
  answer: { readonly chars: number },
): { grow(): void; stop(): void } {
  const { route, size } = admission;
  let outputTokens = Math.max(0, admission.admitted.tokens - admission.worst.promptTokens);
  let cost = admission.admitted.cost;
  let cancel = parts.clock.after(RENEW_MS, renew);

  function renew(): void {
    tell();
    cancel = parts.clock.after(RENEW_MS, renew);
  }

  function tell(): void {
    const tokens = admission.worst.promptTokens + outputTokens;
    parts.settle.renew(admission.caller.account, id, { cost, tokens });
  }

  return {
    grow() {
      const used = Math.ceil(answer.chars / CHARS_PER_TOKEN);
      if (used <= outputTokens) return;
      // Twice what is used: a long answer tells the account a few times, not at every event.
      outputTokens = used * 2;
      const worst = worstCase(
        surface.meter,
        route,
        { ...size, maxOutput: outputTokens, n: 1 },
        route.multipliers,
        0,
      );
      if (worst.cost > cost) cost = worst.cost;
      tell();
    },
    stop: () => cancel(),
  };
}
