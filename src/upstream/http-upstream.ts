// Sends one attempt over a provider adapter: resolves the address, obtains the credential, connects, and
// classifies an error answer. It is the same for all provider types. It never shows a secret or a name from
// the provider's account.

import type { Clock } from "../base/clock.ts";
import { readBounded } from "./bounded-body.ts";
import { type Connect, failed, type Target, targetOf } from "./http-client.ts";
import {
  type AddressError,
  isPlainPath,
  type ProviderAdapter,
  type ProviderAddress,
} from "./provider-adapter.ts";
import { createRedactor } from "./redact.ts";
import type {
  Destination,
  Upstream,
  UpstreamFailureResult,
  UpstreamHead,
  UpstreamRequest,
} from "./upstream.ts";
import { classify } from "./upstream-failure.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** What an upstream needs from the node. */
export interface HttpUpstreamParts {
  readonly connect: Connect;
  readonly clock: Clock;
}

type Found = { readonly place: ProviderAddress; readonly target: Target } | AddressError;

/** Cached addresses per key. The client chooses path and model, so their number is unbounded. */
const PLACES_MAX = 100;

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

const NO_PLAIN_PATH: AddressError = { fault: "rejected", text: "is not asked on such a path" };

/**
 * Creates the upstream of one adapter. On a 401 it retries once if the adapter can supply another credential.
 */
export function createHttpUpstream(way: ProviderAdapter, { connect, clock }: HttpUpstreamParts): Upstream {
  /** Addresses by Config, because they are needed for every request and a key keeps its Config object. */
  const known = new WeakMap<Destination["config"], Map<string, Found>>();

  function find(to: Destination): Found {
    const places = known.get(to.config) ?? new Map<string, Found>();
    if (places.size === 0) known.set(to.config, places);
    const { provider, path, model } = to;
    // The lengths make the cache key unique, whatever name a client gives to its model.
    const name = `${to.stream} ${provider.length} ${path.length} ${provider}${path}${model}`;
    let found = places.get(name);
    if (found === undefined) {
      const place = isPlainPath(path) ? way.place(to) : NO_PLAIN_PATH;
      found = "fault" in place ? place : { place, target: targetOf(place.url) };
      if (places.size >= PLACES_MAX) places.clear();
      places.set(name, found);
    }
    return found;
  }

  async function send(attempt: UpstreamRequest): Promise<UpstreamHead | UpstreamFailureResult> {
    const { key, path, model, stream, method, body, signal } = attempt;
    const found = find({ provider: key.provider, config: key.config, path, model, stream });
    if ("fault" in found) return failed(found.fault, `Provider ${found.text}`);
    for (let isRetry = false; ; isRetry = true) {
      const given = way.credential(key, signal);
      const credential = given instanceof Promise ? await given : given;
      if (typeof credential !== "string") return credential;
      if (!/^[\x21-\x7e]+$/.test(credential)) {
        return failed("invalid_key", "the secret cannot stand in a header");
      }
      const headers = headersFor(attempt, found.place, credential);
      const response = await connect(found.target, { method, headers, body, signal });
      if ("signal" in response) return response;
      if (response.status === 401 && !isRetry && way.refused?.(key, credential) === true) {
        response.body.cancel();
      } else {
        const secrets = [credential, key.secret, key.privateKey ?? ""];
        return judged(response, model, createRedactor(secrets, found.place.hidden ?? []));
      }
    }
  }

  async function judged(
    { status, headers, body }: UpstreamResponse,
    model: string,
    scrub: UpstreamHead["scrub"],
  ): Promise<UpstreamHead | UpstreamFailureResult> {
    if (status >= 200 && status < 300) return { ok: true, status, headers, body, scrub };
    const redirect = status >= 300 && status < 400;
    // Some providers repeat the secret in their error.
    const bodyText = redirect ? "" : scrub(await readBounded(body, clock));
    if (redirect) body.cancel();
    return { ok: false, signal: classify({ status, headers, bodyText, model, nowMs: clock.wall() }) };
  }

  return {
    naming(to) {
      const found = find(to);
      return "fault" in found ? { model: to.model, add: {} } : found.place.naming;
    },
    address(to) {
      const found = find(to);
      return "fault" in found ? `Provider ${found.text}` : new URL(found.place.url);
    },
    send,
  };
}

function headersFor(
  { headers: sent, body, stream }: UpstreamRequest,
  { auth, beside, rewriteHeaders }: ProviderAddress,
  credential: string,
): Record<string, string> {
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
  if (body instanceof FormData || body === null) delete headers["content-type"];
  else headers["content-type"] ??= "application/json";
  // A provider that compresses would delay events until a block is full.
  if (stream) headers["accept-encoding"] = "identity";
  return headers;
}
