// What each event makes of a Level, live and on replay alike. It never decides and never reads a clock: `at` is the
// moment of the commit. The old fold stays as it was.

import { unreachable } from "../../src/base/errors.ts";
import type { ProviderKeyId } from "../ids.ts";
import { failuresWithin } from "./failure.ts";
import { afterSuccess, endsOf, HEALTHY, STREAK_ENDS_MAX, sleepTimesAt } from "./health.ts";
import type { Health, LevelEvent, LevelFold } from "./state.ts";
import type { LevelKey } from "./view.ts";

/** Models passed over per key; the oldest makes room. */
const PASSED_MAX = 100;

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
        // Six of them switch it over, so there are never more.
        recentFailures: fold.switchedUntil > at ? fold.recentFailures : [...failuresWithin(fold, at), at],
        ...(event.counted
          ? changed(fold, [event.key], (health) => failedOnce(health, at, event.endedAt ?? at))
          : {}),
      };
    case "rested":
      return changed(fold, [event.key], (health) => ({
        ...health,
        restsUntil: event.until,
        // What put it to sleep says more than what it answers meanwhile.
        reason: health.sleepsUntil > at ? health.reason : event.reason,
        ...(event.named ? {} : { rests: health.rests + 1, restedAt: at }),
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

/** The hour without failure ends here, whether it was full or not. */
const failedOnce = (health: Health, at: number, endedAt: number): Health => ({
  ...health,
  failures: health.failures + 1,
  streak: [...endsOf(health), endedAt].slice(-STREAK_ENDS_MAX),
  failedAt: Math.max(health.failedAt, endedAt),
  sleepTimes: sleepTimesAt(health, at),
  answeredAt: 0,
});

const renewed = (at: number): Health => ({ ...HEALTHY, renewedAt: at });

/** Keys that stay keep their health; those that left take it with them; those that are not what they were start anew. */
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

/** Fields of Config that say where requests go and as whom. */
const WAY = ["provider_type", "base_url", "project_id", "client_email", "model_mapping", "api_versions"];

function isRenewed(was: LevelKey, is: LevelKey, wasMask: string | undefined, mask?: string): boolean {
  if (was.state === "disabled" && is.state === "normal") return true;
  if (was.provider !== is.provider) return true;
  if (WAY.some((field) => JSON.stringify(was.config[field]) !== JSON.stringify(is.config[field])))
    return true;
  // The same secret may lie in another box: who exchanges one for another of the same mask wakes the key himself. Where the
  // mask was not kept, the box has to do.
  return wasMask === undefined ? was.secret.box !== is.secret.box : wasMask !== mask;
}
