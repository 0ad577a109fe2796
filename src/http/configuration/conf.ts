// GET /x-conf: what an Owner sees of the routing as a whole. It gathers and changes nothing; how a key fares is its
// Level's business, and the configuration is its actor's.

import type { ProviderKeyId } from "../../../actors/ids.ts";
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
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { NoQuerySchema } from "../schemas.ts";

/** spec: GET /x-conf. */
export const getConf = (parts: ManagementParts) =>
  endpoint(parts, { who: "owner", query: NoQuerySchema }, async ({ caller }) => {
    const { id } = caller.profile;
    const [config, { keys, views }] = await Promise.all([
      parts.system.ask(actorRef.owner(id), "read", {}),
      readLevelViews(parts.system, id),
    ]);
    const faring = faringOf(views);
    return answer({
      Resources: Object.fromEntries(config.resources.map((path) => [path, {}])),
      LevelMapper: config.levelMapper,
      ModelMapper: config.modelMapper,
      ModelFailover: config.modelFailover,
      ModelLimits: config.modelLimits,
      SwitchOver: config.switchOver,
      SleepingKeys: sleepingKeys(keys, faring, parts.clock.wall()),
      DisabledKeys: keys.filter((key) => !key.status).map((key) => outOfUse(key, faring.get(key.id)?.health)),
      UserMinBalance: toUsd(config.userMinBalance),
      UserApiBalance: toUsd(config.userApiBalance),
    });
  });

/** A key as its Level has it. Without health it is simply well. */
interface Faring {
  readonly key: LevelKey;
  readonly health: KeyHealth | undefined;
}

function faringOf(views: readonly LevelView[]): ReadonlyMap<ProviderKeyId, Faring> {
  return new Map(
    views.flatMap((view) => {
      const health = healthOf(view);
      return view.keys.map((key) => [key.id, { key, health: health?.get(key.id) }] as const);
    }),
  );
}

/** Those whose failures put them to sleep: neither those that rest for a while, nor those disabled by hand. */
function sleepingKeys(
  keys: readonly ProviderKey[],
  faring: ReadonlyMap<ProviderKeyId, Faring>,
  now: number,
): object[] {
  return keys.flatMap((key) => {
    const found = faring.get(key.id);
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
