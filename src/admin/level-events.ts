// Reads what happened to the keys of an Owner's Levels: the newest rows of their histories, which the Levels write
// as documents behind their commits. An answer trails a Level by two seconds at most.

import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import type { LevelRow, WakeReason } from "../../actors/level/state.ts";
import type { Store } from "../store/store.ts";
import { StoredRow } from "../store/stored-rows.ts";
import type { DocumentBody } from "../store/tables.ts";

/** Rows of one Owner that are shown; older ones may still be stored. */
const EVENTS_MAX = 1_000;

/** Returns the newest rows of an Owner over all of its Levels, newest first. */
export async function newestLevelRows(store: Pick<Store, "find">, owner: AccountId): Promise<LevelRow[]> {
  const bodies = await store.find({
    table: "levelEvents",
    where: [{ field: "owner", is: "=", value: owner }],
    order: "at",
    descending: true,
    limit: EVENTS_MAX,
  });
  return bodies
    .map(parseLevelRow)
    .sort((a, b) => b.at - a.at || (a.level === b.level ? b.number - a.number : a.level - b.level));
}

function parseLevelRow(body: DocumentBody): LevelRow {
  const row = new StoredRow("levelEvents", body);
  const place = {
    owner: row.integer("owner"),
    level: row.integer("level"),
    number: row.integer("number"),
    at: row.number("at"),
  };
  const key = () => row.integer("key") as ProviderKeyId;
  const reason = row.text("reason");
  switch (row.text("type")) {
    case "sleep":
      return { ...place, type: "sleep", key: key(), reason, until: row.number("until") };
    case "wake":
      return { ...place, type: "wake", key: key(), reason: reason as WakeReason };
    case "switch_over": {
      const to = row.has("to") ? { to: row.integer("to") } : {};
      return { ...place, type: "switch_over", reason, until: row.number("until"), ...to };
    }
    default:
      return row.fail("type", "sleep, wake or switch_over");
  }
}
