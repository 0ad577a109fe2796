// The shape of one seed's traffic: how many accounts and requests, how they end, what they cost. Each seed draws its
// own, from one hot account to many quiet ones, from rich accounts to ones that are always nearly empty.

import type { SimRandom } from "./random.ts";

export interface Load {
  /** Virtual ms during which requests arrive and faults happen. */
  readonly durationMs: number;
  /** Requests in all. */
  readonly requests: number;
  /** Subaccounts made before and while requests arrive. */
  readonly accounts: number;
  /** 1 = all accounts alike; 8 = nearly everything on one. */
  readonly hot: number;
  /** Levels of accounts below Root. */
  readonly depth: number;
  /** Initial credit in units of an average request's worst case. */
  readonly wealth: number;
  /** 0..1: credit that expires within the run. */
  readonly shortLived: number;
  /** 0..1: accounts with HardLimit, RPM, TPM or the like, so tight that they bite. */
  readonly limited: number;
  /** 0..1: requests that end without a charge, acknowledged or not. */
  readonly cancelled: number;
  /** 0..1: requests whose front end dies: neither charged nor cancelled. */
  readonly abandoned: number;
  /** 0..1: requests that use more than they held. */
  readonly beyond: number;
  /** 0..1: of those, the ones that say so while they run. */
  readonly renewed: number;
  /** 0..1: requests that move to another model while they run, up to three times. */
  readonly moved: number;
  /** ms that a request runs upstream, mean. */
  readonly thinkMs: number;
  /** 0..1: charges by way of the gateway's settling, with its spool, instead of a client's own retries. */
  readonly settled: number;
  /** 0..1: acknowledged charges that arrive once more, soon or long afterwards. */
  readonly duplicated: number;
  /** 0..1: duplicates that come 20 minutes later. */
  readonly muchLater: number;
  /** ms between reads of accounts, mean. */
  readonly readEveryMs: number;
  /** 0..1: creations by the service's own function; the others repeat createChild with one id until it answers. */
  readonly byService: number;
  /** 0..1: accounts with AutoQuota. */
  readonly quota: number;
  /** Errands of administrators: recharges, refunds, moves, deletions and the like. */
  readonly errands: number;
  /** Changes of configurations, maps and provider keys, failures of keys, and looks at what came of them. */
  readonly configuring: number;
  /** Changes of configurations and maps come one after another. */
  readonly orderly: boolean;
  /** Errands about named API keys: made, capped, narrowed, rotated, disabled, deleted. */
  readonly keys: number;
  /** 0..1: requests that come with the secret of a named key, where their account has one. */
  readonly keyed: number;
}

export function drawLoad(random: SimRandom): Load {
  const often = (probability: number, draw: () => number, usual: number) =>
    random.chance(probability) ? draw() : usual;
  return {
    durationMs: often(0.05, () => 1_500_000, random.spread(5_000, 120_000)),
    requests: Math.round(random.spread(30, 500)),
    accounts: Math.round(random.spread(1, 80)),
    hot: random.spread(1, 8),
    depth: random.between(1, 4),
    wealth: random.spread(0.5, 1_000),
    shortLived: often(0.5, () => random.unit(), 0),
    limited: often(0.5, () => random.unit(), 0),
    cancelled: random.unit() * 0.3,
    abandoned: often(0.4, () => random.unit() * 0.1, 0),
    beyond: often(0.5, () => random.unit() * 0.4, 0),
    renewed: random.unit(),
    moved: often(0.6, () => random.unit() * 0.5, 0),
    thinkMs: random.spread(1, 20_000),
    settled: random.unit(),
    duplicated: random.unit() * 0.4,
    muchLater: often(0.15, () => 0.3, 0),
    readEveryMs: random.spread(100, 5_000),
    byService: random.unit(),
    quota: often(0.5, () => random.unit(), 0),
    errands: often(0.7, () => Math.round(random.spread(1, 200)), 0),
    configuring: often(0.7, () => Math.round(random.spread(10, 400)), 0),
    orderly: random.chance(0.6),
    keys: often(0.7, () => Math.round(random.spread(5, 150)), 0),
    keyed: random.unit(),
  };
}
