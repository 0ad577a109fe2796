// The headers of gateway responses: which model and Level answered, how many attempts were made, and what the
// limits leave; which node owns the account; and the content types of answers other than JSON. The names are those of
// the client's API style.

import type { RemainingLimit } from "../../../actors/account/rate-limits.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type { Outcome } from "../call.ts";
import type { ApiStyle } from "../codec/key-formats.ts";
import type { Admission, AdmittedContext, RequestContext } from "../context.ts";

/** Returns the headers of an answer. `attempts` is the number of all attempts. */
export function headersOf(
  { requestId, endpoint, admission, startedAtMs }: AdmittedContext,
  attempts: number,
): Record<string, string> {
  const { route, admitted } = admission;
  const headers = earlyHeaders(requestId, endpoint.dialect.name, admitted, startedAtMs);
  headers["x-arbor-model"] = headerText(route.model);
  headers["x-arbor-level"] = String(route.level);
  headers["x-arbor-attempts"] = String(attempts);
  return headers;
}

/** Returns the headers that are known before a provider has answered. `now` is wall-clock ms. */
export function earlyHeaders(
  requestId: string,
  style: ApiStyle,
  { requests, tokensLeft }: Admission["admitted"],
  now: number,
): Record<string, string> {
  const headers = idsFor(requestId, style);
  if (requests !== null) LIMITS[style](headers, "requests", requests, now);
  if (tokensLeft !== null) LIMITS[style](headers, "tokens", tokensLeft, now);
  return headers;
}

/**
 * Returns the headers of an answer that is given again. The headers about the request stay, the id is that of
 * the repeat, and the limits are left out because they are out of date.
 */
export function replayed(kept: HeaderRecord, requestId: string, style: ApiStyle): Record<string, string> {
  const own = Object.entries(kept).filter(([name]) => name.startsWith("x-arbor-") || name === "content-type");
  return { ...idsFor(requestId, style), ...Object.fromEntries(own) };
}

/** What answers name as their account's node. */
export interface AccountNodeParts {
  /** Returns the name of the node that owns an account, or null when none is known to; null where answers name no node. */
  readonly nodeOfAccount: ((account: AccountId) => string | null) | null;
}

/**
 * Adds the header that names the node of a request's account (LB_NODE_HEADER), if the setting is on and the caller is
 * known. A load balancer that sends the account's next requests to that node saves them the messages between nodes, and
 * takes the header off, since it is not for clients. Every node answers every request, so a name that is out of date
 * costs those messages and nothing else. It is added when an answer leaves, and never kept with one that may be given
 * again.
 */
export function withAccountNode(
  { nodeOfAccount }: AccountNodeParts,
  { identifiedAs }: Pick<RequestContext, "identifiedAs">,
  outcome: Outcome,
): Outcome {
  if (nodeOfAccount === null || identifiedAs === null) return outcome;
  const node = nodeOfAccount(identifiedAs.account);
  return node === null ? outcome : { ...outcome, headers: { ...outcome.headers, "x-arbor-node": node } };
}

/** The SDKs of each style read the id from a header of their own. */
const idsFor = (requestId: string, style: ApiStyle): Record<string, string> =>
  style === "messages"
    ? { "x-request-id": requestId, "request-id": requestId }
    : { "x-request-id": requestId };

type Write = (
  into: Record<string, string>,
  what: "requests" | "tokens",
  left: RemainingLimit,
  now: number,
) => void;

/** The headers of a limit, what remains of it, and when it is whole again. */
type LimitNames = readonly [limit: string, remaining: string, reset: string];

const namesOf = (name: (field: string) => string): LimitNames => [
  name("limit"),
  name("remaining"),
  name("reset"),
];
const CHAT_NAMES = {
  requests: namesOf((field) => `x-ratelimit-${field}-requests`),
  tokens: namesOf((field) => `x-ratelimit-${field}-tokens`),
};
const MESSAGES_NAMES = {
  requests: namesOf((field) => `anthropic-ratelimit-requests-${field}`),
  tokens: namesOf((field) => `anthropic-ratelimit-tokens-${field}`),
};

const LIMITS: Readonly<Record<ApiStyle, Write>> = {
  chat(into, what, { limit, remaining, resetMs }) {
    const [ofLimit, ofRemaining, ofReset] = CHAT_NAMES[what];
    into[ofLimit] = String(limit);
    into[ofRemaining] = String(remaining);
    into[ofReset] = `${Math.ceil(resetMs / 1000)}s`;
  },
  messages(into, what, { limit, remaining, resetMs }, now) {
    const [ofLimit, ofRemaining, ofReset] = MESSAGES_NAMES[what];
    into[ofLimit] = String(limit);
    into[ofRemaining] = String(remaining);
    into[ofReset] = new Date(now + resetMs).toISOString();
  },
};

/** Percent-encodes the parts of a model's name that a header cannot contain. */
const headerText = (text: string): string => (/^[\x21-\x7e]*$/.test(text) ? text : encodedText(text));

const encodedText = (text: string): string =>
  text.replace(/[^\x21-\x7e]+/g, (odd) => encodeURIComponent(odd.toWellFormed()));

/**
 * A provider's own content type is passed on only if it is one of these, because browsers act on it.
 */
const SOUND = /^\s*(audio\/[a-z0-9][\w.+-]{0,63})\s*(?:;|$)/i;
/** Text formats. They are read and therefore sent as UTF-8. */
const WORDS = /^\s*(text\/plain|text\/vtt|text\/srt|application\/x-subrip)\s*(?:;|$)/i;

/** Returns the content type of an audio answer; `application/octet-stream` for an unknown one. */
export const soundType = (given: string): string =>
  SOUND.exec(given)?.[1]?.toLowerCase() ?? "application/octet-stream";

/** Returns the content type of a text answer that is not JSON; `text/plain` for an unknown one. */
export const wordsType = (given: string): string =>
  `${WORDS.exec(given)?.[1]?.toLowerCase() ?? "text/plain"}; charset=utf-8`;
