// Views of Levels as a front end gets them, made by a line each. Nothing here decides or asserts.

import type { ProviderKeyId } from "../../actors/ids.ts";
import { createLevel, type Health, type Level } from "../../actors/level/state.ts";
import type { KeyHealth, LevelKey, LevelView } from "../../actors/level/view.ts";
import { NOON } from "../runtime/manual-clock.ts";

export const keyId = (id: number): ProviderKeyId => id as ProviderKeyId;

/** What may be said of a key besides its id; a number alone is a key that is well. */
export interface KeyGiven {
  readonly id: number;
  readonly disabled?: true;
  readonly style?: "chat" | "messages";
  readonly health?: Partial<KeyHealth>;
}

const WELL: Omit<KeyHealth, "key"> = {
  failures: 0,
  sleepTimes: 0,
  sleepsUntil: 0,
  restsUntil: 0,
  reason: "",
  waking: false,
  passedOver: [],
};

export function viewOf(
  level: number,
  given: readonly (number | KeyGiven)[],
  over: Partial<LevelView> = {},
): LevelView {
  const all = given.map((one) => (typeof one === "number" ? { id: one } : one));
  const keys = all.map(({ id, disabled, style }: KeyGiven): LevelKey => {
    const config = style === undefined ? {} : { api_style: style };
    const state = disabled ? "disabled" : "normal";
    const secret = { keyId: "k", box: `sealed ${id}` };
    return { id: keyId(id), level, provider: "https://api.example.com/v1", secret, config, state };
  });
  const health = all.flatMap(({ id, health }: KeyGiven) =>
    health === undefined ? [] : [{ ...WELL, key: keyId(id), ...health }],
  );
  return { id: `2.${level}`, version: 1, members: 1, keys, health, switchedUntil: 0, ...over };
}

/** How a key may fare, `seconds` after NOON. */
export const sleeping = (seconds: number): Partial<KeyHealth> => ({
  sleepsUntil: NOON + seconds * 1_000,
  sleepTimes: 1,
  waking: true,
  reason: "server_error",
});
export const resting = (seconds: number): Partial<KeyHealth> => ({
  restsUntil: NOON + seconds * 1_000,
  reason: "rate_limited",
});
export const without = (model: string, seconds = 600): Partial<KeyHealth> => ({
  passedOver: [{ model, until: NOON + seconds * 1_000 }],
});
export const WAKING: Partial<KeyHealth> = { waking: true, sleepTimes: 1, sleepsUntil: NOON - 1 };

const UNREPORTED = { failedAt: 0, answeredAt: 0, rests: 0, renewedAt: 0 };

/** Returns the state of the Level's actor `<owner>.<level>` whose view has these keys. */
export function levelOf(
  id: string,
  given: Parameters<typeof viewOf>[1],
  over: Partial<LevelView> = {},
): Level {
  const { version, members, keys, health, switchedUntil } = viewOf(Number(id.split(".")[1]), given, over);
  const rows = health.map(({ key, ...one }): [ProviderKeyId, Health] => [key, { ...UNREPORTED, ...one }]);
  const fold = { masks: new Map(), recentFailures: [], rows: 0 };
  return createLevel(id, { ...fold, version, members, keys, health: new Map(rows), switchedUntil });
}
