// /x-conf: what an Owner sees of the routing as a whole, and what is done to all of it at once.
// It gathers and asks; how a key fares is its Level's business, and the configuration is its actor's.

import { Type } from "@sinclair/typebox";
import { isRoot } from "../../actors/account/state.ts";
import { type AccountId, type KeyId, ROOT } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import {
  healthOf,
  type KeyHealth,
  type LevelKey,
  type LevelView,
  usability,
} from "../../actors/level/view.ts";
import { toUsd } from "../../actors/money.ts";
import { readLevels, wakeKeys } from "../admin/levels.ts";
import { Refused } from "../runtime/system.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import type { Journal } from "./journal.ts";
import { NoQuery } from "./shapes.ts";

/** spec: GET /x-conf. */
export const getConf = (parts: Edge) =>
  endpoint(parts, { who: "owner", query: NoQuery }, async ({ caller }) => {
    const { id } = caller.profile;
    const [config, { keys, views }] = await Promise.all([
      parts.system.ask(to.owner(id), "read", {}),
      readLevels(parts.system, id),
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

function faringOf(views: readonly LevelView[]): ReadonlyMap<KeyId, Faring> {
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
  faring: ReadonlyMap<KeyId, Faring>,
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

const flag = Type.Optional(Type.Boolean({ description: "must be true or false" }));

const Doings = Type.Object({ DelKeys: flag, LogEnable: flag }, { additionalProperties: false });

interface Doing {
  readonly rootOnly?: string;
  readonly run: (
    parts: Edge,
    by: AccountId,
    given: boolean,
    journal: Pick<Journal, "insist">,
  ) => Promise<void>;
}

/** What each field does. */
const DOINGS: Readonly<Record<keyof typeof Doings.properties, Doing>> = {
  DelKeys: {
    async run({ system }, owner, given) {
      if (given) await wakeKeys(system, owner);
    },
  },
  LogEnable: {
    rootOnly: "The operation log is everybody's, so only Root may turn it on or off.",
    async run({ system }, by, logEnable, journal) {
      await system.ask(to.owner(ROOT), "configure", { change: { logEnable }, by });
      // Off or on, one line says who did it.
      journal.insist();
    },
  },
};

/** spec: POST /x-conf. Echoes what was given, as text. */
export const postConf = (parts: Edge) =>
  endpoint(
    parts,
    { who: "owner", body: Doings, action: "auto_config" },
    async ({ caller, body, journal }) => {
      const { id, dna } = caller.profile;
      journal.about({ type: "config", id, dna });
      const given = (Object.keys(DOINGS) as (keyof typeof DOINGS)[]).filter(
        (name) => body[name] !== undefined,
      );
      if (given.length === 0) {
        const names = Object.keys(DOINGS).join(", ");
        throw new Refused({ code: "missing_parameter", message: `Give at least one of ${names}.` });
      }
      const barred = isRoot(caller.profile) ? undefined : given.find((name) => DOINGS[name].rootOnly);
      if (barred !== undefined) {
        throw new Refused({ code: "not_root", message: `"${barred}": ${DOINGS[barred].rootOnly}` });
      }
      for (const name of given) await DOINGS[name].run(parts, id, body[name] === true, journal);
      journal.changed(body);
      const echo = Object.fromEntries(given.map((name) => [name, String(body[name])]));
      return answer({ success: true, ...echo });
    },
  );
