// One admission against the contract's windows and hold rule, reckoned by other code than the actors'. Says what is
// wrong with it, in both directions: given where nothing was left, refused where something was.

import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { AccountEvent, Profile } from "../../actors/account/state.ts";
import type { RateLimits } from "../../actors/rate-window.ts";
import type { Decision } from "../../src/runtime/actor.ts";
import { duePart, type Oracle, spentIn, windowOf } from "./oracle.ts";
import type { Trace } from "./trace.ts";

export interface Held {
  readonly model: string;
  /** What the request was told to use. */
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
  const moving = model.holds.has(input.id);
  const holds = [...model.holds].filter(([id]) => id !== input.id).map(([, hold]) => hold);
  const alone = holds.length === 0;
  const given = refused ? null : (decision.reply as Admitted);
  const worst = input.promptTokens + input.outputTokens;

  // ---- windows
  let most = worst;
  for (const span of SPANS) {
    const requestLimit = profile.limits[span.requests];
    const tokenLimit = profile.limits[span.tokens];
    const from = span.ms === DAY ? Math.floor(now / DAY) * DAY - 1 : now - span.ms;
    const inside = count(model, holds, from);
    const longest = count(model, holds, from - span.slackMs - 1);
    const room = tokenLimit === 0 ? Number.POSITIVE_INFINITY : tokenLimit - inside.tokens;
    if (moving && code === `${span.requests}_exceeded`) fail("6 windows", "it is counted already");
    if (given !== null && !moving && requestLimit > 0 && inside.requests + 1 > requestLimit) {
      fail("6 windows", `${inside.requests} requests count already against ${span.requests} ${requestLimit}`);
    }
    if (given !== null && given.tokens > room) {
      fail(
        "6 windows",
        `${given.tokens} tokens are held and ${room} are left of ${span.tokens} ${tokenLimit}`,
      );
    }
    if (code === `${span.requests}_exceeded` && longest.requests + 1 <= requestLimit) {
      fail("6 windows", `only ${longest.requests} requests count against ${requestLimit}`);
    }
    const leastRoom = tokenLimit - longest.tokens;
    const fits = most <= leastRoom || (alone && leastRoom > 0 && leastRoom >= input.promptTokens);
    if (code === `${span.tokens}_exceeded` && fits) {
      fail("6 windows", `${leastRoom} tokens are left of ${tokenLimit} for ${most}`);
    }
    if (tokenLimit > 0) most = Math.min(most, Math.max(0, leastRoom));
  }
  if (code.endsWith("_exceeded")) return;
  if (given !== null && (given.tokens < most || (!alone && given.tokens !== worst))) {
    fail("6 windows", `${given.tokens} tokens are held where ${most} to ${worst} fit`);
  }

  // ---- money
  const expected = moneyRule(profile, model, holds, input, now);
  const found = given === null ? code : given.cost;
  if (found !== expected) fail("5 money", `the hold rule gives ${expected}, not ${found}`);
}

/** The cost to hold, or the code of the refusal: the contract's section on metering, once more. */
function moneyRule(
  profile: Profile,
  model: Model,
  holds: readonly Held[],
  input: AdmitInput,
  now: number,
): number | string {
  if (profile.parent === null) return input.cost;
  const { oracle } = model;
  const held = holds.reduce((sum, hold) => sum + hold.cost, 0);
  const balance = oracle.balance - duePart(oracle, holds, now);
  if (balance + profile.xCredit <= input.threshold) return "insufficient_balance";
  const date = new Date(now).toISOString();
  const rests: [string, number][] = [["insufficient_balance", balance + profile.xCredit - held]];
  if (profile.hardLimit > 0) {
    rests.push(["hard_limit_reached", profile.hardLimit - spentIn(oracle, date.slice(0, 7)) - held]);
  }
  if (profile.dailyLimit > 0) {
    rests.push(["daily_limit_reached", profile.dailyLimit - spentIn(oracle, date.slice(0, 10)) - held]);
  }
  let cost: number = input.cost;
  for (const [code, rest] of rests) {
    if (cost <= rest) continue;
    if (holds.length > 0 || rest <= 0 || rest < input.promptCost) return code;
    cost = rest;
  }
  return cost;
}

function count(model: Model, holds: readonly Held[], from: number): { requests: number; tokens: number } {
  const settled = windowOf(model.oracle, from);
  for (const hold of holds) {
    if (hold.at <= from) continue;
    if (!hold.counted) settled.requests++;
    settled.tokens += hold.tokens;
  }
  return settled;
}
