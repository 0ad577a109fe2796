// `GET /x-events`: what happened to an Owner's provider keys, from the histories of its Levels. No text of a provider is in
// them, only the names of failures.

import type { Static } from "@sinclair/typebox";
import type { LevelRow } from "../../../actors/level/state.ts";
import { newestLevelRows } from "../../admin/level-events.ts";
import type { ManagementCall } from "../management.ts";
import { positivePageOf } from "../schemas.ts";
import { timeRangeOf } from "../time-range.ts";
import type { KeysParts } from "./key-changes.ts";
import type { KeyEventsQuerySchema, KeyEventsSchema } from "./schemas.ts";

/** Lists sleeps, wakes and switch-overs of the Owner's Levels, newest first, of the last 1,000. Source: contract section 8. */
export async function listEvents(
  { store }: KeysParts,
  { caller }: ManagementCall,
  query: Static<typeof KeyEventsQuerySchema>,
): Promise<Static<typeof KeyEventsSchema>> {
  const { from = 0, until = Number.POSITIVE_INFINITY } = timeRangeOf(query);
  const { page, size } = positivePageOf(query, { size: 100, most: 1_000 });
  const found = (await newestLevelRows(store, caller.profile.id)).filter(
    ({ at }) => at >= from && at < until,
  );
  const total = found.length;
  const events = found.slice((page - 1) * size, page * size).map(eventShape);
  return { events, total, page, size, has_more: page * size < total };
}

function eventShape(row: LevelRow): Static<typeof KeyEventsSchema>["events"][number] {
  const { type, level, reason } = row;
  return {
    at: new Date(row.at).toISOString(),
    type,
    level,
    ...("key" in row ? { key_id: row.key } : {}),
    ...("to" in row ? { to_level: row.to } : {}),
    reason,
    ...("until" in row ? { until: new Date(row.until).toISOString() } : {}),
  };
}
