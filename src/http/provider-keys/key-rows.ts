// Provider keys as lists show them: with the state that their Level gives them, what the nodes did with them in the last
// hour, and what their requests cost today. It reads, a few hundred keys at a time, and changes nothing.

import type { Static } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import { healthOf, type LevelView, usability } from "../../../actors/level/view.ts";
import { dayOf } from "../../../actors/time.ts";
import { keyActivity } from "../../admin/key-activity.ts";
import { type KeyActivity, noActivity, quantileMs } from "../../gateway/attempt/key-activity.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import type { KeysParts } from "./key-changes.ts";
import { keyShape } from "./key-view.ts";
import type { ProviderKeyRowSchema } from "./schemas.ts";

type KeyRow = Static<typeof ProviderKeyRowSchema>;

/** Keys that are asked for at once, so that no answer of a node or store is large. */
const KEYS_AT_ONCE = 250;
/** Levels that are asked at once. */
const LEVELS_AT_ONCE = 64;

/** Returns keys of one Owner as lists show them. Throws `UnavailableError` when a Level does not answer. */
export async function keyRows(
  parts: KeysParts,
  owner: AccountId,
  keys: readonly ProviderKey[],
): Promise<KeyRow[]> {
  const rows: KeyRow[] = [];
  for await (const row of eachKeyRow(parts, owner, keys)) rows.push(row);
  return rows;
}

/** Yields the same, however many there are. */
export async function* eachKeyRow(
  parts: KeysParts,
  owner: AccountId,
  keys: readonly ProviderKey[],
): AsyncGenerator<KeyRow> {
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    yield* await rowsOf(parts, owner, keys.slice(from, from + KEYS_AT_ONCE));
  }
}

async function rowsOf(
  { system, store, clock }: KeysParts,
  owner: AccountId,
  keys: readonly ProviderKey[],
): Promise<KeyRow[]> {
  const ids = keys.map(({ id }) => id);
  const now = clock.wall();
  const [views, activity, costs] = await Promise.all([
    viewsOf(system, owner, keys),
    keyActivity(system, ids),
    store.keyCosts(dayOf(now), ids),
  ]);
  return keys.map((key) => {
    const did = activity.get(key.id) ?? noActivity(key.id);
    return {
      ...keyShape(key),
      ...stateOf(key, views.get(key.level), now),
      InFlight: did.inFlight,
      LastHour: lastHour(did),
      CostToday: Number(exactUsd(costs.get(key.id) ?? 0n)),
    };
  });
}

/** Reads the views of the keys' Levels. */
async function viewsOf(
  system: KeysParts["system"],
  owner: AccountId,
  keys: readonly ProviderKey[],
): Promise<ReadonlyMap<number, LevelView>> {
  const views = new Map<number, LevelView>();
  const levels = [...new Set(keys.map(({ level }) => level))];
  for (let from = 0; from < levels.length; from += LEVELS_AT_ONCE) {
    const some = levels.slice(from, from + LEVELS_AT_ONCE);
    const read = await Promise.all(some.map((level) => system.ask(actorRef.level(owner, level), "view", {})));
    for (const [i, view] of read.entries()) views.set(some[i]!, view);
  }
  return views;
}

const NORMAL = { State: "normal", Until: null, Reason: null } as const;

/** Returns the state of a key. A key that its Level has not received yet is as its Owner set it. */
function stateOf(
  key: ProviderKey,
  view: LevelView | undefined,
  now: number,
): Pick<KeyRow, "State" | "Until" | "Reason"> {
  if (!key.status) return { ...NORMAL, State: "disabled" };
  const there = view?.keys.find(({ id }) => id === key.id);
  if (view === undefined || there === undefined) return NORMAL;
  const health = healthOf(view)?.get(key.id);
  const use = usability(there, health, "", now);
  switch (use.state) {
    case "sleeping":
    case "resting":
      return { State: use.state, Until: new Date(use.until).toISOString(), Reason: use.reason };
    case "waking":
      return { State: "waking", Until: null, Reason: health?.reason || null };
    default:
      return NORMAL;
  }
}

function lastHour({ perMinute, failures, durations }: KeyActivity): KeyRow["LastHour"] {
  return {
    attempts: perMinute.reduce((sum, count) => sum + count, 0),
    failures,
    per_minute: [...perMinute],
    p50_ms: quantileMs(durations, 0.5),
    p95_ms: quantileMs(durations, 0.95),
  };
}
