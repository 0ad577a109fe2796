// One named key of an account, with what it has used: the part of a key's fold that its limits read. It decides nothing; the
// fold of all keys is named-keys.ts.

import type { Nano } from "../money.ts";
import { plus } from "../money.ts";
import {
  addTo,
  emptyWindows,
  type FrozenWindows,
  freezeWindows,
  NO_LIMITS,
  type RateLimits,
  type RateWindows,
  thawWindows,
} from "../rate-window.ts";
import type { ApiKey } from "./api-key.ts";
import { addSpending, NO_SPENDING, type PeriodSums, spentIn, spentOn } from "./period-sums.ts";

/** The plain form of a key for snapshots. */
export interface FrozenNamedKey {
  readonly key: ApiKey;
  readonly cost: PeriodSums;
  readonly fees: PeriodSums;
  readonly lastUsedAt: number | null;
  readonly windows: FrozenWindows;
}

/** A key and its use. */
export class NamedKey {
  /** Charges of its requests. */
  cost: PeriodSums = NO_SPENDING;
  /** Fees of its queries, which count against its caps beside the charges. */
  fees: PeriodSums = NO_SPENDING;
  /** Wall-clock ms; null for a key that was never used. */
  lastUsedAt: number | null = null;
  windows: RateWindows = emptyWindows();
  private rateLimits: RateLimits;

  constructor(private current: ApiKey) {
    this.rateLimits = limitsOf(current);
  }

  get key(): ApiKey {
    return this.current;
  }

  set key(key: ApiKey) {
    this.current = key;
    this.rateLimits = limitsOf(key);
  }

  /** The rate limits in the form of accounts. */
  get limits(): RateLimits {
    return this.rateLimits;
  }

  /** Returns what counts against HardLimit at `now`, in nano-dollars. */
  spentInMonth(now: number): Nano {
    return plus(spentIn(this.cost, now), spentIn(this.fees, now));
  }

  /** Returns what counts against DailyLimit at `now`, in nano-dollars. */
  spentOnDay(now: number): Nano {
    return plus(spentOn(this.cost, now), spentOn(this.fees, now));
  }

  addCharge(cost: Nano, at: number): void {
    this.cost = addSpending(this.cost, cost, at);
    this.use(at);
  }

  addFee(fee: Nano, at: number): void {
    this.fees = addSpending(this.fees, fee, at);
    this.use(at);
  }

  /** Counts a request that was admitted at `admittedAt`; times are wall-clock ms. */
  countRequest(admittedAt: number, at: number, requests: number, tokens: number): void {
    addTo(this.windows, admittedAt, at, requests, tokens);
    this.use(at);
  }

  use(at: number): void {
    this.lastUsedAt = Math.max(this.lastUsedAt ?? 0, at);
  }

  freeze(): FrozenNamedKey {
    const { key, cost, fees, lastUsedAt, windows } = this;
    return { key, cost, fees, lastUsedAt, windows: freezeWindows(windows) };
  }

  static thaw(frozen: FrozenNamedKey): NamedKey {
    const thawed = new NamedKey(frozen.key);
    thawed.cost = frozen.cost;
    thawed.fees = frozen.fees;
    thawed.lastUsedAt = frozen.lastUsedAt;
    thawed.windows = thawWindows(frozen.windows);
    return thawed;
  }
}

const limitsOf = ({ rpm, tpm }: ApiKey): RateLimits =>
  rpm === 0 && tpm === 0 ? NO_LIMITS : { ...NO_LIMITS, rpm, tpm };
