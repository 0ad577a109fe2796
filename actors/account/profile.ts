// The profile of an account: creation of Root, the initial profile of a new account, replacement of the key,
// and changes. The HTTP edge validates request fields; only rules that depend on the parent are checked here.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, dnaBelow, ROOT } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import { covers } from "../pattern.ts";
import { NO_LIMITS, type RateLimits } from "../rate-window.ts";
import { staleProfileSignal } from "./admit.ts";
import { accountNotFound } from "./charge.ts";
import { NO_LIST, NO_MAP } from "./compact-profile.ts";
import { applyProfileChange } from "./evolve-lifecycle.ts";
import { type Account, type AccountEvent, isRoot, type Profile, type ProfileChange } from "./state.ts";
import { accountChanged, record } from "./views.ts";

/**
 * What a creator may set on a new account (spec: POST /x-users). Absent fields are inherited or take the
 * default.
 */
export interface NewAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly email: string;
  readonly alias?: string;
  readonly billingEmail?: string;
  readonly rates?: number;
  readonly hardLimit?: Nano;
  readonly softLimit?: Nano;
  readonly autoQuota?: Nano;
  readonly limits?: Partial<RateLimits>;
  readonly allowIps?: readonly string[];
  readonly allowModels?: readonly string[];
  readonly resources?: readonly string[];
  readonly modelLimits?: Readonly<Record<string, Partial<RateLimits>>>;
  /** Stamps of the given `modelLimits`. */
  readonly stamps?: Profile["stamps"];
  readonly keyHash: string;
}

/**
 * Returns why this parent may not take a new or moved child: user_limit_reached, rate_below_parent or
 * resources_not_subset. Returns null if it may. Credit is not checked here.
 */
export function childRefusal(state: Account, child: Inherited): Refusal | null {
  const parent = state.profile!;
  if (parent.userLimit !== null && state.children >= parent.userLimit) {
    return {
      code: "user_limit_reached",
      message: `This account may have ${parent.userLimit} subaccounts and has ${state.children}.`,
    };
  }
  return inheritanceRefusal(parent, child);
}

type Inherited = Partial<Pick<Profile, "rates" | "resources">>;

/**
 * Checks Rates and Resources against the parent's: rate_below_parent, resources_not_subset, or null if both
 * fit.
 */
export function inheritanceRefusal(
  parent: Pick<Profile, "rates" | "resources">,
  child: Inherited,
): Refusal | null {
  if (child.rates !== undefined && child.rates < parent.rates) {
    return {
      code: "rate_below_parent",
      message: `Rates must be at least the parent's ${parent.rates}, not ${child.rates}.`,
    };
  }
  if (child.resources !== undefined && !covers(parent.resources, child.resources)) {
    return {
      code: "resources_not_subset",
      message: `Resources must each be covered by the parent's: ${parent.resources.join(" ")}.`,
    };
  }
  return null;
}

/**
 * Returns the profile of a new account. An Owner (a child of Root) gets defaults, others inherit (contract
 * section 3).
 */
export function initialProfile(parent: Profile, child: NewAccount, now: number): Profile {
  const owner = isRoot(parent);
  return {
    id: child.id,
    name: child.name,
    email: child.email,
    alias: child.alias ?? child.name,
    billingEmail: child.billingEmail ?? child.email,
    parent: parent.id,
    dna: dnaBelow(parent.dna, parent.id),
    keyHash: child.keyHash,
    status: true,
    suspended: false,
    level: owner ? 0 : parent.level,
    role: owner ? 0 : parent.role,
    gear: owner ? 1 : parent.gear,
    tier: owner ? 0 : parent.tier,
    factor: owner ? 1 : parent.factor,
    rates: child.rates ?? parent.rates,
    hardLimit: child.hardLimit ?? ZERO,
    softLimit: child.softLimit ?? ZERO,
    dailyLimit: ZERO,
    autoQuota: child.autoQuota ?? ZERO,
    xCredit: ZERO,
    userLimit: null,
    limits: child.limits === undefined ? NO_LIMITS : { ...NO_LIMITS, ...child.limits },
    allowIps: child.allowIps ?? NO_LIST,
    allowModels: child.allowModels ?? NO_LIST,
    allowLevels: NO_LIST,
    // Requests of a child without its own list are still checked against its ancestors' lists.
    resources: child.resources ?? NO_LIST,
    modelLimits: child.modelLimits ?? NO_MAP,
    modelMapper: NO_MAP,
    ...(child.stamps === undefined ? {} : { stamps: child.stamps }),
    levelMapper: NO_MAP,
    qrCode: "",
    createdAt: now,
    updatedAt: now,
  };
}

