// The consequences of a failed attempt: for its key (a counted failure, a rest, a sleep, a model passed over)
// and for its Level (the switch-over). Pure functions for the rules of contract section 4; src/upstream
// classifies the failures.

import { unreachable } from "../../src/base/errors.ts";
import type { ProviderKeyId } from "../ids.ts";
import { MINUTE_MS, SECOND_MS } from "../time.ts";
import { sleepTimesAt } from "./health.ts";
import type { Health, LevelEvent, LevelFold } from "./state.ts";

/** A failed attempt, as a node reports it. */
export interface Failure {
  readonly key: ProviderKeyId;
  readonly model: string;
  /** Wall-clock ms at which the attempt began. */
  readonly startedAt: number;
  /** Wall-clock ms at which the attempt ended; if absent, the time of the decision counts. */
  readonly endedAt?: number;
  /**
   * `fail`: the next attempt may succeed. `long`: a short wait cannot help. `rest`: the key is rate limited.
   * `pass_over`: the key does not have the model.
   */
  readonly what: "fail" | "long" | "rest" | "pass_over";
  /** The pause that the provider named, or null; only `rest` uses it. */
  readonly retryAfterMs: number | null;
  /** Name of the failure kind, shown for a sleeping or resting key. */
  readonly reason: string;
  /** Counted failures in a row after which the key sleeps. */
  readonly limit: number;
  /** The Level that SWITCH_OVER names for this one, as the reporting node knows it; absent if there is none. */
  readonly switchTo?: number;
}

/** Lengths of the first, second, … sleep in minutes; the last one applies to all further sleeps. */
const SLEEPS_MINUTES = [5, 15, 30, 60, 120, 240, 480, 960, 1_440] as const;
/** A `long` failure skips this many of them. */
const LONG_SKIPS = 2;
/** Lengths in seconds of rests for which the provider named no pause, by the number of rests before. */
const RESTS_S = [1, 2, 4, 5] as const;
const PASS_OVER_MS = 10 * MINUTE_MS;

/** More failed attempts than this within SWITCH_MS switch the Level over, for SWITCH_MS. */
const SWITCH_FAILURES = 5;
const SWITCH_MS = MINUTE_MS;

/**
 * Returns the events that follow from one failed attempt, the switch-over included; empty if it says nothing
 * new. `now` and `answeredUntil`, the end of the key's latest known answer, are wall-clock ms.
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
    const { reason, switchTo: to } = failure;
    events.push({
      type: "switched_over",
      until: now + SWITCH_MS,
      reason,
      ...(to === undefined ? {} : { to }),
    });
  }
  return events;
}

/** Returns the times (wall-clock ms) of failed attempts in the SWITCH_MS before `now`. */
export const failuresWithin = ({ recentFailures }: LevelFold, now: number): readonly number[] =>
  recentFailures.filter((at) => now - at < SWITCH_MS);

/** A rest with a named pause and a missing model do not count towards the switch-over: the provider works. */
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
  // A node that tries a sleeping key has not yet received its view, so the failure has the same cause as the
  // sleep. A failure that ended before the latest known answer has been cleared by that answer.
  const isRepeated = startedAt < health.failedAt || isAsleep || endedAt < answeredUntil;
  switch (what) {
    case "fail":
      return isRepeated ? NOTHING : streak(health, failure, now, []);
    case "long":
      // A short sleep is extended to a long one; a long one is not extended.
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

/** Counts one more failure in a row. The key sleeps if the limit is reached or a probe failed. */
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
  // An attempt that began before the end of a rest failed for its reason: it was running, or its node had not heard of it.
  if (failure.startedAt < health.restsUntil) return NOTHING;
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
