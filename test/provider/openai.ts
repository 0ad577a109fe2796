// What the endpoints beside chat share with it: where the key is, manners, errors; and the words of faults where
// events are named and bodies are JSON.

import type { Ask } from "./answer.ts";
import { chat } from "./chat.ts";
import type { Dialect, Reading } from "./dialect.ts";
import type { Wording } from "./faults.ts";
import type { Fields } from "./form.ts";
import { badRequest } from "./refusal.ts";
import { readMarkers, type Script } from "./script.ts";

export const OPENAI: Pick<Dialect, "style" | "keyOf" | "manners"> = {
  style: "chat",
  keyOf: chat.keyOf,
  manners: chat.manners,
};

/** What most endpoints ask: something whole, without choices, limits or tools. */
export const ASK: Omit<Ask, "model" | "said" | "promptTokens"> = {
  stream: false,
  usageAsked: true,
  choices: 0,
  limit: null,
  tools: [],
  mustCallTool: false,
  toolResults: 0,
};

export const refused = (message: string, param: string | null = null, code: string | null = null) =>
  ({ ok: false, refusal: badRequest(message, param, code) }) as const satisfies Reading;

/** An event with its name. */
export const namedEvent = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

/** The markers of some texts and of the field `user`, which is there where no text is; and the texts without them. */
export function readTexts(texts: readonly unknown[], body: Fields) {
  const found = [...texts, body.user].map((text) => readMarkers(typeof text === "string" ? text : ""));
  const scripts: readonly Script[] = found.flatMap((one) => one.scripts);
  return { scripts, said: found.slice(0, -1).map((one) => one.said) };
}

/** A whole number of a JSON body, or of a form, where it is a text; the default when absent; null when it is none. */
export function wholeNumber(value: unknown, fallback: number, least: number, most: number): number | null {
  if (value === undefined || value === null) return fallback;
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isInteger(number) && (number as number) >= least && (number as number) <= most
    ? (number as number)
    : null;
}

/** A form says `true` as a text. */
export const isTrue = (value: unknown): boolean => value === true || value === "true";

const ERROR = {
  message: "The server had an error processing your request.",
  type: "server_error",
  param: null,
  code: "server_error",
};
const ERROR_BODY = JSON.stringify({ error: ERROR });
const FILTER = { content_filter_results: { hate: { filtered: false, severity: "safe" } } };

/** The words of faults for named events and JSON bodies; `delta` is the event that can lack what it is for. */
export function namedWording(delta: string, more: Partial<Wording> = {}): Wording {
  const notice = namedEvent("provider.notice", FILTER);
  const padding = (characters: number) => ({ obfuscation: "x".repeat(characters) });
  return {
    error: `event: error\ndata: ${ERROR_BODY}\n\n`,
    errorBody: ERROR_BODY,
    garbage: `event: ${delta}\ndata: {"type":"${delta.slice(0, -2)}\n\n`,
    garbageBody: '{"id":"standin',
    ping: ": ping\n\n",
    opening: notice,
    late: notice,
    bare: namedEvent(delta),
    padded: (characters) => namedEvent("provider.notice", padding(characters)),
    filteredBody: (body) => withFields(body, FILTER),
    paddedBody: (body, characters) => withFields(body, padding(characters)),
    ...more,
  };
}

/** The same JSON object with more fields; what is no object stays as it is. */
const withFields = (body: string, fields: object): string =>
  body.endsWith("}") ? `${body.slice(0, -1)},${JSON.stringify(fields).slice(1)}` : body;
