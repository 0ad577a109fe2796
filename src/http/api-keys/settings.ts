// Reads the settings of an API key from requests. Each field is read by the rules of accounts; what fields forbid each other,
// and what the calling key may give, is decided by the key's account.

import type { ApiKeyChange, ApiKeySettings } from "../../../actors/api-key/api-key.ts";
import { ZERO } from "../../../actors/money.ts";
import { NO_TAGS, parseTags, type Tags } from "../../../actors/tags.ts";
import { readAddresses, readModels, readPaths, refuseField } from "../accounts/user-lists.ts";
import { nano } from "../accounts/users.ts";
import { unfitName } from "../text-rules.ts";
import type { ApiKeyFields } from "./schemas.ts";

/** What a new key has that its request does not name. */
const DEFAULTS: Omit<ApiKeySettings, "name"> = {
  scopes: ["invoke"],
  allowModels: [],
  allowIps: [],
  resources: [],
  hardLimit: ZERO,
  dailyLimit: ZERO,
  rpm: 0,
  tpm: 0,
  tags: NO_TAGS,
  expiresAt: null,
  status: true,
};

/** What a change is read from: the present list of models, which it edits, and the time (wall-clock ms). */
interface Basis {
  readonly allowModels: readonly string[];
  readonly now: number;
}

type Reader<F extends keyof ApiKeyFields> = (
  value: Exclude<ApiKeyFields[F], undefined>,
  basis: Basis,
) => ApiKeyChange;

const READERS: { readonly [F in keyof Required<ApiKeyFields>]: Reader<F> } = {
  Name: (name) => ({ name: readName(name) }),
  Scopes: (scopes) => ({ scopes }),
  AllowModels: (text, { allowModels }) => ({ allowModels: readModels(text, allowModels) }),
  AllowIPs: (text) => ({ allowIps: readAddresses(text) }),
  Resources: (text) => ({ resources: readPaths(text) }),
  HardLimit: (usd) => ({ hardLimit: nano(usd, "HardLimit") }),
  DailyLimit: (usd) => ({ dailyLimit: nano(usd, "DailyLimit") }),
  RPM: (rpm) => ({ rpm }),
  TPM: (tpm) => ({ tpm }),
  ExpiresAt: (text, { now }) => ({ expiresAt: text === null ? null : readInstant(text, now) }),
  Tags: (text) => ({ tags: readTags(text) }),
  Status: (status) => ({ status }),
};

/** Returns the change that a request states. Throws `invalid_parameter`. */
export function keyChange(fields: ApiKeyFields, basis: Basis): ApiKeyChange {
  let change: ApiKeyChange = {};
  for (const [field, read] of Object.entries(READERS)) {
    const value = fields[field as keyof ApiKeyFields];
    if (value !== undefined)
      change = { ...change, ...(read as Reader<keyof ApiKeyFields>)(value as never, basis) };
  }
  return change;
}

/** Returns the settings of a new key. Throws `invalid_parameter`. */
export const newKeySettings = (
  fields: ApiKeyFields & { readonly Name: string },
  now: number,
): ApiKeySettings => ({
  ...DEFAULTS,
  name: fields.Name,
  ...keyChange(fields, { allowModels: [], now }),
});

/** A key's name follows the rule of accounts. */
function readName(given: string): string {
  const name = given.normalize("NFC");
  const unfit = unfitName(name);
  return unfit === null ? name : refuseField("Name", unfit);
}

function readInstant(text: string, now: number): number {
  const at = Date.parse(text);
  // A day that its month does not have is read as one of the next month.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text.slice(0, 16))) {
    return refuseField("ExpiresAt", "there is no such instant");
  }
  return at > now
    ? at
    : refuseField("ExpiresAt", 'must lie in the future; "Status" false disables a key now');
}

function readTags(text: string): Tags {
  const tags = parseTags(text);
  return typeof tags === "string" ? refuseField("Tags", tags.replace(/\.$/, "")) : tags;
}
