// The shapes of the specification: TypeBox schemas for what comes in, and the account record as it goes out.
// One source: the schema validates, gives the type and documents. Descriptions are the rule that an error repeats.

import { Type } from "@sinclair/typebox";
import { isOwner, type Profile } from "../../actors/account/state.ts";
import type { AccountRecord } from "../../actors/account/views.ts";
import { minus, plus, toUsd, ZERO } from "../../actors/money.ts";
import type { RateLimits } from "../../actors/rate-window.ts";
import type { EffectiveMaps } from "../gateway/account/effective-maps.ts";
import { email, nameText, visibleText } from "./text-rules.ts";
import { characters } from "./text-schema.ts";

const MONEY_MAX = 9_000_000;

export const money = (least: number) =>
  Type.Number({
    minimum: least,
    maximum: MONEY_MAX,
    description: `must be a number of US dollars from ${least} to ${MONEY_MAX}`,
  });

export const count = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "must be an integer of at least 0; 0 means no limit",
});

export const textSchema = (most: number, least = 0) =>
  characters({
    minLength: least,
    maxLength: most,
    description: `must be a text of ${least === 0 ? "at most" : `${least} to`} ${most} characters`,
  });

/** The query of an endpoint that takes none. */
export const NoQuery = Type.Object({}, { additionalProperties: false });

/** What may be written as a text or as the object that it stands for; `rule` is what an error repeats. */
export const textOrObject = (rule: string) =>
  Type.Union([Type.String(), Type.Object({}, { additionalProperties: true })], { description: rule });

/** A page number or size of a query: digits, converted by `pageOf`. */
export const digits = Type.String({
  pattern: "^[0-9]{1,30}$",
  description: "must be an integer of at least 0",
});

const ratePart = Type.Optional(count);

export const modelLimitsInput = Type.Record(
  Type.String(),
  Type.Object(
    { rpm: ratePart, rph: ratePart, rpd: ratePart, tpm: ratePart, tph: ratePart, tpd: ratePart },
    { additionalProperties: false },
  ),
  {
    description: "must map model names to objects of rpm, rph, rpd, tpm, tph, tpd",
    // A name with a line break is no key of a record: without this its value would pass unseen.
    additionalProperties: false,
  },
);

export const flagField = Type.Boolean({ description: "must be true or false" });

/** Fields of an account that a creation and a change take alike. Amounts and lists as the wire has them. */
export const ALIKE = {
  Alias: Type.Optional(visibleText(255)),
  BillingEmail: Type.Optional(email()),
  Rates: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000, description: "must be a number from 0 to 1000" }),
  ),
  Days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 36_500, description: "must be an integer from 1 to 36500" }),
  ),
  HardLimit: Type.Optional(money(0)),
  SoftLimit: Type.Optional(money(0)),
  AutoQuota: Type.Optional(money(0)),
  RPM: Type.Optional(count),
  RPH: Type.Optional(count),
  RPD: Type.Optional(count),
  TPM: Type.Optional(count),
  TPH: Type.Optional(count),
  TPD: Type.Optional(count),
  AllowIPs: Type.Optional(textSchema(8_192)),
  AllowModels: Type.Optional(textSchema(8_192)),
  Resources: Type.Optional(textSchema(8_192)),
};

/** spec: POST /x-users. */
export const NewUser = Type.Object(
  {
    Name: nameText,
    Email: email(),
    CreditGranted: money(2),
    ...ALIKE,
    ModelLimits: Type.Optional(modelLimitsInput),
    isOwner: Type.Optional(flagField),
  },
  { additionalProperties: false },
);

/** What the record shows of an account: as the account itself tells it, or as its document has it. */
export interface Shown extends Pick<AccountRecord, "isOwner" | "balance" | "creditUsed" | "chargeAmount"> {
  readonly profile: Omit<Profile, "keyHash">;
}

/** An account as its document in the accounts table shows it at this moment: credit that is due is taken off. */
export function shownOf(document: Readonly<Record<string, unknown>>, now: number): Shown {
  const row = document as unknown as Profile &
    Pick<AccountRecord, "balance" | "creditUsed" | "chargeAmount"> & {
      readonly entries: AccountRecord["credits"];
    };
  const { balance, creditUsed, chargeAmount, entries } = row;
  const due = entries.reduce((sum, one) => (one.expiresAt <= now ? plus(sum, one.amount) : sum), ZERO);
  return { profile: row, isOwner: isOwner(row), balance: minus(balance, due), creditUsed, chargeAmount };
}

/** spec: a user-list element, with every field of the account record (contract section 7); its maps as they stand. */
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

/** Root's balance is 0 by definition. */
export const balanceOf = (record: AccountRecord): number => toUsd(record.balance);

const upperLimits = (limits: Profile["limits"]) => ({
  RPM: limits.rpm,
  RPH: limits.rph,
  RPD: limits.rpd,
  TPM: limits.tpm,
  TPH: limits.tph,
  TPD: limits.tpd,
});

/** Limits of a request's upper-case fields; what is absent stays away. */
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

/** No list is so long: a later page is as empty, and its place in the list stays an exact number. */
const PAGE_MAX = 1_000_000_000_000;

/** `page` and `size` of a query, bounded; 0 of either: no paging. */
export function pageOf(
  query: { readonly page?: string; readonly size?: string },
  defaults: { readonly size: number; readonly most: number },
): { page: number; size: number } {
  const page = query.page === undefined ? 1 : Math.min(PAGE_MAX, Number(query.page));
  const size = query.size === undefined ? defaults.size : Math.min(defaults.most, Number(query.size));
  return { page, size };
}

/** Headers of a list of so many; without a page it comes whole. */
export const pageHeaders = (
  total: number,
  paging: { readonly page: number; readonly size: number } | null,
): Record<string, string> => ({
  "X-Total-Count": String(total),
  ...(paging && {
    "X-Page": String(paging.page),
    "X-Per-Page": String(paging.size),
    "X-Total-Pages": String(Math.ceil(total / paging.size)),
  }),
});
