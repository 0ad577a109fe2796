// The settings of an Owner that have no page of their own: the text of each in the form, and what is sent for a typed one. The
// service judges every value; here only a text that is no value at all is kept from being sent.

import { parseUsd, plainUsd } from "../../../api/amount.ts";
import type { Configuration } from "../../../api/configuration.ts";

/** How a setting is typed. A flag is true or false, a switch on or off. */
export type SettingKind = "paths" | "usd" | "text" | "port" | "flag" | "switch" | "secret";

/** The settings of this page by part, in its order. */
export const SETTING_GROUPS = {
  access: ["RESOURCES"],
  keys: ["LEVEL_AFFINITY"],
  balance: ["USER_API_BALANCE", "USER_MIN_BALANCE"],
  mail: ["SERVICE_MAIL", "EMAIL_SMTP", "EMAIL_PORT", "EMAIL_AUTH", "EMAIL_PASS", "EMAIL_TLS"],
} as const;

/** A part of the page. */
export type SettingGroup = keyof typeof SETTING_GROUPS;
/** A setting of this page, as `/x-config` names it. */
export type SettingName = (typeof SETTING_GROUPS)[SettingGroup][number];

/** How each is typed, and its default. */
export const SETTINGS: Readonly<
  Record<SettingName, { readonly kind: SettingKind; readonly defaultText: string }>
> = {
  RESOURCES: { kind: "paths", defaultText: "" },
  LEVEL_AFFINITY: { kind: "switch", defaultText: "on" },
  USER_API_BALANCE: { kind: "usd", defaultText: "0" },
  USER_MIN_BALANCE: { kind: "usd", defaultText: "0" },
  SERVICE_MAIL: { kind: "text", defaultText: "" },
  EMAIL_SMTP: { kind: "text", defaultText: "" },
  EMAIL_PORT: { kind: "port", defaultText: "" },
  EMAIL_AUTH: { kind: "text", defaultText: "" },
  EMAIL_PASS: { kind: "secret", defaultText: "" },
  EMAIL_TLS: { kind: "flag", defaultText: "false" },
};

/** What is typed; a setting that is not touched is not there. */
export type TypedSettings = Readonly<Partial<Record<SettingName, string>>>;

type Settings = Configuration["settings"];

/** Returns the text of a setting. That of a password is the mask, or empty where none is set. */
export function settingText(name: SettingName, settings: Settings): string {
  const value = settings[name];
  if (value === undefined || value === null) return SETTINGS[name].defaultText;
  if (typeof value === "bigint") return plainUsd(value);
  return typeof value === "object" ? Object.keys(value).join(" ") : String(value);
}

/** Whether a setting differs from its default. */
export const isSet = (name: SettingName, settings: Settings): boolean =>
  settingText(name, settings) !== SETTINGS[name].defaultText;

/** Returns the value that is sent for a text; undefined where the text is none. */
function sentValue(name: SettingName, text: string): unknown {
  switch (SETTINGS[name].kind) {
    case "usd": {
      const amount = parseUsd(text);
      return amount === null || amount < 0n ? undefined : amount;
    }
    case "port":
      return /^\d{0,5}$/.test(text.trim()) ? text.trim() : undefined;
    case "flag":
      return text === "true";
    case "secret":
      return text;
    case "switch":
    case "paths":
    case "text":
      return text.trim();
  }
}

/** Whether what is typed says the same as the setting. A password is shown to nobody, so a typed one is always new. */
function isSame(name: SettingName, text: string, settings: Settings): boolean {
  const now = settingText(name, settings);
  switch (SETTINGS[name].kind) {
    case "usd":
      return parseUsd(text) === parseUsd(now);
    case "paths":
      return itemsOf(text) === itemsOf(now);
    case "secret":
      return text === "" && now === "";
    case "text":
    case "port":
    case "flag":
    case "switch":
      return text.trim() === now;
  }
}

/** Returns a list of paths with one space between them. */
const itemsOf = (text: string): string =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .join(" ");

/** What a form would send. */
export interface SettingsDraft {
  /** The settings that differ. */
  readonly body: Readonly<Partial<Record<SettingName, unknown>>>;
  /** Those whose text is no value. */
  readonly unreadable: readonly SettingName[];
}

/** Compares what is typed with the settings that the form began with. */
export function settingsDraft(typed: TypedSettings, settings: Settings): SettingsDraft {
  const names = (Object.keys(typed) as SettingName[]).filter((name) => !isSame(name, typed[name]!, settings));
  const unreadable = names.filter((name) => sentValue(name, typed[name]!) === undefined);
  return { body: Object.fromEntries(names.map((name) => [name, sentValue(name, typed[name]!)])), unreadable };
}
