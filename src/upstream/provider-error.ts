// Reads a provider's error answer of any shape into one form, and cleans its message for the client: secrets,
// addresses and names from the provider's account are removed. It classifies nothing; upstream-failure.ts
// does.

import type { HeaderReader } from "../base/header-reader.ts";

/** A provider's error in one form. A missing text is the empty string. */
export interface ProviderError {
  readonly code: string;
  readonly type: string;
  readonly detail: string;
  readonly message: string;
  /** The parameter that the error is about. */
  readonly param: string;
  /** The field `details`, unchanged; undefined when the error has none. */
  readonly details: unknown;
  /** The wait in milliseconds that the body states; null when it states none. */
  readonly retryMs: number | null;
}

const MESSAGE_MAX = 1_000;

/** Finds the error in any of the shapes that providers use. Returns null when the body holds none. */
export function readError(bodyText: string): ProviderError | null {
  const body = object(firstOf(parse(bodyText)));
  if (body === null) return null;
  const base = object(body.base_resp);
  if (base !== null && base.status_code !== 0) {
    return { ...NO_ERROR, code: `base_resp:${text(base.status_code)}`, message: text(base.status_msg) };
  }
  const inner = typeof body.error === "string" ? { message: body.error } : object(body.error);
  const error = inner ?? body;
  const details = Array.isArray(error.details) ? error.details.map(object) : [object(error.details)];
  const found = {
    code: text(error.code ?? (inner === null ? undefined : body.code)),
    type:
      text(error.status) !== "" && !/^\d+$/.test(text(error.status)) ? text(error.status) : text(error.type),
    detail: text(details.map((d) => d?.error_code ?? d?.reason).find((d) => d !== undefined)),
    message: text(error.message ?? error.msg ?? firstMessage(error.detail)).slice(0, 4 * MESSAGE_MAX),
    param: text(error.param),
    details: error.details,
    retryMs: secondsMs(text(details.map((d) => d?.retryDelay).find((d) => d !== undefined))),
  };
  return inner === null && found.code === "" && found.message === "" ? null : found;
}

const NO_ERROR: ProviderError = {
  code: "",
  type: "",
  detail: "",
  message: "",
  param: "",
  details: undefined,
  retryMs: null,
};

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

const object = (value: unknown): Record<string, unknown> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

const firstMessage = (detail: unknown): unknown => object(firstOf(detail))?.msg ?? detail;

function parse(bodyText: string): unknown {
  try {
    return JSON.parse(bodyText);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Reads the provider's wait, in milliseconds, from `retry-after-ms` or else `retry-after` (seconds or a
 * date). `nowMs` is wall-clock milliseconds. Returns null without a readable wait, and also for a wait of
 * zero or a date that has passed: a key that gets such an answer each time would never rest.
 */
export function retryAfter({
  headers,
  nowMs,
}: {
  readonly headers?: HeaderReader;
  readonly nowMs: number;
}): number | null {
  const given = headers?.get("retry-after") ?? "";
  // A date has letters; without any, the parser would read "-5" as a year.
  const at = /[a-z]/i.test(given) ? Date.parse(given) : Number.NaN;
  const waitMs =
    decimal(headers?.get("retry-after-ms") ?? "") ?? secondsMs(given) ?? (Number.isNaN(at) ? 0 : at - nowMs);
  return waitMs > 0 ? waitMs : null;
}

/** Converts seconds such as "12", "0.5" or "34.07s" to milliseconds. Returns null for any other text. */
function secondsMs(given: string): number | null {
  const value = decimal(given.trim().replace(/s$/, ""));
  return value === null ? null : Math.ceil(value * 1_000);
}

const decimal = (given: string): number | null =>
  /^\s*\d{1,12}(\.\d*)?\s*$/.test(given) ? Number(given) : null;

/**
 * Patterns of what must not leave: keys, organizations, projects, deployments and addresses, with
 * replacements.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:https?|wss?):\/\/[^\s'"`<>)\]}]+/gi, "[address]"],
  [/\b(?:sk|pk|rk|gsk|xai|org|proj|asst|user)[-_][\w*.…-]{4,200}/g, "[removed]"],
  [/\bAIza[\w*.…-]{4,100}/g, "[removed]"],
  [/\bBearer\s+[^\s'"`]{4,300}/gi, "Bearer [removed]"],
  [/\bprojects\/[^\s'"`]{1,200}/g, "[removed]"],
  [
    /\b(deployment|project|organization|workspace|resource)( id| name)?(:? )[`'"][^`'"]{1,200}[`'"]/gi,
    "$1$2$3[removed]",
  ],
  [/\b(?:[a-z0-9-]{1,63}\.){1,5}(?:com|net|org|ai|cn|io|dev)\b(?:[:/][^\s'"`<>)\]}]{0,200})?/gi, "[address]"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, "[address]"],
];

/**
 * Returns a provider's message for the client: one line of at most `MESSAGE_MAX` characters without
 * `SECRETS`.
 */
export function clean(message: string): string {
  let line = message.slice(0, 4 * MESSAGE_MAX);
  for (const [secret, instead] of SECRETS) line = line.replace(secret, instead);
  return line
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .slice(0, MESSAGE_MAX);
}
