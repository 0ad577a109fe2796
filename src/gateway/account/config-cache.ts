// Local copies of what routing needs: profiles, Owners' configurations with their compiled prices, and views
// of Levels. The copies may be stale. Publications update them, they are dropped where a publication may have
// been missed, and they are read again after a while. What must be exact (key, flags, money, limits) is
// decided by the account, which refuses a route that was made from an old profile.

import type { MapSource } from "../../../actors/account/map-overrides.ts";
import { isOwner, type Profile } from "../../../actors/account/state.ts";
import { type AccountChanged, accountTopic } from "../../../actors/account/views.ts";
import { type AccountId, ancestorsOf, ownerOf, ROOT } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { levelId } from "../../../actors/key-pool/key-pool.ts";
import type { LevelChanged, LevelView } from "../../../actors/level/view.ts";
import type { OwnerConfig } from "../../../actors/owner/owner.ts";
import { type PriceTable, priceTable } from "../../../actors/pricing/price-table.ts";
import type { Clock } from "../../base/clock.ts";
import { SingleFlight } from "../../base/coalesce.ts";
import { LruCache } from "../../base/lru-cache.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import {
  type AccountContext,
  AccountContexts,
  type ConfigCopy,
  type ProfileCopy,
} from "./account-context.ts";
import { type EffectiveMaps, effectiveMaps } from "./effective-maps.ts";

/** The cache of one node. */
export interface ConfigCache {
  /**
   * Returns the context of an account, synchronously when everything is cached, because every request calls
   * this. Throws `RefusedError` (`invalid_api_key`) when the account or an ancestor is being deleted or does
   * not exist.
   */
  accountContext(id: AccountId): AccountContext | Promise<AccountContext>;
  /** Stores a newer profile that the account has sent, for example with a refusal. */
  acceptProfile(id: AccountId, fresh: { readonly profile: Profile; readonly version: number }): void;
  /** Returns a configuration that is at most `CONFIG_MS` old. */
  config(owner: AccountId): Promise<ConfigCopy>;
  /** Returns the effective maps of a profile, synchronously when the configurations are cached. */
  maps(profile: MapSource): EffectiveMaps | Promise<EffectiveMaps>;
  /** Returns the cached view of a Level, or undefined when `loadLevel` must be called first. */
  level(owner: AccountId, level: number): LevelView | undefined;
  /** Reads the view of a Level from its actor and caches it. */
  loadLevel(owner: AccountId, level: number): Promise<LevelView>;
}

/** The profile that an account sends. A profile in a refusal does not say whether the account is closing. */
type Known = Omit<AccountChanged, "closing"> & { readonly closing?: boolean };

/** A configuration as it was at `asOfMs` (monotonic clock) or later. */
interface KeptConfig extends ConfigCopy {
  readonly asOfMs: number;
}

const PROFILES_MAX = 100_000;
/** A lost publication that goes unnoticed has an effect for this many ms at most. */
const TTL_MS = 5_000;
/** The largest age of a cached configuration that is used, in ms. */
const CONFIG_MS = 1_000;
/**
 * When a copy older than this (ms) is used, it is read again in the background, so that frequent readers
 * never wait.
 */
const RENEW_MS = 400;

/** Creates the cache and subscribes it to the publications of accounts, Owners and Levels. */
export function createConfigCache(parts: ConfigCacheParts): ConfigCache {
  const cache = new NodeConfigCache(parts);
  cache.subscribe();
  return cache;
}

/** The services of the cache. */
interface ConfigCacheParts {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
}

const idIn = (topic: string): AccountId => Number(topic.slice(topic.indexOf(".") + 1)) as AccountId;

/**
 * Returns the only configuration besides Root's that cascades onto an account, so that listing Owners loads none
 * of their actors.
 */
const above = (profile: MapSource): AccountId => (isOwner(profile) ? ROOT : ownerOf(profile));

class NodeConfigCache implements ConfigCache {
  private readonly system: ActorSystem<Protocol>;
  private readonly clock: Clock;
  private readonly profiles;
  private readonly configs;
  private readonly levels;
  private readonly loadingConfigs = new SingleFlight<AccountId, KeptConfig>();
  private readonly loadingLevels = new SingleFlight<string, LevelView>();
  /** Compiled prices by their text. */
  private readonly tables;
  private readonly builtIn = priceTable(null);
  private readonly contexts = new AccountContexts();
  /** Incremented when copies are dropped: a read that began before may return data as old as they were. */
  private drops = 0;

