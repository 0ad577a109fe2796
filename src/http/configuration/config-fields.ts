// The keys of /x-config: how the value of each is read, and how it is shown, in the present and in earlier versions. A password
// is never shown.

import type { SealedSecret } from "../../../actors/key-pool/provider-key.ts";
import { fromUsd, toUsd } from "../../../actors/money.ts";
import type { ConfigChange, ConfigEdits, OwnerConfig } from "../../../actors/owner/config.ts";
import { parseModelLimits } from "../../../actors/owner/map-edit-parsers.ts";
import {
  readLevelMapper,
  readModelFailover,
  readModelMapper,
  readResources,
  readSwitchOver,
} from "../../../actors/owner/map-parsers.ts";
import type { ParseResult } from "../../../actors/pattern.ts";
import { checkPricing, type Pricing } from "../../../actors/pricing/price-table.ts";
import { RefusedError } from "../../base/errors.ts";
import { ConfigurationBodySchema } from "./schemas.ts";

/** What reading a secret needs. */
export interface Sealing {
  readonly seal: (secret: string) => SealedSecret;
}

/** A key of /x-config. */
export type ConfigurationKey = keyof typeof ConfigurationBodySchema.properties;
/** All keys of /x-config, in the order of its schema. */
export const KEY_NAMES = Object.keys(ConfigurationBodySchema.properties) as readonly ConfigurationKey[];

/** What a value changes: settings that replace the former ones, and edits of maps. */
export interface ConfigOrder {
  readonly change?: ConfigChange;
  readonly edits?: ConfigEdits;
}

/** One key: its field of the configuration, and how that is read and shown. */
export interface Setting {
  readonly field: keyof ConfigChange;
  /** Reads a value whose kind the schema has checked. Throws `invalid_parameter` with the key's name and the rule. */
  readonly read: (value: unknown, parts: Sealing) => ConfigOrder;
  readonly show: (value: unknown) => unknown;
}

function setting<F extends keyof ConfigChange>(
  field: F,
  read: (value: unknown, parts: Sealing) => ConfigOrder,
  show: (value: OwnerConfig[F]) => unknown,
): Setting {
  return { field, read, show: (value) => show(value as OwnerConfig[F]) };
}

/** Returns a parsed value, or throws `invalid_parameter`. `key` is the name under which it was sent. */
export function valued<T>(key: string, parsed: ParseResult<T>): T {
  if (parsed.ok) return parsed.value;
  throw new RefusedError({ code: "invalid_parameter", message: `"${key}": ${parsed.message}.` });
}

type MapField = "modelMapper" | "levelMapper" | "switchOver" | "modelFailover";
const asItIs = (value: unknown): unknown => value;

/** A map replaces the former one, and is shown as an object however it was written. */
const mapOf = <F extends MapField>(
  key: string,
  field: F,
  read: (value: unknown) => ParseResult<OwnerConfig[F]>,
): Setting => setting(field, (value) => ({ change: { [field]: valued(key, read(value)) } }), asItIs);

/** Returns the override of prices, or null for the default prices alone. Throws `invalid_pricing`. */
export function readPricing(value: unknown): Pricing | null {
  if (value === "") return null;
  const checked = checkPricing(value);
  if (!checked.ok) throw new RefusedError({ code: "invalid_pricing", message: `${checked.message}.` });
  return checked.value;
}

function readBalance(key: string, value: unknown) {
  const amount = fromUsd(Number(value));
  const rule = "must be a finite amount of US dollars";
  return valued(key, amount === null ? { ok: false, message: rule } : { ok: true, value: amount });
}

const balance = (key: string, field: "userMinBalance" | "userApiBalance"): Setting =>
  setting(field, (value) => ({ change: { [field]: readBalance(key, value) } }), toUsd);

const plain = (field: "emailSmtp" | "emailAuth" | "serviceMail"): Setting =>
  setting(field, (value) => ({ change: { [field]: String(value) } }), asItIs);

/** What is shown of a password, which is too short for its ends to be shown. */
const PASS_MASK = "********";

function readPassword(value: unknown, { seal }: Sealing): ConfigOrder {
  // A client that saves all settings it read sends the mask back, which changes nothing.
  if (value === PASS_MASK) return {};
  return { change: { emailPass: value === "" ? null : seal(String(value)) } };
}

/** How each key is read and shown. */
export const KEYS: Readonly<Record<ConfigurationKey, Setting>> = {
  MODEL_MAPPER: mapOf("MODEL_MAPPER", "modelMapper", readModelMapper),
  LEVEL_MAPPER: mapOf("LEVEL_MAPPER", "levelMapper", readLevelMapper),
  SWITCH_OVER: mapOf("SWITCH_OVER", "switchOver", readSwitchOver),
  MODEL_FAILOVER: mapOf("MODEL_FAILOVER", "modelFailover", readModelFailover),
  LEVEL_AFFINITY: setting(
    "levelAffinity",
    (value) => ({ change: { levelAffinity: value === "off" ? "off" : "on" } }),
    asItIs,
  ),
  RESOURCES: setting(
    "resources",
    (value) => ({ change: { resources: valued("RESOURCES", readResources(value)) } }),
    (paths) => Object.fromEntries(paths.map((path) => [path, {}])),
  ),
  // A text replaces all limits, an object is merged into them: that is an edit of what is there.
  MODEL_LIMITS: setting(
    "modelLimits",
    (value) => ({ edits: { modelLimits: valued("MODEL_LIMITS", parseModelLimits(value)) } }),
    asItIs,
  ),
  PRICING: setting(
    "pricing",
    (value) => ({ change: { pricing: readPricing(value) } }),
    (pricing) => (pricing === null ? "" : JSON.stringify(pricing)),
  ),
  USER_MIN_BALANCE: balance("USER_MIN_BALANCE", "userMinBalance"),
  USER_API_BALANCE: balance("USER_API_BALANCE", "userApiBalance"),
  SERVICE_MAIL: plain("serviceMail"),
  EMAIL_SMTP: plain("emailSmtp"),
  EMAIL_PORT: setting(
    "emailPort",
    (value) => ({ change: { emailPort: value === "" ? null : Number(value) } }),
    (port) => (port === null ? "" : String(port)),
  ),
  EMAIL_AUTH: plain("emailAuth"),
  // In the history a password is true or false, whether there was one, instead of its sealed text.
  EMAIL_PASS: setting("emailPass", readPassword, (pass) => (pass ? PASS_MASK : "")),
  EMAIL_TLS: setting(
    "emailTls",
    (value) => ({ change: { emailTls: value === true || value === "true" } }),
    asItIs,
  ),
};

/** Returns these keys of a configuration as they are shown. */
export const settingsShape = (
  keys: readonly ConfigurationKey[],
  config: OwnerConfig,
): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, KEYS[key].show(config[KEYS[key].field])]));

/** Merges what several values change into one change. */
export const together = (given: readonly ConfigOrder[]): Required<ConfigOrder> => ({
  change: Object.assign({}, ...given.map(({ change }) => change)),
  edits: Object.assign({}, ...given.map(({ edits }) => edits)),
});
