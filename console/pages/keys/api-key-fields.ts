// The fields of the form of an API key: as somebody types them, and as the service takes them. All or nothing: a field that cannot
// be read keeps the form from being sent.

import { parseUsd, plainUsd } from "../../api/amount.ts";
import type { ApiKeyRow, Scope } from "./key-rights.ts";

/** The form of a key, as it is typed. */
export interface ApiKeyFields {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly hardLimit: string;
  readonly dailyLimit: string;
  readonly rpm: string;
  readonly tpm: string;
  readonly allowModels: string;
  readonly allowIps: string;
  readonly resources: string;
  readonly tags: string;
  /** As an input of the type datetime-local has it, in UTC; empty for never, `UNFINISHED` while parts of it are missing. */
  readonly expires: string;
}

/** The expiry while its input has some of its parts: the value of the input is empty then, which would be never. */
export const UNFINISHED = "unfinished";

/** The form of a new key. */
export const NEW_KEY: ApiKeyFields = {
  ...{ name: "", scopes: ["invoke"], hardLimit: "", dailyLimit: "", rpm: "", tpm: "" },
  ...{ allowModels: "", allowIps: "", resources: "", tags: "", expires: "" },
};

const limitText = (limit: bigint): string => (limit === 0n ? "" : plainUsd(limit));
const rateText = (rate: number): string => (rate === 0 ? "" : String(rate));

/** Returns the form of a key that exists. */
export const fieldsOf = (row: ApiKeyRow): ApiKeyFields => ({
  name: row.name,
  scopes: row.scopes,
  hardLimit: limitText(row.hard_limit),
  dailyLimit: limitText(row.daily_limit),
  rpm: rateText(row.rpm),
  tpm: rateText(row.tpm),
  allowModels: row.allow_models.join(" "),
  allowIps: row.allow_ips.join(" "),
  resources: row.resources.join(" "),
  tags: Object.entries(row.tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(","),
  expires: row.expires_at === null ? "" : row.expires_at.slice(0, 16),
});

/** A key with `manage` could make others without these, so it has none of them. */
const CAPS = ["hardLimit", "dailyLimit", "rpm", "tpm", "allowModels", "resources"] as const;

/** Returns the fields as they are sent: a key with `manage` has no caps. */
export function withoutCaps(fields: ApiKeyFields): ApiKeyFields {
  if (!fields.scopes.includes("manage")) return fields;
  return { ...fields, ...Object.fromEntries(CAPS.map((name) => [name, ""])) };
}

const INTEGER = /^\d{1,15}$/;

/** Reads one field; undefined for a text that is none. */
const READERS: { readonly [F in keyof ApiKeyFields]: (fields: ApiKeyFields) => unknown } = {
  name: ({ name }) => (name.trim() === "" ? undefined : name.trim()),
  scopes: ({ scopes }) => (scopes.length === 0 ? undefined : scopes),
  hardLimit: ({ hardLimit }) => limitOf(hardLimit),
  dailyLimit: ({ dailyLimit }) => limitOf(dailyLimit),
  rpm: ({ rpm }) => rateOf(rpm),
  tpm: ({ tpm }) => rateOf(tpm),
  // The text edits the list item by item: `*` empties it first.
  allowModels: ({ allowModels }) => `* ${allowModels.trim()}`.trim(),
  allowIps: ({ allowIps }) => allowIps.trim(),
  resources: ({ resources }) => resources.trim(),
  tags: ({ tags }) => tags.trim(),
  expires: ({ expires }) => (expires === UNFINISHED ? undefined : expires === "" ? null : `${expires}Z`),
};

/** What the service calls the fields. */
const WIRE: { readonly [F in keyof ApiKeyFields]: string } = {
  ...{ name: "Name", scopes: "Scopes", hardLimit: "HardLimit", dailyLimit: "DailyLimit", rpm: "RPM" },
  ...{ tpm: "TPM", allowModels: "AllowModels", allowIps: "AllowIPs", resources: "Resources" },
  ...{ tags: "Tags", expires: "ExpiresAt" },
};

function limitOf(text: string) {
  if (text.trim() === "") return 0;
  const amount = parseUsd(text);
  return amount === null || amount < 0n ? undefined : amount;
}

function rateOf(text: string): number | undefined {
  if (text.trim() === "") return 0;
  return INTEGER.test(text.trim()) ? Number(text.trim()) : undefined;
}

/** The names of fields whose text cannot be read. */
export const unreadable = (fields: ApiKeyFields): readonly (keyof ApiKeyFields)[] =>
  (Object.keys(READERS) as (keyof ApiKeyFields)[]).filter((name) => READERS[name](fields) === undefined);

/**
 * Returns the body for the fields that differ from `before`, or null when there are none or one cannot be read. A new key's
 * `before` is `NEW_KEY`; its name and scopes are always there.
 */
export function bodyOf(given: ApiKeyFields, before: ApiKeyFields): Readonly<Record<string, unknown>> | null {
  const fields = withoutCaps(given);
  if (unreadable(fields).length > 0) return null;
  const isNew = before === NEW_KEY;
  const names = (Object.keys(READERS) as (keyof ApiKeyFields)[]).filter(
    (name) =>
      (isNew && (name === "name" || name === "scopes")) || String(fields[name]) !== String(before[name]),
  );
  if (names.length === 0) return null;
  return Object.fromEntries(names.map((name) => [WIRE[name], READERS[name](fields)]));
}