  constructor({ system, clock }: ConfigCacheParts) {
    this.system = system;
    this.clock = clock;
    this.profiles = new LruCache<AccountId, ProfileCopy>({ clock, most: PROFILES_MAX, ttlMs: TTL_MS });
    this.configs = new LruCache<AccountId, KeptConfig>({ clock, most: 10_000, ttlMs: TTL_MS });
    this.levels = new LruCache<string, LevelView>({ clock, most: 10_000, ttlMs: TTL_MS });
    this.tables = new LruCache<string, PriceTable>({ clock, most: 1_000, ttlMs: 3_600_000 });
  }

  /** A publication that exceeds the size limit only says that the cached copy is stale. */
  subscribe(): void {
    const { system, clock, profiles, configs, levels } = this;
    system.subscribe(
      accountTopic(">"),
      (topic, body) => void this.keepProfile(idIn(topic), body as AccountChanged),
      (topic) => profiles.delete(idIn(topic)),
    );
    system.subscribe(
      "owner.>",
      (topic, body) => void this.keepConfig(idIn(topic), body as OwnerConfig, clock.mono()),
      (topic) => configs.delete(idIn(topic)),
    );
    system.subscribe(
      "level.>",
      (_topic, body) => this.applyLevel(body as LevelChanged),
      (topic) => this.forgetLevel(topic.slice("level.".length)),
    );
    system.onStale((concerns) => {
      this.drops++;
      profiles.drop((id) => concerns(actorRef.account(id)));
      configs.drop((owner) => concerns(actorRef.owner(owner)));
      levels.drop((id) => concerns({ kind: "level", id }));
    });
  }

  accountContext(id: AccountId): AccountContext | Promise<AccountContext> {
    const account = this.profile(id);
    return account instanceof Promise
      ? account.then((read) => this.contextOf(read))
      : this.contextOf(account);
  }

  acceptProfile(id: AccountId, fresh: { readonly profile: Profile; readonly version: number }): void {
    this.keepProfile(id, fresh);
  }

  async config(owner: AccountId): Promise<ConfigCopy> {
    return this.cachedConfig(owner) ?? this.readConfig(owner);
  }

  maps(profile: MapSource): EffectiveMaps | Promise<EffectiveMaps> {
    const owner = this.cachedConfig(above(profile));
    const root = this.cachedConfig(ROOT);
    if (owner === undefined || root === undefined) return this.loadMaps(profile);
    return effectiveMaps(profile, { owner: owner.config, root: root.config });
  }

  level(owner: AccountId, level: number): LevelView | undefined {
    return this.levels.get(levelId(owner, level));
  }

  loadLevel(owner: AccountId, level: number): Promise<LevelView> {
    return this.loadingLevels.run(levelId(owner, level), () => this.readLevel(owner, level));
  }

  private keepConfig(owner: AccountId, given: OwnerConfig, asOfMs: number): KeptConfig {
    const known = this.configs.get(owner);
    if (known !== undefined && known.config.version > given.version) return known;
    // Compiling prices is expensive; the same version keeps its table and what is cached with it.
    const same = known !== undefined && known.config.version === given.version;
    const { config, prices } = same ? known : { config: given, prices: this.compiled(given) };
    const copy = { config, prices, asOfMs: Math.max(asOfMs, same ? known.asOfMs : 0) };
    this.configs.set(owner, copy);
    return copy;
  }

  private compiled(config: OwnerConfig): PriceTable {
    if (config.pricing === null) return this.builtIn;
    const text = JSON.stringify(config.pricing);
    const known = this.tables.get(text);
    if (known !== undefined) return known;
    const table = priceTable(config.pricing);
    this.tables.set(text, table);
    return table;
  }

  private forgetLevel(id: string): void {
    this.levels.delete(id);
  }

  private keepLevel(view: LevelView): LevelView {
    const known = this.levels.get(view.id);
    if (known !== undefined && known.version > view.version) return known;
    this.levels.set(view.id, view);
    return view;
  }

