// Providers that speak over plain HTTPS with a key in a header: builds the address, the headers and the call for one attempt.
// Connects only to addresses that the guard has pinned, follows no redirect, uses no proxy, and never shows the secret.

import type { Clock } from "../runtime/clock.ts";
import type { Guard, Pinned } from "./guard.ts";
import { classify, cutBy, type Signal } from "./signal.ts";
import type { Attempt, Upstream, UpstreamFailure, UpstreamHead } from "./upstream.ts";

/** What is known of a provider's host; one row of data/providers.json. */
export interface HostFacts {
  readonly auth: "bearer" | "x-api-key";
  /** Base URLs: of the host's chat style, of its messages style where it has one apart, and its own rerank address. */
  readonly base?: string | null;
  readonly messages_base?: string;
  readonly rerank_url?: string;
}

export interface StandardOptions {
  readonly guard: Guard;
  readonly clock: Clock;
  /** The facts of a host; none for unknown hosts, which take the key as each style of request sends it. */
  readonly host: (hostname: string) => HostFacts | undefined;
  /** Which gateway paths may be sent at all. */
  readonly allowPath?: (path: string) => boolean;
}

interface Auth {
  readonly header: string;
  readonly prefix: string;
  readonly beside: Readonly<Record<string, string>>;
}

/** An address, taken apart so that a pinned one can stand in place of the name. */
interface Target {
  readonly origin: string;
  readonly scheme: string;
  readonly host: string;
  /** Port, path and query. */
  readonly behind: string;
  readonly secure: boolean;
  readonly auth: Auth;
}

const TARGETS_MAX = 1_000;

/** How each style of key travels, and what its hosts demand beside unless the client sent it. */
const AUTH: Readonly<Record<HostFacts["auth"], Auth>> = {
  bearer: { header: "authorization", prefix: "Bearer ", beside: {} },
  "x-api-key": { header: "x-api-key", prefix: "", beside: { "anthropic-version": "2023-06-01" } },
};

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

