// The keys of /x-config: how the value of each is read, and how it is shown. A password goes in and never comes out.

import { Type } from "@sinclair/typebox";
import type { Sealed } from "../../actors/key-pool/provider-key.ts";
import { fromUsd, toUsd } from "../../actors/money.ts";
import {
  readLevelMapper,
  readModelFailover,
  readModelMapper,
  readResources,
  readSwitchOver,
} from "../../actors/owner/maps.ts";
import type { ConfigChange, OwnerConfig } from "../../actors/owner/owner.ts";
import type { Parsed } from "../../actors/pattern.ts";
import { checkPricing } from "../../actors/price-table.ts";
import { Refused } from "../runtime/system.ts";
import { money, textOrObject } from "./shapes.ts";

/** What reading a secret needs. */
export interface Sealing {
  readonly seal: (secret: string) => Sealed;
}

const map = Type.Optional(textOrObject("must be a text such as a=b,c=d, or an object of such entries"));

/** A text of this form; an empty one clears. */
const word = (most: number, what: string, pattern: string) =>
  Type.Optional(Type.String({ maxLength: most, pattern, description: `must be ${what}, or empty for none` }));

export const Configuration = Type.Object(
  {
    MODEL_MAPPER: map,
    LEVEL_MAPPER: map,
    SWITCH_OVER: map,
    MODEL_FAILOVER: map,
    RESOURCES: Type.Optional(textOrObject("must be paths below /v1/, separated by commas or spaces")),
    PRICING: Type.Optional(textOrObject("must be a JSON object, or the text of one")),
    USER_MIN_BALANCE: Type.Optional(money(0)),
    USER_API_BALANCE: Type.Optional(money(0)),
    SERVICE_MAIL: word(254, "an e-mail address", "^([^\\s@,;<>]+@[^\\s@,;<>]+\\.[^\\s@,;<>.]+)?$"),
    EMAIL_SMTP: word(253, "the name or address of a mail server", "^[A-Za-z0-9._:\\-\\[\\]]*$"),
    EMAIL_PORT: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: 1, maximum: 65_535 }),
          Type.String({
            pattern:
              "^([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?$",
          }),
        ],
        { description: "must be a port from 1 to 65535, or empty for the usual one" },
      ),
    ),
    EMAIL_AUTH: word(254, "the name of an account, without spaces", "^[^\\s\\x00-\\x1f\\x7f]*$"),
    EMAIL_PASS: Type.Optional(
      Type.String({
        maxLength: 1_024,
        description: "must be a text of at most 1024 characters, empty for none",
      }),
    ),
    EMAIL_TLS: Type.Optional(
      Type.Union([Type.Boolean(), Type.Literal("true"), Type.Literal("false"), Type.Literal("")], {
        description: "must be true or false",
      }),
    ),
  },
  { additionalProperties: false },
);

/** How the value of a key is read, and how it is shown. The schema has checked its kind. */
interface Setting {
  readonly read: (value: unknown, parts: Sealing) => ConfigChange;
  readonly show: (config: OwnerConfig) => unknown;
}

type MapField = "modelMapper" | "levelMapper" | "switchOver" | "modelFailover";

function valued<T>(key: string, parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Refused({ code: "invalid_parameter", message: `"${key}": ${parsed.message}.` });
}

/** A map replaces the former one, and is shown as an object however it was written. */
const mapOf = <F extends MapField>(
  key: string,
  field: F,
  read: (value: unknown) => Parsed<OwnerConfig[F]>,
): Setting => ({
  read: (value) => ({ [field]: valued(key, read(value)) }),
  show: (config) => config[field],
});

const pricing: Setting = {
  read(value) {
    if (value === "") return { pricing: null };
    const checked = checkPricing(value);
    if (!checked.ok) throw new Refused({ code: "invalid_pricing", message: `${checked.message}.` });
    return { pricing: checked.value };
  },
  show: (config) => (config.pricing === null ? "" : JSON.stringify(config.pricing)),
};

const resources: Setting = {
  read: (value) => ({ resources: valued("RESOURCES", readResources(value)) }),
  show: (config) => Object.fromEntries(config.resources.map((path) => [path, {}])),
};

const balance = (key: string, field: "userMinBalance" | "userApiBalance"): Setting => ({
  read(value) {
    const amount = fromUsd(Number(value));
    const rule = "must be a finite amount of US dollars";
    return {
      [field]: valued(key, amount === null ? { ok: false, message: rule } : { ok: true, value: amount }),
    };
  },
  show: (config) => toUsd(config[field]),
});

const plain = (field: "emailSmtp" | "emailAuth" | "serviceMail"): Setting => ({
  read: (value) => ({ [field]: String(value) }),
  show: (config) => config[field],
});

const port: Setting = {
  read: (value) => ({ emailPort: value === "" ? null : Number(value) }),
  show: ({ emailPort }) => (emailPort === null ? "" : String(emailPort)),
};

/** All that is shown of a password: it is too short for its ends to be shown. */
const PASS_MASK = "********";

const password: Setting = {
  read(value, { seal }) {
    // What was shown comes back when somebody saves all that he read: then nothing changes.
    if (value === PASS_MASK) return {};
    return { emailPass: value === "" ? null : seal(String(value)) };
  },
  show: ({ emailPass }) => (emailPass === null ? "" : PASS_MASK),
};

const tls: Setting = {
  read: (value) => ({ emailTls: value === true || value === "true" }),
  show: (config) => config.emailTls,
};

export type Key = keyof typeof Configuration.properties;

export const KEYS: Readonly<Record<Key, Setting>> = {
  MODEL_MAPPER: mapOf("MODEL_MAPPER", "modelMapper", readModelMapper),
  LEVEL_MAPPER: mapOf("LEVEL_MAPPER", "levelMapper", readLevelMapper),
  SWITCH_OVER: mapOf("SWITCH_OVER", "switchOver", readSwitchOver),
  MODEL_FAILOVER: mapOf("MODEL_FAILOVER", "modelFailover", readModelFailover),
  RESOURCES: resources,
  PRICING: pricing,
  USER_MIN_BALANCE: balance("USER_MIN_BALANCE", "userMinBalance"),
  USER_API_BALANCE: balance("USER_API_BALANCE", "userApiBalance"),
  SERVICE_MAIL: plain("serviceMail"),
  EMAIL_SMTP: plain("emailSmtp"),
  EMAIL_PORT: port,
  EMAIL_AUTH: plain("emailAuth"),
  EMAIL_PASS: password,
  EMAIL_TLS: tls,
};
