// Who an account is: the founding of Root, the profile that a newborn inherits from its parent, another key.
// Which field of a request means what is settled at the edge; here only what depends on the parent.

import type { Decision, Refusal, Turn } from "../../src/runtime/actor.ts";
import { type AccountId, dnaBelow, ROOT } from "../ids.ts";
import { type Nano, ZERO } from "../money.ts";
import { covers } from "../pattern.ts";
import { nobody } from "./charge.ts";
import {
  type Account,
  type AccountEvent,
  isRoot,
  NO_LIMITS,
  type Profile,
  type RateLimits,
} from "./state.ts";

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
  readonly keyHash: string;
}

/** Why this parent may not have this child; null when it may. Money is looked at apart. */
export function unfit(state: Account, child: NewAccount): Refusal | null {
  const parent = state.profile!;
  if (parent.userLimit !== null && state.children >= parent.userLimit) {
    return {
      code: "user_limit_reached",
      message: `This account may have ${parent.userLimit} subaccounts and has ${state.children}.`,
    };
  }
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
export function newborn(parent: Profile, child: NewAccount, now: number): Profile {
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
    levelMapper: {},
    qrCode: "",
    createdAt: now,
    updatedAt: now,
  };
}

/** Root comes into being at the first start. A repeat changes nothing. */
export function found(
  state: Account,
  input: { readonly keyHash: string },
  turn: Turn,
): Decision<AccountEvent> {
  if (state.profile !== null) return { reply: { founded: false } };
  const root: Profile = {
    ...newborn(
      { dna: "", id: ROOT, parent: null, rates: 1 } as Profile,
      { id: ROOT, name: "root", email: "root@localhost", keyHash: input.keyHash },
      turn.now,
    ),
    parent: null,
    dna: ".",
    gear: 0,
  };
  return { reply: { founded: true }, events: [{ type: "created", profile: root }], save: true };
}

/** The claims of both keys are the caller's business: see src/admin/rotate-key.ts. A repeat changes nothing. */
export function rotate(state: Account, input: { readonly keyHash: string }): Decision<AccountEvent> {
  if (state.profile === null) return { refused: nobody(state) };
  const { keyHash } = state.profile;
  if (keyHash === input.keyHash) return { reply: { formerKeyHash: state.formerKeyHash } };
  return {
    reply: { formerKeyHash: keyHash },
    events: [{ type: "rotated", keyHash: input.keyHash }],
    save: true,
  };
}
