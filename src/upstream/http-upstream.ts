// Sends one attempt over a provider adapter: resolves the address, obtains the credential, connects, and
// classifies an error answer. It is the same for all provider types. It never shows a secret or a name from
// the provider's account.

import type { Clock } from "../base/clock.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import { readBounded } from "./bounded-body.ts";
import { DestinationCache, type Placed } from "./destination-cache.ts";
import { type Connect, failed } from "./http-client.ts";
import type { MissingPaths } from "./missing-paths.ts";
import type { ProviderAdapter, ProviderAddress } from "./provider-adapter.ts";
import { redacted } from "./redact.ts";
import type {
  Upstream,
  UpstreamFailureResult,
  UpstreamHead,
  UpstreamKey,
  UpstreamRequest,
} from "./upstream.ts";
import { classify, cutBy, isMissingPath } from "./upstream-failure.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** What an upstream needs from the node. */
export interface HttpUpstreamParts {
  readonly connect: Connect;
  readonly clock: Clock;
  readonly missingPaths: MissingPaths;
}

type SendResult = UpstreamHead | UpstreamFailureResult;

/** Headers that the gateway sets; values that the caller passes under these names are dropped. */
const OURS = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "host",
  "connection",
  "content-length",
  "accept-encoding",
]);

/**
 * Creates the upstream of one adapter. On a 401 it retries once if the adapter can supply another credential.
 */
export function createHttpUpstream(
  way: ProviderAdapter,
  { connect, clock, missingPaths }: HttpUpstreamParts,
): Upstream {
  const destinations = new DestinationCache(way);

  function send(attempt: UpstreamRequest): Promise<SendResult> {
    const { key, path, model, stream } = attempt;
    try {
      const found = destinations.find({ provider: key.provider, config: key.config, path, model, stream });
      return "fault" in found
        ? Promise.resolve(failed(found.fault, `Provider ${found.text}`))
        : sendTo(found, attempt, false);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Sends to a destination. Only the first try may be repeated with another credential. */
  function sendTo(found: Placed, attempt: UpstreamRequest, isRetry: boolean): Promise<SendResult> {
    const credential = way.credential(attempt.key, attempt.signal);
    return credential instanceof Promise
      ? credential.then((later) => sendWith(found, attempt, later, isRetry))
      : sendWith(found, attempt, credential, isRetry);
  }

  async function sendWith(
    found: Placed,
    attempt: UpstreamRequest,
    credential: string | UpstreamFailureResult,
    isRetry: boolean,
  ): Promise<SendResult> {
    if (typeof credential !== "string") return credential;
    const headers = headersAt(found, attempt, credential);
    if (headers === null) return failed("invalid_key", "the secret cannot stand in a header");
    const { key, method, body, signal } = attempt;
    let response: UpstreamResponse | UpstreamFailureResult;
    try {
      response = await connect(found.target, { method, headers, body, signal });
    } catch (error) {
      return { ok: false, signal: cutBy(signal, error) };
    }
    if ("signal" in response) return response;
    const { status } = response;
    if (status === 401 && !isRetry && way.refused?.(key, credential) === true) {
      response.body.cancel();
      return sendTo(found, attempt, true);
    }
    const head = new ProviderHead(response, key, credential, found.place.hidden ?? NO_NAMES);
    return status < 200 || status >= 300 ? failureOf(head, attempt) : head;
  }

  async function failureOf(
    head: UpstreamHead,
    { model, key, path, mayLackPath }: UpstreamRequest,
  ): Promise<UpstreamFailureResult> {
    const { status, headers, body } = head;
    const redirect = status >= 300 && status < 400;
    // Some providers repeat the secret in their error.
    const bodyText = redirect ? "" : head.scrub(await readBounded(body, clock));
    if (redirect) body.cancel();
    const evidence = { status, headers, bodyText, model, nowMs: clock.wall() };
    if (mayLackPath === true && isMissingPath(evidence)) {
      missingPaths.add(key.provider, path, model);
      return failed("path_missing", `status ${status}`, status);
    }
    return { ok: false, signal: classify(evidence) };
  }

  return {
    naming(to) {
      const found = destinations.find(to);
      return "fault" in found ? { model: to.model, add: {} } : found.place.naming;
    },
    address(to) {
      const found = destinations.find(to);
      return "fault" in found ? `Provider ${found.text}` : new URL(found.place.url);
    },
    lacks: (provider, path, model) => missingPaths.has(provider, path, model),
    send,
  };
}

const NO_NAMES: readonly string[] = [];

/** The head of a response, with what must not be shown of its body, which no log of it prints. */
class ProviderHead implements UpstreamHead {
  readonly ok = true;
  readonly status: number;
  readonly headers: UpstreamHead["headers"];
  readonly body: UpstreamHead["body"];
  readonly #key: UpstreamKey;
  readonly #credential: string;
  readonly #hiddenNames: readonly string[];

  constructor(
    { status, headers, body }: UpstreamResponse,
    key: UpstreamKey,
    credential: string,
    hiddenNames: readonly string[],
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.#key = key;
    this.#credential = credential;
    this.#hiddenNames = hiddenNames;
  }

  scrub(text: string): string {
    const { secret, privateKey } = this.#key;
    return redacted(text, [this.#credential, secret, privateKey ?? ""], this.#hiddenNames);
  }
}

/**
 * Returns the headers of an attempt, or null when the credential cannot stand in a header. Requests of one key to
 * one destination mostly have the same, which are then the same object: what a transport makes of it is kept with it.
 */
function headersAt(
  found: Placed,
  { headers: sent, body, stream }: UpstreamRequest,
  credential: string,
): HeaderRecord | null {
  const isTyped = !(body instanceof FormData) && body !== null;
  const last = found.lastHeaders;
  if (
    last !== null &&
    last.credential === credential &&
    last.isTyped === isTyped &&
    hasSameFields(last.sent, sent)
  ) {
    return last.headers;
  }
  if (!/^[\x21-\x7e]+$/.test(credential)) return null;
  const headers = headersFor(found.place, sent, credential, isTyped, stream);
  found.lastHeaders = { credential, isTyped, sent, headers };
  return headers;
}

function hasSameFields(a: HeaderRecord, b: HeaderRecord): boolean {
  if (a === b) return true;
  for (const name in a) if (a[name] !== b[name]) return false;
  for (const name in b) if (a[name] === undefined) return false;
  return true;
}

function headersFor(
  { auth, beside, rewriteHeaders }: ProviderAddress,
  sent: HeaderRecord,
  credential: string,
  isTyped: boolean,
  stream: boolean,
): HeaderRecord {
  const clients: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    if (!OURS.has(lower)) clients[lower] = value;
  }
  const headers: Record<string, string> = {
    ...beside,
    ...(rewriteHeaders === undefined ? clients : rewriteHeaders(clients)),
  };
  headers[auth.header] = auth.prefix + credential;
  // The transport sets the boundary of a form. A text without a content type is JSON.
  if (isTyped) headers["content-type"] ??= "application/json";
  else delete headers["content-type"];
  // A provider that compresses would delay events until a block is full.
  if (stream) headers["accept-encoding"] = "identity";
  return headers;
}
