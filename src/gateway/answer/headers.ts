// What a response says about itself in its head: who answered, how often it was tried, what the limits leave. In the
// names of the client's style.

import type { RemainingLimit } from "../../../actors/account/rate-limits.ts";
import type { Admission } from "../admission/admission.ts";
import type { ApiStyle } from "../codec/key-formats.ts";
import type { RunningRequest } from "../context.ts";

type Headers_ = Record<string, string>;

/** `attempts`: how many were made in all. */
export function headersOf(running: RunningRequest, admission: Admission, attempts: number): Headers_ {
  const { route, admitted } = admission;
  return {
    ...earlyHeaders(running.requestId, running.surface.dialect.name, admitted, running.startedAt),
    "x-arbor-model": headerText(route.model),
    "x-arbor-level": String(route.level),
    "x-arbor-attempts": String(attempts),
  };
}

/** What is known before anybody has answered. `now`: wall ms. */
export function earlyHeaders(
  requestId: string,
  style: ApiStyle,
  { requests, tokensLeft }: Admission["admitted"],
  now: number,
): Headers_ {
  const headers = idsFor(requestId, style);
  if (requests !== null) LIMITS[style](headers, "requests", requests, now);
  if (tokensLeft !== null) LIMITS[style](headers, "tokens", tokensLeft, now);
  return headers;
}

/**
 * The head of an answer that is given again: what was said of the request itself stands, the id is the repeat's own, and
 * what the limits left then would mislead now.
 */
export function replayed(kept: Readonly<Headers_>, requestId: string, style: ApiStyle): Headers_ {
  const own = Object.entries(kept).filter(([name]) => name.startsWith("x-arbor-") || name === "content-type");
  return { ...idsFor(requestId, style), ...Object.fromEntries(own) };
}

/** Each style's SDKs look for the id under a name of their own. */
const idsFor = (requestId: string, style: ApiStyle): Headers_ =>
  style === "messages"
    ? { "x-request-id": requestId, "request-id": requestId }
    : { "x-request-id": requestId };

type Write = (into: Headers_, what: "requests" | "tokens", left: RemainingLimit, now: number) => void;

const LIMITS: Readonly<Record<ApiStyle, Write>> = {
  chat(into, what, { limit, remaining, resetMs }) {
    into[`x-ratelimit-limit-${what}`] = String(limit);
    into[`x-ratelimit-remaining-${what}`] = String(remaining);
    into[`x-ratelimit-reset-${what}`] = `${Math.ceil(resetMs / 1000)}s`;
  },
  messages(into, what, { limit, remaining, resetMs }, now) {
    into[`anthropic-ratelimit-${what}-limit`] = String(limit);
    into[`anthropic-ratelimit-${what}-remaining`] = String(remaining);
    into[`anthropic-ratelimit-${what}-reset`] = new Date(now + resetMs).toISOString();
  },
};

/** A model may have any name; what cannot stand in a header is written as in an address. */
const headerText = (text: string): string =>
  text.replace(/[^\x21-\x7e]+/g, (odd) => encodeURIComponent(odd.toWellFormed()));
