// How a key's health reads at a given moment, and what an answer does to it. Nothing here runs by a timer: rests and
// sleeps are deadlines, and the hour that clears SleepTimes is measured when somebody looks.

import type { ProviderKeyId } from "../ids.ts";
import type { Health, Streak, Success } from "./state.ts";
import type { KeyHealth } from "./view.ts";

/** So long awake and answering without a failure, and the next sleep is a first one again. */
const CLEARED_AFTER_MS = 3_600_000;

/** Ends of a streak that are remembered of one key. */
export const STREAK_ENDS_MAX = 100;

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
  restedAt: 0,
  restsUntil: 0,
  renewedAt: 0,
  reason: "",
  passedOver: [],
};

/** How often it fell asleep, as far as that still counts. */
export const sleepTimesAt = (health: Health, now: number): number =>
  health.answeredAt > 0 && now - health.answeredAt >= CLEARED_AFTER_MS ? 0 : health.sleepTimes;

/** Is it kept from its work as a whole: asleep or resting? */
export const isUnavailable = (health: Health, now: number): boolean =>
  health.sleepsUntil > now || health.restsUntil > now;

/** As a view shows it; null: simply well. */
export function visibleHealth(key: ProviderKeyId, health: Health, now: number): KeyHealth | null {
  const { failures, sleepsUntil, restsUntil, waking } = health;
  const sleepTimes = sleepTimesAt(health, now);
  const passedOver = health.passedOver.filter(({ until }) => until > now);
  const out = isUnavailable(health, now);
  if (!out && !waking && failures === 0 && sleepTimes === 0 && passedOver.length === 0) return null;
  const reason = out || waking ? health.reason : "";
  return { key, failures, sleepTimes, sleepsUntil, restsUntil, reason, waking, passedOver };
}

/** When the attempts of the streak ended; where that was not written, when the last of them was decided. */
export const endsOf = ({ streak, failures, failedAt }: Health): readonly number[] =>
  streak ?? Array.from({ length: Math.min(failures, STREAK_ENDS_MAX) }, () => failedAt);

/**
 * After an answer, whenever word of it comes: the attempts are judged in the order in which they ended. It clears the failures
 * that ended before it, and ends the waking when its attempt began after the sleep. A sleep that came by failures in a row is
 * none when it ended between them. The very same object when nothing changes.
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

/** The very same object when the answer is not the first after all of its failures. */
const overAfter = (sleptBy: Streak | null, endedAt: number): Streak | null =>
  sleptBy === null || sleptBy.isOver || sleptBy.ends.some((end) => end >= endedAt)
    ? sleptBy
    : { ...sleptBy, isOver: true };

/** Without the sleep, where an answer ended between its failures; null: it did not. */
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