/** The connection was never made, so that another address of the same name may be tried. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "ConnectionRefused",
]);
const ADDRESSES_MAX = 3;

const ERROR_BODY_MAX = 64 * 1024;
const ERROR_BODY_MS = 5_000;

/** The upstream for provider_type `standard`. */
export function standardUpstream(options: StandardOptions): Upstream {
  const { guard, clock, host, allowPath = isPlainPath } = options;

  const targets = new Map<string, Target>();

  /** Where a path of a Provider leads; worked out once. A string says what is wrong with the Provider. */
  function targetOf(provider: string, path: string): Target | string {
    const name = `${provider} ${path}`;
    const known = targets.get(name);
    if (known !== undefined) return known;
    const url = upstreamUrl(provider, path, host);
    if (typeof url === "string") return url;
    const target: Target = {
      origin: url.origin,
      scheme: `${url.protocol}//`,
      host: url.host,
      behind: `${url.port === "" ? "" : `:${url.port}`}${url.pathname}${url.search}`,
      secure: url.protocol === "https:",
      auth: AUTH[host(url.hostname)?.auth ?? (isMessages(path) ? "x-api-key" : "bearer")],
    };
    if (targets.size >= TARGETS_MAX) targets.clear();
    targets.set(name, target);
    return target;
  }

  async function send(attempt: Attempt): Promise<UpstreamHead | UpstreamFailure> {
    const { key, signal } = attempt;
    if (!allowPath(attempt.path)) return fail("rejected", "the path is not one that may be sent");
    const target = targetOf(key.provider, attempt.path);
    if (typeof target === "string") return fail("unreachable", `Provider ${target}`);
    if (!/^[\x21-\x7e]+$/.test(key.secret)) return fail("invalid_key", "the secret cannot stand in a header");
    if (signal.aborted) return { ok: false, signal: cutBy(signal, null) };
    try {
      const pinned = guard.checked(target.origin) ?? (await pin(target.origin, signal));
      if ("signal" in pinned) return pinned;
      const response = await connect(attempt, target, pinned);
      if (response.ok) return { ok: true, status: response.status, headers: headersOf(response), response };
      const { status, headers } = response;
      const redirect = status >= 300 && status < 400;
      const said = redirect ? "" : await readErrorText(response, clock);
      // Some providers repeat the key in their error.
      const bodyText = said.replaceAll(key.secret, "[removed]");
      if (redirect) await discard(response);
      return {
        ok: false,
        signal: classify({ status, headers, bodyText, model: attempt.model, nowMs: clock.wall() }),
      };
    } catch (error) {
      return { ok: false, signal: cutBy(signal, error) };
    }
  }

  /** The guard's answer, waited for no longer than the attempt lives. */
  async function pin(origin: string, signal: AbortSignal): Promise<Pinned | UpstreamFailure> {
    const gone = Promise.withResolvers<never>();
    const onAbort = () => gone.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const answer = await Promise.race([guard.check(origin), gone.promise]);
      return answer.ok ? answer.pinned : fail("unreachable", `Provider ${answer.reason}`);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async function connect(attempt: Attempt, target: Target, pinned: Pinned): Promise<Response> {
    const headers = headersFor(attempt, target);
    if (pinned.name !== null) headers.host = target.host;
    const init: BunFetchRequestInit = {
      method: attempt.method,
      headers,
      body: attempt.body as BodyInit | null,
      redirect: "manual",
      signal: attempt.signal,
      proxy: false,
      // Bun has a limit of its own for silence; the attempt and the stream have theirs.
      timeout: false,
      ...(pinned.name !== null && target.secure ? { tls: { serverName: pinned.name } } : {}),
    };
    const last = Math.min(pinned.addresses.length, ADDRESSES_MAX) - 1;
    for (let i = 0; i <= last; i++) {
      try {
        return await fetch(target.scheme + pinned.addresses[i]! + target.behind, init);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (i === last || !NOT_CONNECTED.has(code)) throw error;
      }
    }
    throw new Error("the guard pinned no address");
  }

  return { type: "standard", send };
}

/**
 * The address of a gateway path at a provider: behind a path of the Provider goes what follows our /v1, else the host's known
 * base, else /v1. A string says what is wrong with the Provider.
 */
export function upstreamUrl(
  provider: string,
  path: string,
  host: (hostname: string) => HostFacts | undefined,
): URL | string {
  const base = URL.parse(provider);
  if (base === null) return "is not a valid URL";
  if (base.search !== "" || base.hash !== "") return "must not have a query or a fragment";
  const facts = host(base.hostname);
  const [plain = "", query] = path.split("?", 2);
  base.pathname = pathAt(base.pathname.replace(/\/+$/, ""), plain, facts);
  if (query !== undefined) base.search = query;
  return base;
}

function pathAt(own: string, path: string, facts: HostFacts | undefined): string {
  const messages = facts?.messages_base;
  // The messages SDK's base addresses stand before /v1, not behind it.
  if (messages !== undefined && isMessages(path)) return pathOf(messages) + path;
  if (facts?.rerank_url !== undefined && path === "/v1/rerank") return pathOf(facts.rerank_url);
  const rest = path.slice("/v1".length);
  if (own !== "") return own + rest;
  return typeof facts?.base === "string" ? pathOf(facts.base) + rest : path;
}

/** `/v1/messages` and what is below it. */
const isMessages = (path: string): boolean => /^\/v1\/messages(?![^/?])/.test(path);

const pathOf = (url: string): string => new URL(url).pathname.replace(/\/+$/, "");

/** Below /v1 and meaning the same to everybody: no dot segments, no encoded dots or slashes, no fragment. */
export function isPlainPath(path: string): boolean {
  const [plain = ""] = path.split("?", 1);
  return (
    plain.startsWith("/v1/") &&
    !/[\s\\#\p{Cc}]|%2f|%5c|%2e|%(?![0-9a-f]{2})/iu.test(plain) &&
    !/\/\.{0,2}(\/|$)/.test(plain) &&
    !/[\s#]/.test(path)
  );
}

function headersFor(attempt: Attempt, { auth }: Target): Record<string, string> {
  const headers: Record<string, string> = { ...auth.beside };
  for (const [name, value] of Object.entries(attempt.headers)) {
    const lower = name.toLowerCase();
    if (!OURS.has(lower)) headers[lower] = value;
  }
  headers[auth.header] = auth.prefix + attempt.key.secret;
  // The form writes its own boundary; a text without a type is JSON.
  if (attempt.body instanceof FormData || attempt.body === null) delete headers["content-type"];
  else headers["content-type"] ??= "application/json";
  // A compressing provider holds events back until a block is full.
  if (attempt.stream) headers["accept-encoding"] = "identity";
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

/** The text of an error, as far as it comes within 64 KB and 5 s. */
export async function readErrorText(response: Response, clock: Clock): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const late = Promise.withResolvers<null>();
  const stopTimer = clock.after(ERROR_BODY_MS, () => late.resolve(null));
  const decoder = new TextDecoder();
  let text = "";
  let left = ERROR_BODY_MAX;
  try {
    while (left > 0) {
      const next = await Promise.race([reader.read(), late.promise]);
      if (next === null || next.done) break;
      text += decoder.decode(next.value.subarray(0, left), { stream: true });
      left -= next.value.length;
    }
  } catch (error) {
    // A body that breaks off still has a status, which says enough.
    if (!(error instanceof Error)) throw error;
  } finally {
    stopTimer();
    // Nobody waits for the rest, so nobody need hear that giving it up failed.
    reader.cancel().catch(() => undefined);
  }
  return text;
}

const discard = (response: Response): Promise<void> => response.body?.cancel() ?? Promise.resolve();

const fail = (name: Signal["name"], note: string): UpstreamFailure => ({
  ok: false,
  signal: { name, status: 0, note },
});
