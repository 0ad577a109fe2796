// Rate limits of an account and of its models: what counts now, what a request may reserve, and what the
// response headers report. It counts nothing: `evolve` and held-windows.ts do.

import type { Refusal } from "../../src/base/errors.ts";
import type { NamedKey } from "../api-key/named-key.ts";
import {
  counted,
  type RateLimits,
  type RateWindows,
  roomInMs,
  SPANS,
  type WindowSpan,
} from "../rate-window.ts";
import { findModelWindows } from "./evolve.ts";
import { heldWindows } from "./held-windows.ts";
import type { Account, Profile } from "./state.ts";

/** Who spends: an account, and the named key that asks; null for the main key. */
export interface Spender {
  readonly state: Account;
  readonly profile: Profile;
  readonly named: NamedKey | null;
}

/** What a request adds to the windows. `modelLimits` is null if its model has no limits. */
export interface WindowDemand {
  readonly model: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly modelLimits: RateLimits | null;
}

/** One limit that is set, with what remains of it. */
export interface LimitRow {
  readonly scope: "api_key" | "account" | "model";
  readonly name: keyof RateLimits | "balance" | "hard_limit" | "daily_limit";
  readonly limit: number;
  /** What counts, that of requests in flight included; it may exceed `limit`. */
  readonly used: number;
  /** Never below 0. */
  readonly remaining: number;
  /**
   * Wall-clock ms at which the whole limit is free again without further use; null if that needs a recharge.
   */
  readonly resetsAt: number | null;
  readonly unit: "count" | "nano";
}

/** The tightest window of requests or tokens, for the rate-limit headers. */
export interface RemainingLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

const RULES = [
  { span: "minute", requests: "rpm", tokens: "tpm" },
  { span: "hour", requests: "rph", tokens: "tph" },
  { span: "day", requests: "rpd", tokens: "tpd" },
] as const satisfies { span: WindowSpan; requests: keyof RateLimits; tokens: keyof RateLimits }[];

/** Whose windows a request counts in, and what limits them. */
interface Scope {
  readonly scope: LimitRow["scope"];
  /** Whose limit it is, in the messages of refusals. */
  readonly of: string;
  readonly limits: RateLimits;
  readonly windows: readonly RateWindows[];
  /** Whether no open hold counts in these windows. Asked only where a limit is exceeded. */
  isAlone(): boolean;
}

const NO_SCOPES: readonly Scope[] = [];

/** Returns the scopes that have a limit, in the order in which they refuse; most accounts have none. */
function scopes({ state, profile, named }: Spender, input: WindowDemand, now: number): readonly Scope[] {
  const isAccountLimited = hasLimit(profile.limits);
  const { modelLimits } = input;
  const isModelLimited = modelLimits !== null && hasLimit(modelLimits);
  const isKeyLimited = named !== null && hasLimit(named.limits);
  if (!isAccountLimited && !isModelLimited && !isKeyLimited) return NO_SCOPES;
  const { holds, keyHolds } = state.volatile;
  const scopes: Scope[] = [];
  if (isKeyLimited) {
    const open = keyHolds?.get(named.key.id);
    scopes.push({
      ...{ scope: "api_key", of: `of key ${named.key.name}`, limits: named.limits },
      windows: open === undefined ? [named.windows] : [named.windows, open.windows],
      isAlone: () => open === undefined,
    });
  }
  if (isAccountLimited) {
    const windows = [state.windows, heldWindows(state, now).account];
    const isAlone = () => holds.size === 0;
    scopes.push({ scope: "account", of: "of the account", limits: profile.limits, windows, isAlone });
  }
  if (isModelLimited) scopes.push(modelScope(state, input.model, modelLimits, now));
  return scopes;
}

function modelScope(state: Account, model: string, limits: RateLimits, now: number): Scope {
  const { models } = heldWindows(state, now);
  const windows = [state.modelWindows, models].map((of) => findModelWindows(of, model));
  return {
    scope: "model",
    of: `of model ${model}`,
    limits,
    windows: windows.filter((one) => one !== undefined),
    isAlone: () => !state.volatile.holds.values().some((hold) => hold.model === model),
  };
}

const hasLimit = ({ rpm, rph, rpd, tpm, tph, tpd }: RateLimits): boolean =>
  rpm > 0 || rph > 0 || rpd > 0 || tpm > 0 || tph > 0 || tpd > 0;

function used(
  windows: readonly RateWindows[],
  span: WindowSpan,
  now: number,
): { requests: number; tokens: number } {
  let requests = 0;
  let tokens = 0;
  for (const one of windows) {
    const count = counted(one, span, now);
    requests += count.requests;
    tokens += count.tokens;
  }
  return { requests, tokens };
}

/**
 * Returns the tokens to hold in the windows: the worst case, or the rest that remains below a limit that counts no other
 * open hold. Returns the refusal (such as rpm_exceeded) of the first limit that is exceeded. `counted` means that the
 * windows of account and key already include the request, so that only its model's request limits are checked.
 */
