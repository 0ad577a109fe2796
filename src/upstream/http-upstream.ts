// Sends one attempt on its way: finds the place, proves the key, connects, and says what a refusal means. The same for all
// ways to reach a provider. Never shows a secret, nor a name out of the provider's account.

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

export interface HttpUpstreamParts {
  readonly connect: Connect;
  readonly clock: Clock;
}

type Found = { readonly place: ProviderAddress; readonly target: Target } | AddressError;

/** Of one key. The path and the model are the client's, so that there is no end of them. */
const PLACES_MAX = 100;

/** Ours alone: whatever the caller passes under these names does not travel. */
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

/** The upstream of one way. */
export function createHttpUpstream(way: ProviderAdapter, { connect, clock }: HttpUpstreamParts): Upstream {
  /** Asked for every request; a key's Config stays the same object as long as the key does. */
  const known = new WeakMap<Destination["config"], Map<string, Found>>();

  function find(to: Destination): Found {
    const places = known.get(to.config) ?? new Map<string, Found>();
    if (places.size === 0) known.set(to.config, places);
    const { provider, path, model } = to;
    // With their lengths no two destinations share a name, whatever a client calls its model.
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
    for (let again = false; ; again = true) {
      const given = way.credential(key, signal);
      const credential = given instanceof Promise ? await given : given;
      if (typeof credential !== "string") return credential;
      if (!/^[\x21-\x7e]+$/.test(credential)) {
        return failed("invalid_key", "the secret cannot stand in a header");
      }
      const headers = headersFor(attempt, found.place, credential);
      const response = await connect(found.target, { method, headers, body, signal });
      if ("signal" in response) return response;
      if (response.status === 401 && !again && way.refused?.(key, credential) === true) {
        await discard(response);
      } else {
        const secrets = [credential, key.secret, key.privateKey ?? ""];
        return judged(response, model, createRedactor(secrets, found.place.hidden ?? []));
      }
    }
  }

  async function judged(
    response: Response,
    model: string,
    scrub: UpstreamHead["scrub"],
  ): Promise<UpstreamHead | UpstreamFailureResult> {
    const { status, headers } = response;
    if (response.ok) return { ok: true, status, headers: headersOf(response), response, scrub };
    const redirect = status >= 300 && status < 400;
    // Some providers repeat the key in their error.
    const bodyText = redirect ? "" : scrub(await readBounded(response, clock));
    if (redirect) await discard(response);
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
  { auth, beside, taken }: ProviderAddress,
  credential: string,
): Record<string, string> {
  const clients: Record<string, string> = {};
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase();
    if (!OURS.has(lower)) clients[lower] = value;
  }
  const headers: Record<string, string> = { ...beside, ...(taken === undefined ? clients : taken(clients)) };
  headers[auth.header] = auth.prefix + credential;
  // The form writes its own boundary; a text without a type is JSON.
  if (body instanceof FormData || body === null) delete headers["content-type"];
  else headers["content-type"] ??= "application/json";
  // A compressing provider holds events back until a block is full.
  if (stream) headers["accept-encoding"] = "identity";
  return headers;
}

/** The response's headers; Bun has already undone the encoding that they may still name. */
function headersOf(response: Response): Headers {
  if (!response.headers.has("content-encoding")) return response.headers;
  const headers = new Headers(response.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return headers;
}

/** Nobody waits for the rest, so nobody need hear that giving it up failed. */
async function discard({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => undefined);
}
