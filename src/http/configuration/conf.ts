// What an Owner sees of its routing as a whole. It gathers and changes nothing: the state of a key belongs to its Level, the
// configuration to its actor.

import type { Static } from "@sinclair/typebox";
import { type AccountId, type ProviderKeyId, ROOT } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import {
  healthOf,
  type KeyHealth,
  type LevelKey,
  type LevelView,
  usability,
} from "../../../actors/level/view.ts";
import { toUsd } from "../../../actors/money.ts";
import { readLevelViews } from "../../admin/level-membership.ts";
import type { ManagementParts } from "../management.ts";
import type { ConfSchema } from "./schemas.ts";

/** Returns the routing of an Owner as it stands. Source: specification, `GET /x-conf`. */
export async function routingOf(
  { system, clock }: ManagementParts,
  id: AccountId,
): Promise<Static<typeof ConfSchema>> {
  const [config, { keys, views }] = await Promise.all([
    system.ask(actorRef.owner(id), "read", {}),
    readLevelViews(system, id),
  ]);
  const health = keyHealthOf(views);
  return {
    Resources: Object.fromEntries(config.resources.map((path) => [path, {}])),
    LevelMapper: config.levelMapper,
    ModelMapper: config.modelMapper,
    ModelFailover: config.modelFailover,
    ModelLimits: config.modelLimits,
    SwitchOver: config.switchOver,
    SleepingKeys: sleepingKeys(keys, health, clock.wall()),
    DisabledKeys: keys.filter((key) => !key.status).map((key) => outOfUse(key, health.get(key.id)?.health)),
    UserMinBalance: toUsd(config.userMinBalance),
    UserApiBalance: toUsd(config.userApiBalance),
    // The operation log of the whole service is switched by Root alone.
    ...(id === ROOT ? { LogEnable: config.logEnable } : {}),
  };
}

/** A key as its Level has it; undefined health means that nothing is wrong with it. */
interface KeyAtLevel {
  readonly key: LevelKey;
  readonly health: KeyHealth | undefined;
}

function keyHealthOf(views: readonly LevelView[]): ReadonlyMap<ProviderKeyId, KeyAtLevel> {
  return new Map(
    views.flatMap((view) => {
      const keys = healthOf(view);
      return view.keys.map((key) => [key.id, { key, health: keys?.get(key.id) }] as const);
    }),
  );
}

/** Returns the keys whose failures put them to sleep: neither resting keys, nor those disabled by hand. */
function sleepingKeys(
  keys: readonly ProviderKey[],
  health: ReadonlyMap<ProviderKeyId, KeyAtLevel>,
  now: number,
) {
  return keys.flatMap((key) => {
    const found = health.get(key.id);
    if (found === undefined) return [];
    const use = usability(found.key, found.health, "", now);
    if (use.state !== "sleeping") return [];
    return {
      ...outOfUse(key, found.health),
      SleepSeconds: Math.max(1, Math.ceil((use.until - now) / 1_000)),
      WakesAt: new Date(use.until).toISOString(),
      Reason: use.reason,
    };
  });
}

const outOfUse = (key: ProviderKey, health: KeyHealth | undefined) => ({
  ID: key.id,
  Name: key.name,
  Level: key.level,
  Provider: key.provider,
  Status: key.status,
  SleepTimes: health?.sleepTimes ?? 0,
});
