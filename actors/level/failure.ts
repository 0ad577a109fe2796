// What a failed attempt means: for its key (a mark in its streak, a rest, a sleep, a model passed over) and for its Level
// (the switch-over). The rules of contract section 4 as pure functions; the signals themselves are judged upstream.

import { unreachable } from "../../src/base/errors.ts";
import type { ProviderKeyId } from "../ids.ts";
import { MINUTE_MS, SECOND_MS } from "../time.ts";
import { sleepTimesAt } from "./health.ts";
import type { Health, LevelEvent, LevelFold } from "./state.ts";

export interface Failure {
  readonly key: ProviderKeyId;
  readonly model: string;
  /** Wall ms at which the attempt began. */
  readonly startedAt: number;
  /** Wall ms at which it ended; left out: when word of it comes. */
  readonly endedAt?: number;
  /**
   * `fail`: it may be better the next time. `long`: waiting a little cannot help. `rest`: rate limited.
   * `pass_over`: this key does not have the model.
   */
  readonly what: "fail" | "long" | "rest" | "pass_over";
  /** What the provider asked for; only `rest` heeds it. */
  readonly retryAfterMs: number | null;
  /** The signal's name, for those who look at a sleeping key. */
  readonly reason: string;
  /** Counted failures in a row that put a key to sleep. */
  readonly limit: number;
}

/** The first sleep, the second, … and every further one, in minutes. */
const SLEEPS_MINUTES = [5, 15, 30, 60, 120, 240, 480, 960, 1_440] as const;
/** A `long` signal skips this many of them. */
const LONG_SKIPS = 2;
/** Rests of unknown length, in seconds, by how many went before. */
const RESTS_S = [1, 2, 4, 5] as const;
const PASS_OVER_MS = 10 * MINUTE_MS;

/** More failed attempts than this within the window switch the Level over, for as long. */
const SWITCH_FAILURES = 5;
const SWITCH_MS = MINUTE_MS;

/**
 * What happened, besides the switch-over, by one failed attempt. None: it says nothing new. `answeredUntil`: when the key's
 * newest known answer ended.
 */
export function failureEvents(
  fold: LevelFold,
  health: Health,
  failure: Failure,
  { now, answeredUntil }: Moment,
): LevelEvent[] {
  const { counted, consequences } = judged(health, failure, { now, answeredUntil });
  const { key, endedAt } = failure;
  const towardsSwitch = fold.switchedUntil <= now && isLevelFailure(failure);
  const events: LevelEvent[] =
    counted || towardsSwitch
      ? [{ type: "failed", key, counted, ...(endedAt === undefined ? {} : { endedAt }) }, ...consequences]
      : [...consequences];
  if (towardsSwitch && failuresWithin(fold, now).length >= SWITCH_FAILURES) {
    events.push({ type: "switched_over", until: now + SWITCH_MS });
  }
  return events;
}

/** Failed attempts of the window that ends now. */
export const failuresWithin = ({ recentFailures }: LevelFold, now: number): readonly number[] =>
  recentFailures.filter((at) => now - at < SWITCH_MS);

/** A provider that names its pause, or lacks one model, is at work. */
const isLevelFailure = ({ what, retryAfterMs }: Failure): boolean =>
  what === "fail" || what === "long" || (what === "rest" && retryAfterMs === null);

interface Moment {
  readonly now: number;
  readonly answeredUntil: number;
}

interface Verdict {
  readonly counted: boolean;
  readonly consequences: readonly LevelEvent[];
}
const NOTHING: Verdict = { counted: false, consequences: [] };

function judged(health: Health, failure: Failure, { now, answeredUntil }: Moment): Verdict {
  const { what, startedAt, endedAt = now } = failure;
  if (startedAt < health.renewedAt) return NOTHING;
  const isAsleep = health.sleepsUntil > now;
  // Who still tries a sleeping key has not heard of its sleep: that it fails is what put it to sleep.
  // One that ended before an answer is known has been cleared by it.
  const isRepeated = startedAt < health.failedAt || isAsleep || endedAt < answeredUntil;
  switch (what) {
    case "fail":
      return isRepeated ? NOTHING : streak(health, failure, now, []);
    case "long":
      // A short sleep becomes a long one, but a long one no longer.
      if (isAsleep && (startedAt < health.failedAt || health.sleepTimes > LONG_SKIPS)) return NOTHING;
      return { counted: true, consequences: [sleep(health, failure, now, { skips: LONG_SKIPS })] };
    case "rest":
      return rest(health, failure, now, isRepeated);
    case "pass_over":
      return passOver(health, failure, now);
    default:
      return unreachable(what);
  }
}

/** One more failure in a row: the last one that is borne, or a failed probe, ends in sleep. */
function streak(health: Health, failure: Failure, now: number, before: readonly LevelEvent[]): Verdict {
  const probeFailed = health.waking && health.sleepsUntil <= now && failure.startedAt >= health.sleepsUntil;
  const sleeps = probeFailed || health.failures + 1 >= failure.limit;
  const { limit, endedAt } = failure;
  const byStreak = endedAt === undefined || health.waking ? { skips: 0 } : { skips: 0, limit };
  return {
    counted: true,
    consequences: sleeps ? [...before, sleep(health, failure, now, byStreak)] : before,
  };
}

function sleep(
  health: Health,
  { key, reason }: Failure,
  now: number,
  { skips, ...by }: { readonly skips: number; readonly limit?: number },
): LevelEvent {
  const before = Math.max(sleepTimesAt(health, now), skips);
  const minutes = SLEEPS_MINUTES[Math.min(before, SLEEPS_MINUTES.length - 1)]!;
  return { type: "slept", key, until: now + minutes * MINUTE_MS, sleepTimes: before + 1, reason, ...by };
}

function rest(health: Health, failure: Failure, now: number, isRepeated: boolean): Verdict {
  const { key, reason, retryAfterMs } = failure;
  if (retryAfterMs !== null) {
    const until = now + retryAfterMs;
    if (until <= Math.max(now, health.restsUntil)) return NOTHING;
    return { counted: false, consequences: [{ type: "rested", key, until, named: true, reason }] };
  }
  // Answers to what was sent before the rest began are of one piece with the answer that began it.
  if (failure.startedAt < health.restedAt) return NOTHING;
  const ms = RESTS_S[Math.min(health.rests, RESTS_S.length - 1)]! * SECOND_MS;
  const until = Math.max(health.restsUntil, now + ms);
  const rested: LevelEvent = { type: "rested", key, until, named: false, reason };
  return isRepeated ? { counted: false, consequences: [rested] } : streak(health, failure, now, [rested]);
}

function passOver(health: Health, { key, model, startedAt }: Failure, now: number): Verdict {
  const known = health.passedOver.find((one) => one.model === model);
  if (known !== undefined && startedAt < known.until - PASS_OVER_MS) return NOTHING;
  const until = now + PASS_OVER_MS;
  return { counted: false, consequences: [{ type: "passed_over", key, model, until }] };
}
