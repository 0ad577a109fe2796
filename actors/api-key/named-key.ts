// One named key of an account, with what it has used: the part of a key's fold that its limits read. It decides nothing; the
// fold of all keys is named-keys.ts.

import type { Nano } from "../money.ts";
import { plusCapped, ZERO } from "../money.ts";
import {
  addToMinute,
  emptyWindows,
  freezeMinute,
  NO_LIMITS,
  type RateLimits,
  type RateWindows,
  thawMinute,
} from "../rate-window.ts";
import { NO_TAGS } from "../tags.ts";
import { type ApiKey, SCOPES, type Scope } from "./api-key.ts";
import { addSpending, NO_SPENDING, type PeriodSums, spentIn, spentOn } from "./period-sums.ts";

/**
 * The plain form of a key for snapshots: its fields in a fixed order, because the names of the fields of two hundred keys would
 * be half of a snapshot. New fields come last, and older rows are without them.
 */
export type FrozenNamedKey = readonly [
  id: ApiKey["id"],
  name: string,
  /** Initials of the scopes. */
  scopes: string,
  lists: readonly [ApiKey["allowModels"], ApiKey["allowIps"], ApiKey["resources"]] | 0,
  limits: readonly [hard: Nano, daily: Nano, rpm: number, tpm: number] | 0,
  tags: ApiKey["tags"] | 0,
  /** 0 means never. */
  expiresAt: number,
  status: 0 | 1,
  createdAt: number,
  createdBy: ApiKey["createdBy"],
  secrets: readonly (readonly [hash: string, by: ApiKey["createdBy"], until?: number])[],
  issuedBy: string,
  cost: FrozenSums,
  fees: FrozenSums,
  lastUsedAt: number | null,
  minute: readonly number[],
];

/** The day of the last addition, whose month is that of the sums, and the sums of day, month and all; 0 for none. */
type FrozenSums = readonly [day: string, dayCost: Nano, monthCost: Nano, total: Nano] | 0;

/** A key and its use. */
export class NamedKey {
  /** Charges of its requests. */
  cost: PeriodSums = NO_SPENDING;
  /** Fees of its queries, which count against its caps beside the charges. */
  fees: PeriodSums = NO_SPENDING;
  /** Wall-clock ms; null for a key that was never used. */
  lastUsedAt: number | null = null;
  /** Only the minute is counted: a key has no other rate limits. */
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
    return plusCapped(spentIn(this.cost, now), spentIn(this.fees, now));
  }

  /** Returns what counts against DailyLimit at `now`, in nano-dollars. */
  spentOnDay(now: number): Nano {
    return plusCapped(spentOn(this.cost, now), spentOn(this.fees, now));
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
    addToMinute(this.windows, admittedAt, at, requests, tokens);
    this.use(at);
  }

  use(at: number): void {
    this.lastUsedAt = Math.max(this.lastUsedAt ?? 0, at);
  }

  freeze(): FrozenNamedKey {
    const { id, name, scopes, allowModels, allowIps, resources, hardLimit, dailyLimit, rpm, tpm } = this.key;
    const { tags, expiresAt, status, createdAt, createdBy, secrets, issuedBy } = this.key;
    const hasLists = allowModels.length + allowIps.length + resources.length > 0;
    const hasLimits = hardLimit !== 0 || dailyLimit !== 0 || rpm !== 0 || tpm !== 0;
    return [
      id,
      name,
      scopes.map((scope) => scope[0]).join(""),
      hasLists ? [allowModels, allowIps, resources] : 0,
      hasLimits ? [hardLimit, dailyLimit, rpm, tpm] : 0,
      Object.keys(tags).length === 0 ? 0 : tags,
      expiresAt ?? 0,
      status ? 1 : 0,
      createdAt,
      createdBy,
      secrets.map(({ hash, by, until }) => (until === null ? ([hash, by] as const) : [hash, by, until])),
      issuedBy,
      freezeSums(this.cost),
      freezeSums(this.fees),
      this.lastUsedAt,
      freezeMinute(this.windows),
    ];
  }

  static thaw(frozen: FrozenNamedKey): NamedKey {
    const [id, name, scopes, lists, limits, tags, expiresAt, status, createdAt, createdBy, ...rest] = frozen;
    const [secrets, issuedBy, cost, fees, lastUsedAt, minute] = rest;
    const [allowModels, allowIps, resources] = lists || NO_LISTS;
    const [hardLimit, dailyLimit, rpm, tpm] = limits || NO_CAPS;
    const thawed = new NamedKey({
      ...{
        name,
        scopes: scopesOf(scopes),
        allowModels,
        allowIps,
        resources,
        hardLimit,
        dailyLimit,
        rpm,
        tpm,
      },
      ...{
        tags: tags || NO_TAGS,
        expiresAt: expiresAt || null,
        status: status === 1,
        id,
        createdAt,
        createdBy,
        issuedBy,
      },
      secrets: secrets.map(([hash, by, until]) => ({
        hash,
        by,
        until: until ?? null,
      })) as unknown as ApiKey["secrets"],
    });
    thawed.cost = thawSums(cost);
    thawed.fees = thawSums(fees);
    thawed.lastUsedAt = lastUsedAt;
    thawed.windows = thawMinute(minute);
    return thawed;
  }
}

const scopesOf = (initials: string): Scope[] =>
  [...initials].map((initial) => SCOPES.find((scope) => scope[0] === initial)!);

const NO_LISTS = [[], [], []] as const;
const NO_CAPS = [ZERO, ZERO, 0, 0] as const;

const freezeSums = (sums: PeriodSums): FrozenSums =>
  sums === NO_SPENDING ? 0 : [sums.day, sums.dayCost, sums.monthCost, sums.total];

function thawSums(frozen: FrozenSums): PeriodSums {
  if (frozen === 0) return NO_SPENDING;
  const [day, dayCost, monthCost, total] = frozen;
  return { day, dayCost, month: day.slice(0, 7), monthCost, total };
}

const limitsOf = ({ rpm, tpm }: ApiKey): RateLimits =>
  rpm === 0 && tpm === 0 ? NO_LIMITS : { ...NO_LIMITS, rpm, tpm };
