// One admission against the contract's windows and hold rule, reckoned by other code than the actors'. Says what is
// wrong with it, in both directions: given where nothing was left, refused where something was.

import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { AccountEvent, Profile } from "../../actors/account/state.ts";
import { NO_LIMITS, type RateLimits } from "../../actors/rate-window.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import { type KeyModel, spentBy } from "./key-oracle.ts";
import { duePart, type Oracle, spentIn, windowOf } from "./oracle.ts";
import type { Trace } from "./trace.ts";

export interface Held {
  readonly model: string;
  /** The number of the key that asked; 0 for the main key. */
  readonly apiKey: number;
  /** What the request was estimated to use. */
  readonly given: number;
  cost: number;
  tokens: number;
  readonly at: number;
  /** The ledger counts its request. */
  readonly counted: boolean;
  expiresAt: number;
}

export interface Model {
  readonly oracle: Oracle;
  readonly holds: Map<string, Held>;
  /** Requests that this activation saw end. */
  readonly ended: Set<string>;
  /** Requests whose holds it gave back, since their front end was over. */
  readonly abandoned: Set<string>;
  /** It has admitted somebody. */
  admits: boolean;
}

const KEYS = "19 api keys";
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** A window may count up to this much longer than it is, never shorter. */
const SPANS = [
  { requests: "rpm", tokens: "tpm", ms: MINUTE, slackMs: 1_000 },
  { requests: "rph", tokens: "tph", ms: HOUR, slackMs: MINUTE },
  { requests: "rpd", tokens: "tpd", ms: DAY, slackMs: 0 },
] as const satisfies { requests: keyof RateLimits; tokens: keyof RateLimits; ms: number; slackMs: number }[];

export function checkAdmission(
  trace: Trace,
  profile: Profile | null,
  model: Model,
  input: AdmitInput,
  now: number,
  decision: Decision<AccountEvent>,
): void {
  const { refused } = decision;
  if (!refused && "stale" in (decision.reply as object)) return;
  const code = refused?.code ?? "admitted";
  const guards = ["invalid_api_key", "account_disabled", "too_many_aborts", "service_unavailable"];
  if (profile === null || guards.includes(code)) return;
  const fail = (checker: string, message: string) =>
    trace.violate(checker, `account ${profile.id}, request ${input.id} at ${now}: ${code}, but ${message}`);

  // A request that moves to another model is judged as if it held nothing yet, but counted it is already.
  const former = model.holds.get(input.id);
  const holds = [...model.holds].filter(([id]) => id !== input.id).map(([, hold]) => hold);
  const id = former?.apiKey ?? model.oracle.keys.keyOf(input.keyHash, now);
  const key = id === undefined || id === 0 ? null : (model.oracle.keys.keys.get(id) ?? null);
  const given = refused ? null : (decision.reply as Admitted);
  const isListed = key === null || key.allowModels.length === 0 || key.allowModels.includes(input.model);
  if (isListed === (code === "model_not_allowed")) fail(KEYS, `the key's list has ${key?.allowModels}`);
  if (!isListed) return;
  const asked: Asked = { input, now, code, given, isMoving: former !== undefined, fail };

  // ---- windows
  let most = input.promptTokens + input.outputTokens;
  if (key !== null) {
    const ofKey = holds.filter(({ apiKey }) => apiKey === key.id);
    const limits = { ...NO_LIMITS, rpm: key.rpm, tpm: key.tpm };
    const isIts = refused?.message.includes(" of key ") ?? false;
    most = checkWindows({ limits, holds: ofKey, settled: (from) => usedBy(key, from), isIts }, asked, most);
  }
  const isIts = !(refused?.message.includes(" of key ") ?? false);
  const settled = (from: number) => windowOf(model.oracle, from);
  most = checkWindows({ limits: profile.limits, holds, settled, isIts }, asked, most);
  if (code.endsWith("_exceeded")) return;
  if (given !== null && given.tokens < most)
    fail("6 windows", `${given.tokens} tokens are held where ${most} fit`);

  // ---- money
  const expected = moneyRule(profile, model, key, holds, input, now);
  const found = given === null ? code : given.cost;
  if (found !== expected) fail("5 money", `the hold rule gives ${expected}, not ${found}`);
}

/** One admission and what was answered. */
interface Asked {
  readonly input: AdmitInput;
  readonly now: number;
  readonly code: string;
  readonly given: Admitted | null;
  readonly isMoving: boolean;
  fail(checker: string, message: string): void;
}

/** Whose windows are looked at: those of the account, or of the key that asks. */
interface Windows {
  readonly limits: RateLimits;
  /** The open holds that they count. */
  readonly holds: readonly Held[];
  /** What the ledger counts after `from`. */
  settled(from: number): { requests: number; tokens: number };
  /** A refusal says that it is theirs. */
  readonly isIts: boolean;
}

