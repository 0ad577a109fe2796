// The fields of an account that forms set: what is typed into them, how it is read, and who may set them. A field goes into a
// request only when it was changed. The service judges the values; this only keeps a text from being sent for a number.

import type { Change } from "../../src/http/accounts/schemas.ts";
import type { Account, Relation } from "./accounts.ts";
import { parseUsd, plainUsd } from "./amount.ts";

/** A field of `POST` or `PUT /x-users` that is typed as a text. */
export type TextField = Exclude<
  keyof Change,
  "Status" | "Suspended" | "ModelLimits" | "DNA" | "ParentID" | "ModelMapper"
>;

/** How the text of a field is read. */
export type FieldKind =
  /** US dollars. */
  | "usd"
  /** An integer. */
  | "integer"
  /** An integer, or nothing for no limit. */
  | "integer_or_none"
  /** A number with decimals that multiplies prices. */
  | "factor"
  | "text";

/** How each field is read. */
export const FIELD_KINDS: Readonly<Record<TextField, FieldKind>> = {
  CreditGranted: "usd",
  Days: "integer",
  HardLimit: "usd",
  SoftLimit: "usd",
  DailyLimit: "usd",
  AutoQuota: "usd",
  UserLimit: "integer_or_none",
  RPM: "integer",
  RPH: "integer",
  RPD: "integer",
  TPM: "integer",
  TPH: "integer",
  TPD: "integer",
  Rates: "factor",
  Level: "integer",
  Role: "integer",
  Gear: "integer",
  Tier: "integer",
  Factor: "factor",
  Alias: "text",
  BillingEmail: "text",
  QRCode: "text",
  AllowIPs: "text",
  AllowModels: "text",
  AllowLevels: "text",
  Resources: "text",
  LevelMapper: "text",
  CreditUsed: "usd",
  ChargeAmount: "usd",
  XCredit: "usd",
};

/** What a text says: a value to send, or that it cannot be read. */
export type FieldReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

const UNREADABLE: FieldReading = { ok: false };
const readable = (value: unknown): FieldReading => ({ ok: true, value });

/** Reads what was typed into a field. Amounts become nano-dollars. An empty number is unreadable, an empty text is a text. */
export function readField(field: TextField, text: string): FieldReading {
  const typed = text.normalize("NFKC").trim();
  switch (FIELD_KINDS[field]) {
    case "usd": {
      const amount = parseUsd(text);
      return amount === null ? UNREADABLE : readable(amount);
    }
    case "integer":
      return /^-?\d{1,15}$/.test(typed) ? readable(Number(typed)) : UNREADABLE;
    case "integer_or_none":
      if (typed === "") return readable(null);
      return /^\d{1,15}$/.test(typed) ? readable(Number(typed)) : UNREADABLE;
    case "factor":
      return /^\d{1,6}(\.\d{1,9})?$/.test(typed) ? readable(Number(typed)) : UNREADABLE;
    case "text":
      return readable(text.trim());
  }
}

/** Returns what a field of an account looks like as the text of an input. */
export function fieldText(account: Account, field: Exclude<TextField, "CreditGranted" | "Days">): string {
  const value = account[field];
  if (value === null) return "";
  return typeof value === "bigint" ? plainUsd(value) : String(value);
}

/** What is typed into the fields of a form. */
export type FieldTexts = Readonly<Partial<Record<TextField, string>>>;

/** What a form would send, and which of its fields cannot be read. */
export interface FormReading {
  readonly body: Readonly<Record<string, unknown>>;
  readonly unreadable: ReadonlySet<TextField>;
}

/** Returns the fields whose text is another than before, read. Without `before` those that are not empty. */
export function readChanged(texts: FieldTexts, before: FieldTexts = {}): FormReading {
  const body: Record<string, unknown> = {};
  const unreadable = new Set<TextField>();
  for (const [name, text] of Object.entries(texts)) {
    const field = name as TextField;
    if (text.trim() === (before[field] ?? "").trim()) continue;
    const reading = readField(field, text);
    if (reading.ok) body[field] = reading.value;
    else unreadable.add(field);
  }
  return { body, unreadable };
}

const OWNER_FIELDS: ReadonlySet<keyof Change> = new Set<keyof Change>([
  ...(["Level", "Role", "Gear", "Tier", "Factor", "LevelMapper"] as const),
]);
const ROOT_FIELDS: ReadonlySet<keyof Change> = new Set<keyof Change>([
  ...(["DNA", "ParentID", "CreditUsed", "ChargeAmount", "XCredit"] as const),
]);

/** Whether an account above may set a field (contract section 3). */
export function maySet(relation: Relation, field: keyof Change): boolean {
  if (ROOT_FIELDS.has(field)) return relation === "root";
  return relation !== "ancestor" || !OWNER_FIELDS.has(field);
}
