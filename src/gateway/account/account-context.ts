// What a request's route is made from: the account, its ancestors, its Owner's configuration, its effective maps. The context of
// an account is kept and found again while these are the same. Most accounts have no lists or maps of their own, so all that stand
// below one parent route every model alike: they share a scope, by which routes are kept. It reads nothing by itself.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { OwnerConfig } from "../../../actors/owner/owner.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { RefusedError } from "../../base/errors.ts";
import { type EffectiveMaps, effectiveMaps, isBare } from "./effective-maps.ts";

/** A cached profile of an account. */
export interface ProfileCopy {
  readonly profile: Profile;
  readonly version: number;
  /**
   * The account is being deleted or no longer exists; it and all its descendants are then treated as
   * nonexistent.
   */
  readonly closing: boolean;
  /** Ancestors below Root, nearest first. */
  readonly above: readonly AccountId[];
  readonly owner: AccountId;
}

/** A cached configuration of an Owner with its compiled prices. */
export interface ConfigCopy {
  readonly config: OwnerConfig;
  readonly prices: PriceTable;
}

/**
 * What a route is made from: the account, its ancestors, its Owner's configuration and its effective maps. Mostly it is the
 * same object for the requests of an account as long as all of these are unchanged.
 */
export interface AccountContext {
  readonly account: ProfileCopy;
  /** Ancestors below Root, nearest first; the last one (or the account itself) is the Owner. */
  readonly ancestors: readonly ProfileCopy[];
  readonly config: ConfigCopy;
  /** Root's configuration, whose cascades are in the maps. */
  readonly root: OwnerConfig;
  /** The account's own maps with the cascades of its Owner and Root. */
  readonly maps: EffectiveMaps;
  readonly scope: RouteScope;
}

/**
 * The numbers of a profile that a route depends on. Contexts with the same scope, by identity, route every model alike; those of
 * accounts with lists or maps of their own have one each.
 */
export type RouteScope = Pick<Profile, "level" | "factor" | "rates">;

/** What a scope is valid for: children of these ancestors, with these numbers and without lists and maps of their own. */
type KeptScope = Pick<AccountContext, "scope" | "ancestors" | "config" | "root">;

/** Scopes that are kept for the children of one account; the one that came first makes room. */
const SCOPES_MAX = 16;

/** The last context of each account. */
export class AccountContexts {
  /**
   * By the account's profile: while an account is loaded on this node, each version of its profile is one object. The
   * profile of an account elsewhere is another object each time it is read, and so is its context.
   */
  private readonly kept = new WeakMap<Profile, AccountContext>();
  /** By the profile of the parent. */
  private readonly scopes = new WeakMap<Profile, readonly KeptScope[]>();

  /**
   * Returns the last context of the account if it is made of the same, else a new one. Throws `RefusedError`
   * (`invalid_api_key`) when the account or an ancestor is closing.
   */
  of(
    account: ProfileCopy,
    ancestors: readonly ProfileCopy[],
    found: ConfigCopy,
    { config: root }: ConfigCopy,
  ): AccountContext {
    const { profile } = account;
    const kept = this.kept.get(profile);
    if (kept?.root === root && isMadeOf(kept, account, ancestors, found)) return kept;
    const maps = effectiveMaps(profile, { owner: found.config, root });
    const scope = this.scopeOf(profile, ancestors, found, root);
    const context = assertOpen({ account, ancestors, config: found, root, maps, scope });
    this.kept.set(profile, context);
    return context;
  }

  /** Returns the scope of the siblings that route every model as this account does, or a new one. */
  private scopeOf(
    profile: Profile,
    ancestors: readonly ProfileCopy[],
    config: ConfigCopy,
    root: OwnerConfig,
  ): RouteScope {
    const { level, factor, rates } = profile;
    const scope = { level, factor, rates };
    const [parent] = ancestors;
    if (parent === undefined || !isPlain(profile)) return scope;
    const others = this.scopes.get(parent.profile) ?? [];
    const known = others.find(
      (one) => one.root === root && isSameScope(one.scope, scope) && isMadeBelow(one, ancestors, config),
    );
    if (known !== undefined) return known.scope;
    this.scopes.set(parent.profile, [...others.slice(1 - SCOPES_MAX), { scope, ancestors, config, root }]);
    return scope;
  }
}

/** Whether an account has no lists and maps of its own, so that only its numbers tell its routes from those of its siblings. */
function isPlain({ allowModels, allowLevels, resources, ...profile }: Profile): boolean {
  const { levelMapper, modelMapper, modelLimits, stamps } = profile;
  return (
    allowModels.length + allowLevels.length + resources.length === 0 &&
    [levelMapper, modelMapper, modelLimits, ...Object.values(stamps ?? {})].every(isBare)
  );
}

const isSameScope = (one: RouteScope, { level, factor, rates }: RouteScope): boolean =>
  one.level === level && one.factor === factor && one.rates === rates;

/** Whether a context is made of these copies, or of others that say the same. */
function isMadeOf(
  context: AccountContext,
  account: ProfileCopy,
  ancestors: readonly ProfileCopy[],
  found: ConfigCopy,
): boolean {
  return isSameCopy(context.account, account) && isMadeBelow(context, ancestors, found);
}

/** Whether a context or scope is made of these ancestors and this configuration, or of others that say the same. */
function isMadeBelow(
  context: Pick<AccountContext, "ancestors" | "config">,
  ancestors: readonly ProfileCopy[],
  { config, prices }: ConfigCopy,
): boolean {
  if (context.config.config !== config || context.config.prices !== prices) return false;
  if (context.ancestors.length !== ancestors.length) return false;
  for (let i = 0; i < ancestors.length; i++) {
    if (!isSameCopy(context.ancestors[i]!, ancestors[i]!)) return false;
  }
  return true;
}

const isSameCopy = (one: ProfileCopy, other: ProfileCopy): boolean =>
  one === other ||
  (one.profile === other.profile && one.version === other.version && one.closing === other.closing);

/**
 * Returns the context if no account in it is closing. Closing an account closes all its descendants at once.
 */
function assertOpen(accountContext: AccountContext): AccountContext {
  if (accountContext.account.closing || accountContext.ancestors.some((one) => one.closing))
    throw new RefusedError(INVALID_KEY);
  return accountContext;
}
