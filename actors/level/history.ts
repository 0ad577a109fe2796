// The history of a Level: what happened to its keys, as documents that lists read. A row follows from one event
// and the state before it, so replay makes the same rows again. A row must hold nothing of a provider but the
// name of a failure. Pure; level.ts counts the rows and writes the documents.

import type { ProviderKeyId } from "../ids.ts";
import type { Health, Level, LevelEvent, LevelFold, LevelHappening, WakeReason } from "./state.ts";

/** The newest rows of each Level that are kept. */
export const LEVEL_ROWS_MAX = 1_000;

/** The reason of a switch-over that an older version stored without one. */
const UNNAMED = "failures";

const NOTHING: readonly LevelHappening[] = [];

/** Returns what an event makes happen. `before` and `after` are the states around it, `at` its time. */
export function happenings(
  before: LevelFold,
  event: LevelEvent,
  after: LevelFold,
  at: number,
): readonly LevelHappening[] {
  switch (event.type) {
    case "slept":
      return [{ type: "sleep", key: event.key, reason: event.reason, until: event.until }];
    case "switched_over": {
      const { reason = UNNAMED, until, to } = event;
      return [{ type: "switch_over", reason, until, ...(to === undefined ? {} : { to }) }];
    }
    case "recovered": {
      const keys = event.keys.map(({ key }) => key);
      return wakes(before, after, keys, ({ sleepsUntil }) => (sleepsUntil > at ? "late_answer" : "answered"));
    }
    case "woken":
      return event.keys.flatMap((key) =>
        isOut(before.health.get(key), at) ? [{ type: "wake", key, reason: "woken" } as const] : [],
      );
    case "members_changed":
      return wakes(before, after, [...after.health.keys()], () => "changed");
    default:
      return NOTHING;
  }
}

/** Whether the key sleeps, rests, or has slept and not answered since. */
const isOut = (health: Health | undefined, at: number): boolean =>
  health !== undefined && (health.waking || health.restsUntil > at);

/** Returns those of these keys that had slept before and have not after. */
function wakes(
  before: LevelFold,
  after: LevelFold,
  keys: readonly ProviderKeyId[],
  reasonOf: (health: Health) => WakeReason,
): LevelHappening[] {
  return keys.flatMap((key) => {
    const was = before.health.get(key);
    if (was === undefined || !was.waking || after.health.get(key)?.waking !== false) return [];
    return { type: "wake", key, reason: reasonOf(was) } as const;
  });
}

/** Adds rows to those that are not written yet. Only the newest LEVEL_ROWS_MAX can ever be written. */
export function addRows({ id, fold, volatile }: Level, found: readonly LevelHappening[], at: number): void {
  const [owner, level] = id.split(".").map(Number) as [number, number];
  const { unwrittenRows } = volatile;
  let number = fold.rows - found.length;
  for (const one of found) unwrittenRows.push({ owner, level, number: ++number, at, ...one });
  unwrittenRows.splice(0, unwrittenRows.length - LEVEL_ROWS_MAX);
}

/**
 * Returns the id of a row's document. Ids repeat in a ring of LEVEL_ROWS_MAX, so that a new row replaces the oldest.
 */
export const levelRowId = (level: string, number: number): string => `${level}/${number % LEVEL_ROWS_MAX}`;
