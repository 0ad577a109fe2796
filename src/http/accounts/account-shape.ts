// An account as lists and changes show it: the record of the specification, made from what the account itself states or from its
// document. It reads nothing.

import { isOwner, type Profile } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { minus, plus, toUsd, ZERO } from "../../../actors/money.ts";
import type { RateLimits } from "../../../actors/rate-window.ts";
import type { EffectiveMaps } from "../../gateway/account/effective-maps.ts";

/** What the record shows of an account, as the account itself or its document states it. */
export interface Shown extends Pick<AccountRecord, "isOwner" | "balance" | "creditUsed" | "chargeAmount"> {
  readonly profile: Omit<Profile, "keyHash">;
}

/** Returns an account as its document in the accounts table shows it at `now` (wall ms): without expired credit. */
export function shownOf(document: Readonly<Record<string, unknown>>, now: number): Shown {
  const row = document as unknown as Profile &
    Pick<AccountRecord, "balance" | "creditUsed" | "chargeAmount"> & {
      readonly entries: AccountRecord["credits"];
    };
  const { balance, creditUsed, chargeAmount, entries } = row;
  const due = entries.reduce((sum, one) => (one.expiresAt <= now ? plus(sum, one.amount) : sum), ZERO);
  return { profile: row, isOwner: isOwner(row), balance: minus(balance, due), creditUsed, chargeAmount };
}

/** Returns the account record (contract section 7) with the effective maps. Source: specification, user list. */
export function accountShape(record: Shown, maps: EffectiveMaps) {
  const { profile } = record;
  return {
    ID: profile.id,
    Name: profile.name,
    Email: profile.email,
    Alias: profile.alias,
    BillingEmail: profile.billingEmail,
    Balance: toUsd(record.balance),
    Rates: profile.rates,
    HardLimit: toUsd(profile.hardLimit),
    SoftLimit: toUsd(profile.softLimit),
    AutoQuota: toUsd(profile.autoQuota),
    DailyLimit: toUsd(profile.dailyLimit),
    UserLimit: profile.userLimit,
    ...upperLimits(profile.limits),
    AllowIPs: profile.allowIps.join(" "),
    AllowModels: profile.allowModels.join(" "),
    AllowLevels: profile.allowLevels.join(" "),
    Resources: profile.resources.join(" "),
    ModelLimits: maps.modelLimits.all(),
    ModelMapper: mapperText(maps.modelMapper.all()),
    QRCode: profile.qrCode,
    Status: profile.status,
    Suspended: profile.suspended,
    Level: profile.level,
    Role: profile.role,
    Gear: profile.gear,
    Factor: profile.factor,
    Tier: profile.tier,
    LevelMapper: mapperText(profile.levelMapper),
    DNA: profile.dna,
    ParentID: profile.parent,
    CreditUsed: toUsd(record.creditUsed),
    ChargeAmount: toUsd(record.chargeAmount),
    XCredit: toUsd(profile.xCredit),
    isOwner: record.isOwner,
    CreatedAt: new Date(profile.createdAt).toISOString(),
    UpdatedAt: new Date(profile.updatedAt).toISOString(),
  };
}

/** What a list shows beside the record, where it is asked for. */
export interface BesideRecord {
  readonly children?: number;
  readonly month_cost?: number;
}

/** The account record as it goes out. */
export type AccountShape = ReturnType<typeof accountShape> & BesideRecord;

const upperLimits = (limits: Profile["limits"]) => ({
  RPM: limits.rpm,
  RPH: limits.rph,
  RPD: limits.rpd,
  TPM: limits.tpm,
  TPH: limits.tph,
  TPD: limits.tpd,
});

/** Returns the rate limits that the upper-case fields of a request state; an absent field gives none. */
export function lowerLimits(
  body: Partial<Record<"RPM" | "RPH" | "RPD" | "TPM" | "TPH" | "TPD", number>>,
): Partial<RateLimits> {
  const limits: Partial<Record<keyof RateLimits, number>> = {};
  for (const name of ["RPM", "RPH", "RPD", "TPM", "TPH", "TPD"] as const) {
    const value = body[name];
    if (value !== undefined) limits[name.toLowerCase() as keyof RateLimits] = value;
  }
  return limits;
}

const mapperText = (mapper: Readonly<Record<string, string | number>>): string =>
  Object.entries(mapper)
    .map(([pattern, target]) => `${pattern}=${target}`)
    .join(",");
