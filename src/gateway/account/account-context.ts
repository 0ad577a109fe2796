// What a request's route is made from: the account, its ancestors, its Owner's configuration, its effective maps. The context of
// an account is kept and found again while these are the same, so that what is made from it (routes) can be kept with it.
// It reads nothing by itself.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { OwnerConfig } from "../../../actors/owner/owner.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { RefusedError } from "../../base/errors.ts";
import { type EffectiveMaps, effectiveMaps } from "./effective-maps.ts";

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
  readonly owner: AccountId;
  readonly config: ConfigCopy;
  /** The account's own maps with the cascades of its Owner and Root. */
  readonly maps: EffectiveMaps;
}

/** A context, and Root's configuration, whose cascades are in its maps. */
interface KeptContext {
  readonly context: AccountContext;
  readonly root: OwnerConfig;
}

/** The last context of each account. */
export class AccountContexts {
  /**
   * By the account's profile: while an account is loaded on this node, each version of its profile is one object. The
   * profile of an account elsewhere is another object each time it is read, and so is its context.
   */
  private readonly kept = new WeakMap<Profile, KeptContext>();

  /**
   * Returns the last context of the account if it is made of the same, else a new one. Throws `RefusedError`
   * (`invalid_api_key`) when the account or an ancestor is closing.
   */
  of(
    account: ProfileCopy,
    ancestors: readonly ProfileCopy[],
    found: ConfigCopy,
    root: ConfigCopy,
  ): AccountContext {
    const { profile, owner } = account;
    const kept = this.kept.get(profile);
    if (kept?.root === root.config && isMadeOf(kept.context, account, ancestors, found)) return kept.context;
    const maps = effectiveMaps(profile, { owner: found.config, root: root.config });
    const context = assertOpen({ account, ancestors, owner, config: found, maps });
    this.kept.set(profile, { context, root: root.config });
    return context;
  }
}

/** Whether a context is made of these copies, or of others that say the same. */
function isMadeOf(
  context: AccountContext,
  account: ProfileCopy,
  ancestors: readonly ProfileCopy[],
  { config, prices }: ConfigCopy,
): boolean {
  if (context.config.config !== config || context.config.prices !== prices) return false;
  if (!isSameCopy(context.account, account) || context.ancestors.length !== ancestors.length) return false;
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
