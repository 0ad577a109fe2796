// A key's health at a given time, and what a successful attempt changes in it. Nothing here runs by a timer:
// rests and sleeps are deadlines, and the hour that clears SleepTimes is computed when the health is read.

import type { ProviderKeyId } from "../ids.ts";
import type { Health, Streak, Success } from "./state.ts";
import type { KeyHealth } from "./view.ts";

/**
 * Milliseconds without failure, since the first answer of a key that is awake, after which `sleepTimes` is 0
 * again.
 */
const CLEARED_AFTER_MS = 3_600_000;

/** Failures of a streak whose ends are remembered per key. */
export const STREAK_ENDS_MAX = 100;

/** The health of a key of which nothing is known. */
export const HEALTHY: Health = {
  failures: 0,
  failedAt: 0,
  streak: [],
  sleptBy: null,
  sleepTimes: 0,
  sleepsUntil: 0,
  waking: false,
  answeredAt: 0,
  rests: 0,
  restsUntil: 0,
  renewedAt: 0,
  reason: "",
  passedOver: [],
};

/** Returns how many sleeps still count at `now` (wall-clock ms) for the length of the next one. */
export const sleepTimesAt = (health: Health, now: number): number =>
  health.answeredAt > 0 && now - health.answeredAt >= CLEARED_AFTER_MS ? 0 : health.sleepTimes;

/** Returns whether the key sleeps or rests, so that no model can use it. */
export const isUnavailable = (health: Health, now: number): boolean =>
  health.sleepsUntil > now || health.restsUntil > now;

/** Returns the health as a view shows it at `now`, or null if the key is entirely healthy. */
export function visibleHealth(key: ProviderKeyId, health: Health, now: number): KeyHealth | null {
  const { failures, sleepsUntil, restsUntil, waking } = health;
  const sleepTimes = sleepTimesAt(health, now);
  const passedOver = health.passedOver.filter(({ until }) => until > now);
  const out = isUnavailable(health, now);
  if (!out && !waking && failures === 0 && sleepTimes === 0 && passedOver.length === 0) return null;
  const reason = out || waking ? health.reason : "";
  return { key, failures, sleepTimes, sleepsUntil, restsUntil, reason, waking, passedOver };
}

/** Returns when the attempts of the streak ended; older states only have the time of the last decision. */
export const endsOf = ({ streak, failures, failedAt }: Health): readonly number[] =>
  streak ?? Array.from({ length: Math.min(failures, STREAK_ENDS_MAX) }, () => failedAt);

/**
 * Returns the health after a successful attempt, or the same object if nothing changes. The report may arrive
 * late: attempts count in the order in which they ended. The success clears failures that ended before it,
 * and ends the waking state if its attempt began after the sleep. It revokes a sleep caused by a streak of
 * failures if it ended between them.
 */
export function afterSuccess(health: Health, { startedAt, endedAt }: Success): Health {
  const awake = sleepless(health, endedAt);
  if (awake !== null) return awake;
  const ends = endsOf(health);
  const left = ends.filter((end) => end >= endedAt);
  const clears = ends.length === 0 ? endedAt > health.failedAt : left.length === 0;
  const waking = health.waking && startedAt < health.sleepsUntil;
  const startsHour = clears && !waking && health.sleepTimes > 0 && health.answeredAt === 0;
  const clearsStreak = left.length < ends.length || (clears && health.rests > 0);
  const sleptBy = waking ? overAfter(health.sleptBy ?? null, endedAt) : null;
  const isOver = sleptBy !== null && sleptBy !== health.sleptBy;
  if (waking === health.waking && !startsHour && !clearsStreak && !isOver) return health;
  return {
    ...health,
    waking,
    answeredAt: startsHour ? endedAt : health.answeredAt,
    failures: left.length < ends.length ? left.length : health.failures,
    streak: left,
    sleptBy,
    rests: clears ? 0 : health.rests,
  };
}

/**
 * Marks the streak as over if the answer ended after all of its failures; otherwise returns the same object.
 */
const overAfter = (sleptBy: Streak | null, endedAt: number): Streak | null =>
  sleptBy === null || sleptBy.isOver || sleptBy.ends.some((end) => end >= endedAt)
    ? sleptBy
    : { ...sleptBy, isOver: true };

/**
 * Returns the health without its sleep if the answer ended between the failures that caused it, otherwise
 * null.
 */
function sleepless(health: Health, endedAt: number): Health | null {
  const { sleptBy = null } = health;
  if (sleptBy === null || !health.waking) return null;
  const { ends, limit, isOver = false } = sleptBy;
  const after = ends.filter((end) => end >= endedAt);
  if (after.length === 0 || after.length === ends.length || after.length >= limit) return null;
  const streak = isOver ? [] : after;
  return {
    ...health,
    failures: streak.length,
    streak,
    sleptBy: null,
    sleepTimes: health.sleepTimes - 1,
    sleepsUntil: 0,
    waking: false,
    reason: "",
  };
}
