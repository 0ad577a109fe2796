// Applies events to a Level, the same live and on replay. It must not decide or read a clock: `at` is the
// wall-clock time of the commit. The given fold is not changed.

import { unreachable } from "../../src/base/errors.ts";
import type { ProviderKeyId } from "../ids.ts";
import { failuresWithin } from "./failure.ts";
import { afterSuccess, endsOf, HEALTHY, STREAK_ENDS_MAX, sleepTimesAt } from "./health.ts";
import type { Health, LevelEvent, LevelFold } from "./state.ts";
import type { LevelKey } from "./view.ts";

/** Models passed over per key; the oldest are dropped. */
const PASSED_MAX = 100;

/** Returns the fold after an event; its version grows by 1. */
export const evolveLevel = (fold: LevelFold, event: LevelEvent, at: number): LevelFold => ({
  ...fold,
  ...changeBy(fold, event, at),
  version: fold.version + 1,
});

function changeBy(fold: LevelFold, event: LevelEvent, at: number): Partial<LevelFold> {
  switch (event.type) {
    case "members_changed":
      return membership(fold, event, at);
    case "failed":
      return {
        // The sixth failure switches the Level over and clears the list, so it stays short.
        recentFailures: fold.switchedUntil > at ? fold.recentFailures : [...failuresWithin(fold, at), at],
        ...(event.counted
          ? changed(fold, [event.key], (health) => failedOnce(health, at, event.endedAt ?? at))
          : {}),
      };
    case "rested":
      return changed(fold, [event.key], (health) => ({
        ...health,
        restsUntil: event.until,
        // While a key sleeps, the reason of its sleep is more useful than that of a rest.
        reason: health.sleepsUntil > at ? health.reason : event.reason,
        ...(event.named ? {} : { rests: health.rests + 1 }),
      }));
    case "slept":
      return changed(fold, [event.key], (health) => ({
        ...health,
        failures: 0,
        streak: [],
        sleptBy: event.limit === undefined ? null : { ends: endsOf(health), limit: event.limit },
        sleepTimes: event.sleepTimes,
        sleepsUntil: event.until,
        waking: true,
        reason: event.reason,
      }));
    case "passed_over": {
      const { model, until } = event;
      return changed(fold, [event.key], (health) => {
        const others = health.passedOver.filter((one) => one.until > at && one.model !== model);
        return { ...health, passedOver: [...others, { model, until }].slice(-PASSED_MAX) };
      });
    }
    case "recovered": {
      const health = new Map(fold.health);
      for (const success of event.keys) {
        health.set(success.key, afterSuccess(health.get(success.key) ?? HEALTHY, success));
      }
      return { health };
    }
    case "woken":
      return changed(fold, event.keys, () => renewed(at));
    case "switched_over":
      return { switchedUntil: event.until, recentFailures: [] };
    default:
      return unreachable(event);
  }
}

function changed(
  fold: LevelFold,
  keys: readonly ProviderKeyId[],
  change: (health: Health) => Health,
): Pick<LevelFold, "health"> {
  const health = new Map(fold.health);
  for (const key of keys) health.set(key, change(health.get(key) ?? HEALTHY));
  return { health };
}

/**
 * Counts a failure. It also ends the current hour without failure, which clears `sleepTimes` if it was
 * complete.
 */
const failedOnce = (health: Health, at: number, endedAt: number): Health => ({
  ...health,
  failures: health.failures + 1,
  streak: [...endsOf(health), endedAt].slice(-STREAK_ENDS_MAX),
  failedAt: Math.max(health.failedAt, endedAt),
  sleepTimes: sleepTimesAt(health, at),
  answeredAt: 0,
});

const renewed = (at: number): Health => ({ ...HEALTHY, renewedAt: at });

/**
 * Keys that stay keep their health, removed keys lose it, and renewed keys (see `isRenewed`) start healthy.
 */
function membership(
  fold: LevelFold,
  event: Extract<LevelEvent, { type: "members_changed" }>,
  at: number,
): Partial<LevelFold> {
  const masks = new Map(event.masks);
  const before = new Map(fold.keys.map((key) => [key.id, key]));
  const health = new Map<ProviderKeyId, Health>();
  for (const key of event.keys) {
    const was = before.get(key.id);
    const known = fold.health.get(key.id);
    if (was !== undefined && isRenewed(was, key, fold.masks.get(key.id), masks.get(key.id))) {
      health.set(key.id, renewed(at));
    } else if (known !== undefined) health.set(key.id, known);
  }
  return { members: event.version, keys: event.keys, masks, health };
}

/** Fields of Config that determine where requests go and which identity they use. */
const WAY = ["provider_type", "base_url", "project_id", "client_email", "model_mapping", "api_versions"];

function isRenewed(was: LevelKey, is: LevelKey, wasMask: string | undefined, mask?: string): boolean {
  if (was.state === "disabled" && is.state === "normal") return true;
  if (was.provider !== is.provider) return true;
  if (WAY.some((field) => JSON.stringify(was.config[field]) !== JSON.stringify(is.config[field])))
    return true;
  // A resealed secret has another box but the same mask, so masks are compared. An Owner who replaces a
  // secret by one with the same mask has to wake the key by hand. Without a stored mask the boxes are
  // compared.
  return wasMask === undefined ? was.secret.box !== is.secret.box : wasMask !== mask;
}
