// Who an account is: the founding of Root, the profile that a newborn inherits from its parent, another key, a change.
// Which field of a request means what is settled at the edge; here only what depends on the parent.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, dnaBelow, ROOT } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import { covers } from "../pattern.ts";
import { NO_LIMITS, type RateLimits } from "../rate-window.ts";
import { staleProfileSignal } from "./admit.ts";
import { accountNotFound } from "./charge.ts";
import { applyProfileChange } from "./evolve-lifecycle.ts";
import { type Account, type AccountEvent, isRoot, type Profile, type ProfileChange } from "./state.ts";
import { accountChanged, record } from "./views.ts";

/** What a creator may say of a newborn (spec: POST /x-users). Absent = inherited or the default. */
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
  /** Of the limits that are given. */
  readonly stamps?: Profile["stamps"];
  readonly keyHash: string;
}

/** Why this parent may not have this child, born or moved here; null when it may. Money is looked at apart. */
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

/** What an account may not have because of its parent. */
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

/** The newborn's profile. An Owner (a child of Root) starts with the defaults, others inherit (contract section 3). */
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
    limits: { ...NO_LIMITS, ...child.limits },
    allowIps: child.allowIps ?? [],
    allowModels: child.allowModels ?? [],
    allowLevels: [],
    // A child without a list of its own is still held to its ancestors' at request time.
    resources: child.resources ?? [],
    modelLimits: child.modelLimits ?? {},
    modelMapper: {},
    ...(child.stamps === undefined ? {} : { stamps: child.stamps }),
    levelMapper: {},
    qrCode: "",
    createdAt: now,
    updatedAt: now,
  };
}

/** Root comes into being at the first start. A repeat changes nothing. */
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

export interface RotateKey {
  readonly keyHash: string;
  /** Only if this is the key's hash now: KEY_CHANGED. Absent: whichever it is. */
  readonly from?: string;
}

/** The refusal of a rotation whose key has been exchanged by another one meanwhile. */
export const KEY_CHANGED = "key_changed";

/** The claims of both keys are the caller's business: see src/admin/rotate-key.ts. A repeat changes nothing. */
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

export interface UpdateProfile {
  readonly change: ProfileChange;
  /** What the parent allows; null: Root, or nothing that depends on it. */
  readonly parent: Pick<Profile, "rates" | "resources"> | null;
  /** Who does it. */
  readonly by: AccountId;
  /** The change was made from this version, and is none of another: STALE. Absent: it depends on nothing that was. */
  readonly version?: number;
}

/** Changes what is given, all or nothing; answers the account as it is then. */
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
