// What the fields of PUT /x-users change in the profile of an account. Who may set them is decided in permissions.ts; money,
// moves and lifetime figures are no part of a profile and belong to update-user.ts.

import {
  type AncestorConfigs,
  editOwnMap,
  type MapName,
  type SharedMaps,
} from "../../../actors/account/map-overrides.ts";
import type { Profile, ProfileChange } from "../../../actors/account/state.ts";
import type { MapEdits } from "../../../actors/owner/map-edits.ts";
import { lowerLimits } from "./account-shape.ts";
import { type AccountField, FIELDS } from "./permissions.ts";
import type { Change } from "./schemas.ts";
import {
  checkedMap,
  readAddresses,
  readLevelMap,
  readLevels,
  readModelLimits,
  readModelMap,
  readModels,
  readPaths,
  refuseField,
} from "./user-lists.ts";
import { nano } from "./users.ts";

/** Returns the fields that a request has, in the order of the table. */
export const givenFields = (change: Change): AccountField[] =>
  (Object.keys(FIELDS) as AccountField[]).filter((field) => change[field] !== undefined);

/** Fields that no reader of their own sets in the profile. */
type Elsewhere =
  | "CreditGranted"
  | "Days"
  | "DNA"
  | "ParentID"
  | "CreditUsed"
  | "ChargeAmount"
  | "XCredit"
  /** Read together, because a change has one set of limits. */
  | "RPM"
  | "RPH"
  | "RPD"
  | "TPM"
  | "TPH"
  | "TPD";

type ProfileField = Exclude<AccountField, Elsewhere>;

/** What a change of a profile is computed from. */
export interface ProfileBasis {
  readonly profile: Profile;
  /** The configurations above it; null when no field of the change depends on them. */
  readonly above: AncestorConfigs | null;
}

type Reader<F extends ProfileField> = (
  value: NonNull<Change[F]>,
  profile: Profile,
  basis: ProfileBasis,
) => ProfileChange;
type NonNull<T> = Exclude<T, undefined>;

const READERS: { readonly [F in ProfileField]: Reader<F> } = {
  Status: (status) => ({ status }),
  Suspended: (suspended) => ({ suspended }),
  Rates: (rates) => ({ rates }),
  HardLimit: (usd) => ({ hardLimit: nano(usd, "HardLimit") }),
  SoftLimit: (usd) => ({ softLimit: nano(usd, "SoftLimit") }),
  AutoQuota: (usd) => ({ autoQuota: nano(usd, "AutoQuota") }),
  DailyLimit: (usd) => ({ dailyLimit: nano(usd, "DailyLimit") }),
  UserLimit: (userLimit) => ({ userLimit }),
  AllowIPs: (list) => ({ allowIps: readAddresses(list) }),
  AllowModels: (list, { allowModels }) => ({ allowModels: readModels(list, allowModels) }),
  AllowLevels: (list) => ({ allowLevels: readLevels(list) }),
  Resources: (list) => ({ resources: readPaths(list) }),
  ModelLimits: (limits, _, basis) => edited(basis, "ModelLimits", "modelLimits", readModelLimits(limits)),
  ModelMapper: (text, _, basis) => edited(basis, "ModelMapper", "modelMapper", readModelMap(text)),
  LevelMapper: (entries, { levelMapper }) => ({ levelMapper: readLevelMap(entries, levelMapper) }),
  QRCode: (qrCode) => ({ qrCode: readAddress(qrCode) }),
  Alias: (alias) => ({ alias: alias.toWellFormed() }),
  BillingEmail: (billingEmail) => ({ billingEmail }),
  Level: (level) => ({ level }),
  Role: (role) => ({ role }),
  Gear: (gear) => ({ gear }),
  Tier: (tier) => ({ tier }),
  Factor: (factor) => ({ factor }),
};

/** Whether a change has maps that cascades from above change too, so that the configurations above must be known. */
export const isShared = ({ ModelMapper, ModelLimits }: Change): boolean =>
  ModelMapper !== undefined || ModelLimits !== undefined;

/** Whether a change edits a list or a map as it now is, so that whether it is possible depends on earlier edits. */
export const isEdit = (change: Change): boolean =>
  isShared(change) || change.AllowModels !== undefined || change.LevelMapper !== undefined;

/** Returns the account's own map after the edits, and its stamps. */
function edited<F extends MapName>(
  { profile, above }: ProfileBasis,
  field: AccountField,
  name: F,
  edits: MapEdits<SharedMaps[F]>,
): ProfileChange {
  if (above === null) throw new Error(`${field} is changed without the configurations above`);
  const { entries, stamps } = editOwnMap(profile, above, name, edits);
  return { [name]: checkedMap(field, entries), stamps };
}

/** Returns the change of a profile that a request asks for. Throws `invalid_parameter`; it does not check the parent's rules. */
export function profileChange(change: Change, basis: ProfileBasis): ProfileChange {
  const limits = lowerLimits(change);
  let { profile } = basis;
  let made: ProfileChange = {};
  for (const [field, read] of Object.entries(READERS)) {
    const value = change[field as ProfileField];
    if (value === undefined) continue;
    const part = (read as Reader<ProfileField>)(value as never, profile, { ...basis, profile });
    // Two maps have their stamps in one place: the second adds to what the first has made.
    if (part.stamps !== undefined) profile = { ...profile, stamps: part.stamps };
    made = { ...made, ...part };
  }
  return Object.keys(limits).length === 0 ? made : { ...made, limits };
}

/** Reads the address of an image, or none. */
function readAddress(url: string): string {
  const fit = url === "" || (/^https:\/\/\S+$/i.test(url) && URL.canParse(url));
  return fit ? url.toWellFormed() : refuseField("QRCode", "must be the https address of an image, or empty");
}
