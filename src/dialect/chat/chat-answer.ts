// Reads whole chat answers, and collects the text that was generated in a message or a delta. Pure.

import type { NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import { jsonPayload } from "../payload/payload-json.ts";

/**
 * Reads a whole chat answer. A body that is not JSON is a server error; one without choices is an error body.
 */
export function readChatAnswer({ text }: Pick<WholeBody, "text">): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  if (!isObject(body) || isErrorBody(body) || !Array.isArray(body.choices))
    return { ok: false, fault: "error_body" };
  const texts: string[] = [];
  let cites = false;
  for (const choice of body.choices as unknown[]) {
    if (!isObject(choice)) continue;
    cites ||= citesTheWeb(choice.message);
    if (typeof choice.text === "string" && choice.text !== "") texts.push(choice.text);
    if (isObject(choice.message)) collectTexts(choice.message, texts);
  }
  return {
    ok: true,
    body,
    usage: body.usage ?? null,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    texts,
    measured: cites ? CITED : NO_NON_TOKEN_USAGE,
  };
}

/** What an answer shows that cites web pages. */
export const CITED: NonTokenUsage = { webSearches: 1 };

/**
 * Whether a message or a delta cites web pages, which shows a search; hosts of this style rarely report one.
 */
export const citesTheWeb = (message: unknown): boolean =>
  isObject(message) &&
  Array.isArray(message.annotations) &&
  message.annotations.some((one: unknown) => isObject(one) && one.type === "url_citation");

/**
 * Returns the text for the client, with `fingerprint` added if the provider sent none. Other characters stay.
 */
export function withFingerprint(bodyText: string, body: Json | null, fingerprint: string | null): string {
  if (body === null || fingerprint === null || (body.system_fingerprint ?? null) !== null) return bodyText;
  if ("system_fingerprint" in body)
    return jsonPayload(bodyText).edited({ system_fingerprint: fingerprint }) as string;
  const brace = bodyText.indexOf("{") + 1;
  const comma = Object.keys(body).length === 0 ? "" : ",";
  return `${bodyText.slice(0, brace)}"system_fingerprint":${JSON.stringify(fingerprint)}${comma}${bodyText.slice(brace)}`;
}

/** Whether a body or an event that arrived with status 200 is an error. */
export const isErrorBody = (body: Json): boolean =>
  statesError(body) || (body.choices === undefined && isCodeAndWords(body));

/**
 * Appends all text of a message or a delta: content, refusal, reasoning, and the names and arguments of
 * calls.
 */
export function collectTexts(message: Json, into: string[]): void {
  add(message.content, into);
  add(message.refusal, into);
  // Some hosts send the same reasoning under both names; it counts once.
  add(message.reasoning_content || message.reasoning, into);
  if (isObject(message.function_call)) addCall(message.function_call, into);
  if (isObject(message.audio)) add(message.audio.transcript, into);
  if (!Array.isArray(message.tool_calls)) return;
  for (const call of message.tool_calls as unknown[]) {
    if (!isObject(call)) continue;
    if (isObject(call.function)) addCall(call.function, into);
    if (isObject(call.custom)) addCall(call.custom, into);
  }
}

function addCall(call: Json, into: string[]): void {
  add(call.name, into);
  add(call.arguments ?? call.input, into);
}

/** Depth to which content parts are read; no host nests them deeper. */
const DEPTH_MAX = 20;

/** Appends a string, or the strings of nested parts with a `text`, `refusal` or `thinking`. */
function add(value: unknown, into: string[], levels = DEPTH_MAX): void {
  if (levels === 0) return;
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const part of value) add(part, into, levels - 1);
  } else if (isObject(value)) {
    add(value.text ?? value.refusal ?? value.thinking, into, levels - 1);
  }
}