export function reserveTokens(
  spender: Spender,
  input: WindowDemand,
  now: number,
  counted: boolean,
): number | Refusal {
  let tokens = input.promptTokens + input.outputTokens;
  for (const scope of scopes(spender, input, now)) {
    const isNew = scope.scope === "model" || !counted;
    for (const rule of RULES) {
      const requestLimit = scope.limits[rule.requests];
      const tokenLimit = scope.limits[rule.tokens];
      if (requestLimit === 0 && tokenLimit === 0) continue;
      const count = used(scope.windows, rule.span, now);
      if (isNew && requestLimit > 0 && count.requests + 1 > requestLimit) {
        const need = { limit: requestLimit, used: count.requests, more: 1 };
        return exceeded(
          scope,
          rule.requests,
          requestLimit,
          roomInMs(scope.windows, rule.span, "requests", need, now),
        );
      }
      if (tokenLimit === 0 || count.tokens + tokens <= tokenLimit) continue;
      if (input.promptTokens > tokenLimit)
        return neverFits(scope, rule.tokens, tokenLimit, input.promptTokens);
      const remaining = tokenLimit - count.tokens;
      if (remaining <= 0 || remaining < input.promptTokens || !scope.isAlone()) {
        const need = { limit: tokenLimit, used: count.tokens, more: Math.min(tokens, tokenLimit) };
        return exceeded(
          scope,
          rule.tokens,
          tokenLimit,
          roomInMs(scope.windows, rule.span, "tokens", need, now),
        );
      }
      tokens = remaining;
    }
  }
  return tokens;
}

const exceeded = (scope: Scope, rule: keyof RateLimits, limit: number, waitMs: number): Refusal => ({
  code: `${rule}_exceeded`,
  message: `The limit of ${limit} ${rule.toUpperCase()} ${scope.of} is reached. Try again in ${Math.ceil(waitMs / 1000)} s.`,
  retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)),
});

const neverFits = (scope: Scope, rule: keyof RateLimits, limit: number, prompt: number): Refusal => ({
  code: `${rule}_exceeded`,
  message: `The prompt's ${prompt} tokens are more than the limit of ${limit} ${rule.toUpperCase()} ${scope.of}. Send less.`,
  final: true,
});

/**
 * Returns the tightest request and token windows after this request, for the headers; null where no limit is
 * set.
 */
export function remainingLimits(
  spender: Spender,
  input: WindowDemand,
  now: number,
): { requests: RemainingLimit | null; tokensLeft: RemainingLimit | null } {
  let requests: RemainingLimit | null = null;
  let tokensLeft: RemainingLimit | null = null;
  for (const scope of scopes(spender, input, now)) {
    for (const rule of RULES) {
      const limits = [scope.limits[rule.requests], scope.limits[rule.tokens]] as const;
      if (limits[0] === 0 && limits[1] === 0) continue;
      const count = used(scope.windows, rule.span, now);
      // A day resets at midnight UTC; a sliding window is empty after its full length.
      const { stepMs, steps } = SPANS[rule.span];
      const resetMs = steps === 0 ? stepMs - (now % stepMs) : stepMs * steps;
      requests = tighter(requests, limits[0], count.requests, resetMs);
      tokensLeft = tighter(tokensLeft, limits[1], count.tokens, resetMs);
    }
  }
  return { requests, tokensLeft };
}

function tighter(
  best: RemainingLimit | null,
  limit: number,
  used: number,
  resetMs: number,
): RemainingLimit | null {
  if (limit === 0) return best;
  const remaining = Math.max(0, limit - used);
  return best === null || remaining < best.remaining ? { limit, remaining, resetMs } : best;
}

/** Returns every window limit that is set, with what remains before this request. */
export const windowRows = (spender: Spender, input: WindowDemand, now: number): LimitRow[] =>
  scopes(spender, input, now).flatMap((scope) => rowsOf(scope, now));

/** Returns what counts in each window of a model, whatever its limits are: `limit` stands for none of them. */
export function modelRows(state: Account, model: string, now: number): LimitRow[] {
  return rowsOf(modelScope(state, model, EVERY_LIMIT, now), now);
}

const EVERY_LIMIT: RateLimits = { rpm: 1, rph: 1, rpd: 1, tpm: 1, tph: 1, tpd: 1 };

function rowsOf({ scope, limits, windows }: Scope, now: number): LimitRow[] {
  const rows: LimitRow[] = [];
  for (const { span, ...names } of RULES) {
    const count = used(windows, span, now);
    for (const measure of ["requests", "tokens"] as const) {
      const limit = limits[names[measure]];
      if (limit === 0) continue;
      const need = { limit: 0, used: count[measure], more: 0 };
      rows.push({
        scope,
        name: names[measure],
        limit,
        used: need.used,
        remaining: Math.max(0, limit - need.used),
        resetsAt: need.used === 0 ? now : now + roomInMs(windows, span, measure, need, now),
        unit: "count",
      });
    }
  }
  return rows;
}
