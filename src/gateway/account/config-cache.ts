// Local copies of what routing needs: profiles, Owners' configurations with their compiled prices, views of Levels.
// They are hints, kept fresh by publications, dropped where one may have been missed, and re-read after a while; what must be exact (key, flags, money, limits)
// is decided by the account itself, which refuses a route made from an old profile.

import { INVALID_KEY } from "../../../actors/account/admit.ts";
import type { MapSource } from "../../../actors/account/map-overrides.ts";
import { isOwner, type Profile } from "../../../actors/account/state.ts";
import { type AccountChanged, accountTopic } from "../../../actors/account/views.ts";
import { type AccountId, ancestorsOf, ownerOf, ROOT } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { LevelChanged, LevelView } from "../../../actors/level/view.ts";
import type { OwnerConfig } from "../../../actors/owner/owner.ts";
import { type PriceTable, priceTable } from "../../../actors/pricing/price-table.ts";
import type { Clock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { lruCache } from "../../base/lru-cache.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { type EffectiveMaps, effectiveMaps } from "./effective-maps.ts";

export interface ProfileCopy {
  readonly profile: Profile;
  readonly version: number;
  /** It is being deleted, or is gone: nobody, with everybody below it. */
  readonly closing: boolean;
  /** Ancestors below Root, nearest first. */
  readonly above: readonly AccountId[];
  readonly owner: AccountId;
}

export interface ConfigCopy {
  readonly config: OwnerConfig;
  readonly prices: PriceTable;
}

/** The account with its maps, everybody above it, and the Owner's configuration: what a route is made from. */
export interface AccountContext {
  readonly account: ProfileCopy;
  /** Ancestors below Root, nearest first; the last one (or the account itself) is the Owner. */
  readonly ancestors: readonly ProfileCopy[];
  readonly owner: AccountId;
  readonly config: ConfigCopy;
  /** The account's own, and what its Owner and Root have laid on them. */
  readonly maps: EffectiveMaps;
}

export interface ConfigCache {
  /**
   * At once when all of it is at hand: this is on the path of every request. Refuses invalid_api_key where the account or
   * anybody above it is being deleted, or is gone.
   */
  lineage(id: AccountId): AccountContext | Promise<AccountContext>;
  /** A fresher profile, as the account itself gave it. */
  acceptProfile(id: AccountId, fresh: { readonly profile: Profile; readonly version: number }): void;
  config(owner: AccountId): Promise<ConfigCopy>;
  /** The maps of a profile that is at hand as they stand; at once when the configurations are at hand too. */
  maps(profile: MapSource): EffectiveMaps | Promise<EffectiveMaps>;
  /** What is known of a Level; undefined: ask with `loadLevel` first. */
  level(owner: AccountId, level: number): LevelView | undefined;
  loadLevel(owner: AccountId, level: number): Promise<LevelView>;
}

/** What an account says of itself. A profile that comes with a refusal does not say whether it closes. */
type Known = Omit<AccountChanged, "closing"> & { readonly closing?: boolean };

/** The lineage, where nobody in it closes: who closes takes everybody below along, at once. */
function standing(lineage: AccountContext): AccountContext {
  if (lineage.account.closing || lineage.ancestors.some((one) => one.closing))
    throw new RefusedError(INVALID_KEY);
  return lineage;
}

/** A configuration as it was at `asOfMs` on the clock that never steps, or later. */
interface KeptConfig extends ConfigCopy {
  readonly asOfMs: number;
}

const MOST = 100_000;
/** A publication that was lost without anybody's noticing has no effect for longer. */
const TTL_MS = 5_000;
/** Of a configuration after this: no older copy is at hand. */
const CONFIG_MS = 1_000;
/** A copy that is used when it is older than this is read anew meanwhile, so that nobody waits for it who asks often. */
const RENEW_MS = 400;

export function createConfigCache(parts: { system: ActorSystem<Protocol>; clock: Clock }): ConfigCache {
  const { system, clock } = parts;
  const profiles = lruCache<AccountId, ProfileCopy>({ clock, most: MOST, ttlMs: TTL_MS });
  const configs = lruCache<AccountId, KeptConfig>({ clock, most: 10_000, ttlMs: TTL_MS });
  const levels = lruCache<string, LevelView>({ clock, most: 10_000, ttlMs: TTL_MS });
  const loadingConfigs = new Map<AccountId, Promise<KeptConfig>>();
  const loadingLevels = new Map<string, Promise<LevelView>>();

  // News too large to be told say only that the copy at hand is old.
  const idIn = (topic: string): AccountId => Number(topic.slice(topic.indexOf(".") + 1)) as AccountId;
  system.subscribe(
    accountTopic(">"),
    (topic, body) => void keepProfile(idIn(topic), body as AccountChanged),
    (topic) => profiles.delete(idIn(topic)),
  );
  system.subscribe(
    "owner.>",
    (topic, body) => void keepConfig(idIn(topic), body as OwnerConfig, clock.mono()),
    (topic) => configs.delete(idIn(topic)),
  );
  system.subscribe(
    "level.>",
    (_topic, body) => hearOfLevel(body as LevelChanged),
    (topic) => levels.delete(topic.slice("level.".length)),
  );
  /** Grows when copies were dropped: an answer that was asked for before may be as old as they were. */
  let drops = 0;
  system.onMissed((concerns) => {
    drops++;
    profiles.drop((id) => concerns(actorRef.account(id)));
    configs.drop((owner) => concerns(actorRef.owner(owner)));
    levels.drop((id) => concerns({ kind: "level", id }));
  });

  function keepConfig(owner: AccountId, given: OwnerConfig, asOfMs: number): KeptConfig {
    const known = configs.get(owner);
    if (known !== undefined && known.config.version > given.version) return known;
    // Compiling prices costs; the same version keeps its table, and all else that is remembered of it.
    const same = known !== undefined && known.config.version === given.version;
    const { config, prices } = same ? known : { config: given, prices: compiled(given) };
    const copy = { config, prices, asOfMs: Math.max(asOfMs, same ? known.asOfMs : 0) };
    configs.set(owner, copy);
    return copy;
  }

  const tables = lruCache<string, PriceTable>({ clock, most: 1_000, ttlMs: 3_600_000 });
  const builtIn = priceTable(null);

  function compiled(config: OwnerConfig): PriceTable {
    if (config.pricing === null) return builtIn;
    const text = JSON.stringify(config.pricing);
    const known = tables.get(text);
    if (known !== undefined) return known;
    const table = priceTable(config.pricing);
    tables.set(text, table);
    return table;
  }

  function keepLevel(view: LevelView): LevelView {
    const known = levels.get(view.id);
    if (known !== undefined && known.version > view.version) return known;
    levels.set(view.id, view);
    return view;
  }

  async function readLevel(owner: AccountId, level: number): Promise<LevelView> {
    const asOf = drops;
    const view = keepLevel(await system.ask(actorRef.level(owner, level), "view", {}));
    if (drops > asOf) levels.delete(view.id);
    return view;
  }

  /** News without keys are about the keys at hand; about others they say that the copy is old. */
  function hearOfLevel(news: LevelChanged): void {
    if ("keys" in news) return void keepLevel(news);
    const known = levels.get(news.id);
    if (known === undefined || known.version > news.version) return;
    if (known.members === news.members) levels.set(news.id, { ...news, keys: known.keys });
    else levels.delete(news.id);
  }

  async function profile(id: AccountId): Promise<ProfileCopy> {
    const known = profiles.get(id);
    if (known !== undefined) return known;
    const asOf = drops;
    const copy = keepProfile(id, await system.ask(actorRef.account(id), "profile", {}));
    if (drops > asOf) profiles.delete(id);
    return copy;
  }

  function keepProfile(id: AccountId, given: Known): ProfileCopy {
    const known = profiles.get(id);
    if (known !== undefined && known.version > given.version) return known;
    const above = ancestorsOf(given.profile.dna)
      .filter((ancestor) => ancestor !== ROOT)
      .reverse();
    const { profile, version } = given;
    const closing = given.closing ?? (known?.version === version && known.closing);
    const copy = { profile, version, closing, above, owner: ownerOf(profile) };
    profiles.set(id, copy);
    return copy;
  }

  /** Unless it is too old. One that grows old is read anew while it is used: nobody reads for Owners that are idle. */
  function configAtHand(owner: AccountId): ConfigCopy | undefined {
    const known = configs.get(owner);
    if (known === undefined) return undefined;
    const ageMs = clock.mono() - known.asOfMs;
    // Whoever finds none at hand hears of it when that cannot be read either.
    if (ageMs > RENEW_MS) void readConfig(owner).catch(() => {});
    return ageMs > CONFIG_MS ? undefined : known;
  }

  function readConfig(owner: AccountId): Promise<ConfigCopy> {
    const under = loadingConfigs.get(owner);
    if (under !== undefined) return under;
    const asOfMs = clock.mono();
    const asked = system
      .ask(actorRef.owner(owner), "read", {})
      .then((read) => keepConfig(owner, read, asOfMs))
      .finally(() => loadingConfigs.delete(owner));
    loadingConfigs.set(owner, asked);
    return asked;
  }

  const config = async (owner: AccountId): Promise<ConfigCopy> => configAtHand(owner) ?? readConfig(owner);

  /** All of it from memory, or undefined. */
  function lineageAtHand(id: AccountId): AccountContext | undefined {
    const account = profiles.get(id);
    if (account === undefined) return undefined;
    const { owner, profile } = account;
    const found = configAtHand(owner);
    const root = configAtHand(ROOT);
    if (found === undefined || root === undefined) return undefined;
    const ancestors: ProfileCopy[] = [];
    for (const ancestor of account.above) {
      const copy = profiles.get(ancestor);
      if (copy === undefined) return undefined;
      ancestors.push(copy);
    }
    const maps = effectiveMaps(profile, { owner: found.config, root: root.config });
    return standing({ account, ancestors, owner, config: found, maps });
  }

  async function loadLineage(id: AccountId): Promise<AccountContext> {
    const account = await profile(id);
    const ancestors = await Promise.all(account.above.map(profile));
    const { owner } = account;
    const [found, root] = await Promise.all([config(owner), config(ROOT)]);
    const maps = effectiveMaps(account.profile, { owner: found.config, root: root.config });
    return standing({ account, ancestors, owner, config: found, maps });
  }

  /** Only what lies on the account is asked for: a list of Owners wakes none of them. */
  const above = (profile: MapSource): AccountId => (isOwner(profile) ? ROOT : ownerOf(profile));

  function mapsAtHand(profile: MapSource): EffectiveMaps | undefined {
    const owner = configAtHand(above(profile));
    const root = configAtHand(ROOT);
    if (owner === undefined || root === undefined) return undefined;
    return effectiveMaps(profile, { owner: owner.config, root: root.config });
  }

  async function loadMaps(profile: MapSource): Promise<EffectiveMaps> {
    const [owner, root] = await Promise.all([config(above(profile)), config(ROOT)]);
    return effectiveMaps(profile, { owner: owner.config, root: root.config });
  }

  const levelName = (owner: AccountId, level: number) => actorRef.level(owner, level).id;

  return {
    lineage: (id) => lineageAtHand(id) ?? loadLineage(id),
    acceptProfile: (id, copy) => void keepProfile(id, copy),
    config,
    maps: (profile) => mapsAtHand(profile) ?? loadMaps(profile),
    level: (owner, level) => levels.get(levelName(owner, level)),
    loadLevel(owner, level) {
      const name = levelName(owner, level);
      const under = loadingLevels.get(name);
      if (under !== undefined) return under;
      const asked = readLevel(owner, level).finally(() => loadingLevels.delete(name));
      loadingLevels.set(name, asked);
      return asked;
    },
  };
}