/** Returns the tokens that fit at least; `worst` are those that fitted so far. */
function checkWindows({ limits, holds, settled, isIts }: Windows, asked: Asked, worst: number): number {
  const { input, now, code, given, isMoving, fail } = asked;
  const alone = holds.length === 0;
  let most = worst;
  for (const span of SPANS) {
    const requestLimit = limits[span.requests];
    const tokenLimit = limits[span.tokens];
    if (requestLimit === 0 && tokenLimit === 0) continue;
    const from = span.ms === DAY ? Math.floor(now / DAY) * DAY - 1 : now - span.ms;
    const inside = count(settled(from), holds, from);
    const before = from - span.slackMs - 1;
    const longest = count(settled(before), holds, before);
    const room = tokenLimit === 0 ? Number.POSITIVE_INFINITY : tokenLimit - inside.tokens;
    if (isMoving && isIts && code === `${span.requests}_exceeded`) fail("6 windows", "it is counted already");
    if (given !== null && !isMoving && requestLimit > 0 && inside.requests + 1 > requestLimit) {
      fail("6 windows", `${inside.requests} requests count already against ${span.requests} ${requestLimit}`);
    }
    if (given !== null && given.tokens > room) {
      fail(
        "6 windows",
        `${given.tokens} tokens are held and ${room} are left of ${span.tokens} ${tokenLimit}`,
      );
    }
    if (isIts && code === `${span.requests}_exceeded` && longest.requests + 1 <= requestLimit) {
      fail("6 windows", `only ${longest.requests} requests count against ${requestLimit}`);
    }
    const leastRoom = tokenLimit - longest.tokens;
    const fits = most <= leastRoom || (alone && leastRoom > 0 && leastRoom >= input.promptTokens);
    if (isIts && code === `${span.tokens}_exceeded` && fits) {
      fail("6 windows", `${leastRoom} tokens are left of ${tokenLimit} for ${most}`);
    }
    if (given !== null && !alone && given.tokens < worst && leastRoom >= worst && tokenLimit > 0) {
      fail("6 windows", `${given.tokens} tokens are held beside others where ${worst} fit`);
    }
    if (tokenLimit > 0) most = Math.min(most, Math.max(0, leastRoom));
  }
  return most;
}

/** Requests and tokens of a key that were admitted after `from`. */
function usedBy({ requests }: KeyModel, from: number): { requests: number; tokens: number } {
  const sum = { requests: 0, tokens: 0 };
  for (const { at, tokens, isAgain } of requests) {
    if (at <= from) continue;
    if (!isAgain) sum.requests++;
    sum.tokens += tokens;
  }
  return sum;
}

/** The cost to hold, or the code of the refusal: the contract's section on metering, once more. */
function moneyRule(
  profile: Profile,
  model: Model,
  key: KeyModel | null,
  holds: readonly Held[],
  input: AdmitInput,
  now: number,
): number | string {
  const { oracle } = model;
  const sumOf = (some: readonly Held[]) => some.reduce((sum, hold) => sum + hold.cost, 0);
  const date = new Date(now).toISOString();
  const [month, day] = [date.slice(0, 7), date.slice(0, 10)];
  let cost: number | string = input.cost;
  if (key !== null) {
    const ofKey = holds.filter(({ apiKey }) => apiKey === key.id);
    const rests: [string, number][] = [];
    const left = (limit: number, prefix: string) => limit - spentBy(key, prefix, true) - sumOf(ofKey);
    if (key.hardLimit > 0) rests.push(["hard_limit_reached", left(key.hardLimit, month)]);
    if (key.dailyLimit > 0) rests.push(["daily_limit_reached", left(key.dailyLimit, day)]);
    cost = fitting(cost, rests, ofKey, input);
  }
  if (profile.parent === null || typeof cost === "string") return cost;
  const held = sumOf(holds);
  const balance = oracle.balance - duePart(oracle, holds, now);
  if (balance + profile.xCredit <= input.threshold) return "insufficient_balance";
  const rests: [string, number][] = [["insufficient_balance", balance + profile.xCredit - held]];
  if (profile.hardLimit > 0) {
    rests.push(["hard_limit_reached", profile.hardLimit - spentIn(oracle, month) - held]);
  }
  if (profile.dailyLimit > 0) {
    rests.push(["daily_limit_reached", profile.dailyLimit - spentIn(oracle, day) - held]);
  }
  return fitting(cost, rests, holds, input);
}

/** Less than the worst case is held only beside no hold that the limit counts. */
function fitting(
  worst: number,
  rests: readonly (readonly [string, number])[],
  holds: readonly Held[],
  input: AdmitInput,
): number | string {
  let cost = worst;
  for (const [code, rest] of rests) {
    if (cost <= rest) continue;
    if (holds.length > 0 || rest <= 0 || rest < input.promptCost) return code;
    cost = rest;
  }
  return cost;
}

function count(
  settled: { requests: number; tokens: number },
  holds: readonly Held[],
  from: number,
): { requests: number; tokens: number } {
  for (const hold of holds) {
    if (hold.at <= from) continue;
    if (!hold.counted) settled.requests++;
    settled.tokens += hold.tokens;
  }
  return settled;
}