  private async readLevel(owner: AccountId, level: number): Promise<LevelView> {
    const asOf = this.drops;
    const view = this.keepLevel(await this.system.ask(actorRef.level(owner, level), "view", {}));
    if (this.drops > asOf) this.levels.delete(view.id);
    return view;
  }

  /**
   * A publication without keys refers to the keys of the cached view. If its `members` differ, that view is
   * stale.
   */
  private applyLevel(changed: LevelChanged): void {
    if ("keys" in changed) return void this.keepLevel(changed);
    const known = this.levels.get(changed.id);
    if (known === undefined || known.version > changed.version) return;
    if (known.members === changed.members) this.levels.set(changed.id, { ...changed, keys: known.keys });
    else this.levels.delete(changed.id);
  }

  /** Returns the cached profile, or reads it: at once from an account that is loaded on this node. */
  private profile(id: AccountId): ProfileCopy | Promise<ProfileCopy> {
    const known = this.profiles.get(id);
    if (known !== undefined) return known;
    const asOf = this.drops;
    const read = this.system.askNow(actorRef.account(id), "profile", {});
    if (!(read instanceof Promise)) return this.keepProfile(id, read);
    return read.then((later) => {
      const copy = this.keepProfile(id, later);
      if (this.drops > asOf) this.profiles.delete(id);
      return copy;
    });
  }

  private keepProfile(id: AccountId, given: Known): ProfileCopy {
    const known = this.profiles.get(id);
    if (known !== undefined && known.version > given.version) return known;
    const above = ancestorsOf(given.profile.dna)
      .filter((ancestor) => ancestor !== ROOT)
      .reverse();
    const { profile, version } = given;
    const closing = given.closing ?? (known?.version === version && known.closing);
    const copy = { profile, version, closing, above, owner: ownerOf(profile) };
    this.profiles.set(id, copy);
    return copy;
  }

  /**
   * Returns the cached configuration unless it is too old. An aging one is read again when it is used, so
   * that the Owners of idle accounts are not read.
   */
  private cachedConfig(owner: AccountId): ConfigCopy | undefined {
    const known = this.configs.get(owner);
    if (known === undefined) return undefined;
    const ageMs = this.clock.mono() - known.asOfMs;
    // If this read fails, the next caller without a usable copy reads again and gets the error.
    if (ageMs > RENEW_MS) void this.readConfig(owner).catch(() => {});
    return ageMs > CONFIG_MS ? undefined : known;
  }

  private readConfig(owner: AccountId): Promise<ConfigCopy> {
    return this.loadingConfigs.run(owner, () => {
      const asOfMs = this.clock.mono();
      return this.system
        .ask(actorRef.owner(owner), "read", {})
        .then((read) => this.keepConfig(owner, read, asOfMs));
    });
  }

  /** Returns the context of an account, at once when everything that it is made of is known. */
  private contextOf(account: ProfileCopy): AccountContext | Promise<AccountContext> {
    const { owner } = account;
    const found = this.cachedConfig(owner);
    const root = this.cachedConfig(ROOT);
    if (found === undefined || root === undefined) return this.loadContext(account);
    const ancestors: ProfileCopy[] = [];
    for (const ancestor of account.above) {
      const copy = this.profile(ancestor);
      if (copy instanceof Promise) return copy.then(() => this.loadContext(account));
      ancestors.push(copy);
    }
    return this.contexts.of(account, ancestors, found, root);
  }

  private async loadContext(account: ProfileCopy): Promise<AccountContext> {
    // A refusal of one that is read at once must not leave the promise of another unhandled.
    const ancestors = await Promise.all(account.above.map(async (ancestor) => this.profile(ancestor)));
    const { owner } = account;
    const [found, root] = await Promise.all([this.config(owner), this.config(ROOT)]);
    return this.contexts.of(account, ancestors, found, root);
  }

  private async loadMaps(profile: MapSource): Promise<EffectiveMaps> {
    const [owner, root] = await Promise.all([this.config(above(profile)), this.config(ROOT)]);
    return effectiveMaps(profile, { owner: owner.config, root: root.config });
  }
}
