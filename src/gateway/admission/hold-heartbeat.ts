// Renews the hold of a running request, and grows it with a stream, so that no other request is admitted on
// money that the answer has already used.

import { type Nano, ZERO } from "../../../actors/money.ts";
import type { Clock } from "../../base/clock.ts";
import { Timeout, TimeoutQueue } from "../../base/timeout-queue.ts";
import type { AdmittedContext } from "../context.ts";
import { worstCase } from "../metering/hold-estimate.ts";
import type { Settlement } from "./settlement.ts";

/** The next renewals of a node's holds. */
export type HoldRenewals = TimeoutQueue<HoldHeartbeat>;

/** Creates the renewals of holds. */
export const createHoldRenewals = (clock: Pick<Clock, "mono" | "after">): HoldRenewals =>
  new TimeoutQueue(clock, RENEW_MS, (heartbeat) => heartbeat.beat());

/** The services of the heartbeat. */
export interface HoldHeartbeatParts {
  readonly renewals: HoldRenewals;
  readonly settlement: Pick<Settlement, "renew">;
}

const RENEW_MS = 60_000;
/** An estimate on the high side: the hold must not fall behind the answer. */
const CHARS_PER_TOKEN = 3;

/**
 * Renews a hold every minute while the attempts run, because a provider may take longer than a hold lives.
 * Begins at once and lasts until `stop`.
 */
export class HoldHeartbeat extends Timeout {
  protected cost: Nano = ZERO;
  protected tokens = 0;

  constructor(
    private readonly parts: HoldHeartbeatParts,
    protected readonly context: Pick<AdmittedContext, "id" | "admission">,
  ) {
    super();
    parts.renewals.add(this);
  }

  /** A minute has passed since the last renewal. */
  beat(): void {
    this.parts.renewals.add(this);
    this.renew();
  }

  stop(): void {
    this.parts.renewals.remove(this);
  }

  protected renew(): void {
    const { id, admission } = this.context;
    this.parts.settlement.renew(admission.caller.account, id, { cost: this.cost, tokens: this.tokens });
  }
}

/** Renews a stream's hold every minute, and raises it to what the answer has used so far. */
export class StreamHold extends HoldHeartbeat {
  private outputTokens: number;

  /** `result.chars` is the number of characters so far. */
  constructor(
    parts: HoldHeartbeatParts,
    protected override readonly context: Pick<AdmittedContext, "id" | "admission" | "endpoint">,
    private readonly result: { readonly chars: number },
  ) {
    super(parts, context);
    const { admitted, estimate } = context.admission;
    this.outputTokens = Math.max(0, admitted.tokens - estimate.promptTokens);
    this.cost = admitted.cost;
    this.tokens = estimate.promptTokens + this.outputTokens;
  }

  /** Raises the hold if the answer has exceeded it. */
  grow(): void {
    const used = Math.ceil(this.result.chars / CHARS_PER_TOKEN);
    if (used <= this.outputTokens) return;
    // Grown to twice what is used, so that a long answer calls the account a few times and not at every event.
    this.outputTokens = used * 2;
    const { admission, endpoint } = this.context;
    const { route, size, estimate } = admission;
    const grown = { ...size, maxOutput: this.outputTokens, n: 1 };
    const worst = worstCase(endpoint.meter, route, grown, route.multipliers, 0);
    if (worst.cost > this.cost) this.cost = worst.cost;
    this.tokens = estimate.promptTokens + this.outputTokens;
    this.renew();
  }
}