/** Creates Root at the first start and publishes its profile. A repeat changes nothing. */
export function createRoot(
  state: Account,
  input: { readonly keyHash: string },
  turn: Turn,
): Decision<AccountEvent> {
  if (state.profile !== null) return { reply: { founded: false } };
  const root: Profile = {
    ...initialProfile(
      { dna: "", id: ROOT, parent: null, rates: 1 } as Profile,
      { id: ROOT, name: "root", email: "root@localhost", keyHash: input.keyHash },
      turn.now,
    ),
    parent: null,
    dna: ".",
    gear: 0,
  };
  const events: AccountEvent[] = [{ type: "created", profile: root }];
  return { reply: { founded: true }, events, publish: [accountChanged(state, root)], save: true };
}

/** Input of the command `rotate`. Hashes are SHA-256 in hex. */
export interface RotateKey {
  readonly keyHash: string;
  /**
   * Hash that the current key must have, otherwise KEY_CHANGED is refused. If absent, any key is replaced.
   */
  readonly from?: string;
}

/** Code of the refusal of a rotation whose key was replaced by another rotation. */
export const KEY_CHANGED = "key_changed";

/**
 * Replaces the API key, publishes the profile, and returns the former key's hash. The caller handles the
 * claims of both keys, see src/admin/rotate-key.ts. A repeat changes nothing. Refuses user_not_found and
 * KEY_CHANGED.
 */
export function replaceKey(state: Account, input: RotateKey, { now }: Turn): Decision<AccountEvent> {
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const { keyHash } = profile;
  if (keyHash === input.keyHash) return { reply: { formerKeyHash: state.formerKeyHash } };
  if (input.from !== undefined && input.from !== keyHash) {
    return { refused: { code: KEY_CHANGED, message: "The key has been exchanged meanwhile." } };
  }
  return {
    reply: { formerKeyHash: keyHash },
    events: [{ type: "rotated", keyHash: input.keyHash }],
    publish: [accountChanged(state, { ...profile, keyHash: input.keyHash, updatedAt: now })],
    save: true,
  };
}

/** Input of the command `update`. */
export interface UpdateProfile {
  readonly change: ProfileChange;
  /** The parent's bounds; null for Root, or if the change does not depend on them. */
  readonly parent: Pick<Profile, "rates" | "resources"> | null;
  /** The account that makes the change. */
  readonly by: AccountId;
  /**
   * Version that the profile must have, otherwise STALE_PROFILE is refused. If absent, any version is
   * changed.
   */
  readonly version?: number;
}

/**
 * Changes the given fields, all or none, publishes the profile, and returns the account's new record. Refuses
 * user_not_found, STALE_PROFILE, rate_below_parent and resources_not_subset.
 */
export function updateProfile(
  state: Account,
  { change, parent, by, version = state.version }: UpdateProfile,
  { now }: Turn,
): Decision<AccountEvent> {
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  if (version !== state.version) return { refused: staleProfileSignal(state) };
  const refused = parent === null ? null : inheritanceRefusal(parent, change);
  if (refused !== null) return { refused };
  if (Object.keys(change).length === 0) return { reply: record(state, now) };
  const after = applyProfileChange(profile, change, now);
  return {
    reply: record({ ...state, profile: after, version: state.version + 1 }, now),
    events: [{ type: "updated", change, by }],
    publish: [accountChanged(state, after)],
    save: true,
  };
}
