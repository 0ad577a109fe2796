// Permissions: the relationship of a caller to an account, what each relationship allows, and which fields it may set. Tables
// alone decide; an endpoint never compares roles itself. Source: specification, "Roles"; contract section 3.

import { isOwner, isRoot, type Profile } from "../../../actors/account/state.ts";
import { dnaBelow, ownerOf } from "../../../actors/ids.ts";
import type { Refusal } from "../../base/errors.ts";

/** The relationship of a caller to an account. A parent is an ancestor like any other. */
export type Relationship =
  /** Root, to any other account. */
  | "root"
  /** The Owner at the top of the account's tree. */
  | "owner"
  | "ancestor"
  /** Above the account, but with a UserLimit of 0, which takes the management away. */
  | "not_managing"
  /** An Owner, or Root, to itself. */
  | "self_as_owner"
  | "self"
  /** The account is an ancestor of the caller. */
  | "below"
  /** The account is in another branch or tree; the caller sees it as missing. */
  | "apart";

/** What a caller wants to do to an account. */
export type Act =
  | "read"
  /** To list the accounts directly below it. */
  | "list"
  | "update"
  | "delete";

type Verdict = "may" | "not_ancestor" | "not_manager" | "user_not_found";

const ACTS: Readonly<Record<Act, Readonly<Record<Relationship, Verdict>>>> = {
  read: {
    root: "may",
    owner: "may",
    ancestor: "may",
    not_managing: "user_not_found",
    self_as_owner: "user_not_found",
    self: "user_not_found",
    below: "user_not_found",
    apart: "user_not_found",
  },
  list: {
    root: "may",
    owner: "may",
    ancestor: "may",
    not_managing: "user_not_found",
    self_as_owner: "may",
    self: "may",
    below: "user_not_found",
    apart: "user_not_found",
  },
  update: {
    root: "may",
    owner: "may",
    ancestor: "may",
    not_managing: "not_manager",
    self_as_owner: "may",
    self: "may",
    below: "not_ancestor",
    apart: "user_not_found",
  },
  delete: {
    root: "may",
    owner: "may",
    ancestor: "may",
    not_managing: "not_manager",
    self_as_owner: "not_ancestor",
    self: "not_ancestor",
    below: "not_ancestor",
    apart: "user_not_found",
  },
};

const MANAGERS = ["root", "owner", "ancestor"] as const;
const SELF = ["self_as_owner", "self"] as const;

/** The relationships that may set each field of an existing account. */
export const FIELDS = {
  CreditGranted: MANAGERS,
  Days: MANAGERS,
  Status: MANAGERS,
  Suspended: MANAGERS,
  Rates: MANAGERS,
  HardLimit: MANAGERS,
  SoftLimit: [...MANAGERS, ...SELF],
  AutoQuota: MANAGERS,
  DailyLimit: MANAGERS,
  UserLimit: MANAGERS,
  RPM: MANAGERS,
  RPH: MANAGERS,
  RPD: MANAGERS,
  TPM: MANAGERS,
  TPH: MANAGERS,
  TPD: MANAGERS,
  AllowIPs: [...MANAGERS, "self_as_owner"],
  AllowModels: [...MANAGERS, "self_as_owner"],
  AllowLevels: MANAGERS,
  Resources: MANAGERS,
  ModelLimits: MANAGERS,
  ModelMapper: SELF,
  QRCode: [...MANAGERS, ...SELF],
  Alias: [...MANAGERS, ...SELF],
  BillingEmail: [...MANAGERS, ...SELF],
  Level: ["root", "owner"],
  Role: ["root", "owner"],
  Gear: ["root", "owner"],
  Tier: ["root", "owner"],
  Factor: ["root", "owner"],
  LevelMapper: ["root", "owner"],
  DNA: ["root"],
  ParentID: ["root"],
  CreditUsed: ["root"],
  ChargeAmount: ["root"],
  XCredit: ["root"],
} as const satisfies Readonly<Record<string, readonly Relationship[]>>;

/** A field of an account that requests can set. */
export type AccountField = keyof typeof FIELDS;

/** Returns the relationship of `caller` to `account`. */
export function relationshipOf(caller: Profile, account: Profile): Relationship {
  if (caller.id === account.id) return isOwner(caller) ? "self_as_owner" : "self";
  if (isRoot(caller)) return "root";
  if (account.dna.startsWith(dnaBelow(caller.dna, caller.id))) {
    if (caller.userLimit === 0) return "not_managing";
    return ownerOf(account) === caller.id ? "owner" : "ancestor";
  }
  return caller.dna.startsWith(dnaBelow(account.dna, account.id)) ? "below" : "apart";
}

/** Whether an account may have subaccounts, and so the console for their management. */
export const manages = ({ userLimit }: Pick<Profile, "userLimit">): boolean => userLimit !== 0;

/** Returns `may`, or the code of the refusal. */
export const verdict = (act: Act, of: Relationship): Verdict => ACTS[act][of];

const WHY: Readonly<Record<Exclude<Verdict, "may" | "user_not_found">, string>> = {
  not_ancestor: "Only an account above may do this, and neither yourself nor what is above you is below you.",
  not_manager: "This account's UserLimit is 0: it manages no subaccounts.",
};

/** Returns the refusal of a verdict, or null for `may`. Where an account must stay unknown, the caller of this throws `user_not_found`. */
export function permissionRefusal(found: Exclude<Verdict, "user_not_found">): Refusal | null {
  return found === "may" ? null : { code: found, message: WHY[found] };
}

/** Returns the refusal of the first field that this relationship may not set, or null when it may set them all. */
export function unsettable(of: Relationship, fields: readonly AccountField[]): Refusal | null {
  const field = fields.find((one) => !(FIELDS[one] as readonly Relationship[]).includes(of));
  if (field === undefined) return null;
  return {
    code: "field_not_settable",
    message: `"${field}" may not be set by this account here: ${settersOf(FIELDS[field])} may set it.`,
  };
}

function settersOf(allowed: readonly Relationship[]): string {
  if (!allowed.includes("root")) return "only the account itself";
  if (!allowed.includes("owner")) return "only Root";
  return allowed.includes("ancestor") ? "only an account above it" : "only the Owner of its tree, or Root,";
}
