// Opens HTTP requests to providers. It connects only to addresses that the guard has pinned, under the
// requested host name, follows no redirect and uses no proxy. It knows neither keys nor models.
//
// A large body of bytes is sent in pieces: fetch would copy a whole one before it sends it.

import type { Pinned, SsrfGuard } from "./ssrf-guard.ts";
import type { UpstreamFailureResult, UpstreamRequest } from "./upstream.ts";
import { cutBy, type UpstreamFailure } from "./upstream-failure.ts";

/** A URL in parts, so that a pinned address can replace the host name. */
export interface Target {
  readonly origin: string;
  readonly scheme: string;
  readonly host: string;
  /** The port, path and query of the URL. */
  readonly behind: string;
  readonly secure: boolean;
}

/** An HTTP request without its URL. */
export interface ConnectRequest {
  readonly method: UpstreamRequest["method"];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: UpstreamRequest["body"];
  readonly signal: AbortSignal;
}

/** Sends a request. Returns the response with any status, or a failure when there was none. Never rejects. */
export type Connect = (target: Target, call: ConnectRequest) => Promise<Response | UpstreamFailureResult>;

/** Error codes after which another address of the same name may be tried, because no connection was made. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "ConnectionRefused",
]);
const ADDRESSES_MAX = 3;

/** Splits a URL into its parts. */
export const targetOf = (url: URL): Target => ({
  origin: url.origin,
  scheme: `${url.protocol}//`,
  host: url.host,
  behind: `${url.port === "" ? "" : `:${url.port}`}${url.pathname}${url.search}`,
  secure: url.protocol === "https:",
});

/** Creates the function that sends requests to addresses pinned by `guard`. */
export function createConnect(guard: SsrfGuard): Connect {
  return async (target, call) => {
    if (call.signal.aborted) return { ok: false, signal: cutBy(call.signal, null) };
    try {
      const pinned = guard.checked(target.origin) ?? (await pin(target.origin, call.signal));
      return "signal" in pinned ? pinned : await open(target, call, pinned);
    } catch (error) {
      return { ok: false, signal: cutBy(call.signal, error) };
    }
  };

  /** Asks the guard for addresses, at most until the request is aborted. */
  async function pin(origin: string, signal: AbortSignal): Promise<Pinned | UpstreamFailureResult> {
    const answer = await unlessAborted(guard.check(origin), signal);
    return answer.ok ? answer.pinned : failed("unreachable", `Provider ${answer.reason}`);
  }
}

async function open(target: Target, call: ConnectRequest, pinned: Pinned): Promise<Response> {
  const named = pinned.name !== null;
  const init: BunFetchRequestInit = {
    method: call.method,
    headers: named ? { ...call.headers, host: target.host } : { ...call.headers },
    body: call.body as BodyInit | null,
    redirect: "manual",
    signal: call.signal,
    proxy: false,
    // Bun's own idle timeout is off, because attempt and stream have their own.
    timeout: false,
    ...(named && target.secure ? { tls: { serverName: pinned.name } } : {}),
  };
  const last = Math.min(pinned.addresses.length, ADDRESSES_MAX) - 1;
  for (let i = 0; i <= last; i++) {
    try {
      const pieces = inPieces(call.body);
      const made =
        pieces === null ? init : { ...init, ...pieces.init, headers: sized(init.headers, pieces.length) };
      return await fetch(target.scheme + pinned.addresses[i]! + target.behind, made);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (i === last || !NOT_CONNECTED.has(code)) throw error;
    }
  }
  throw new Error("the guard pinned no address");
}

const sized = (headers: BunFetchRequestInit["headers"], length: string) => ({
  ...(headers as Record<string, string>),
  "content-length": length,
});

/**
 * Returns the result of `work`, or rejects with the signal's reason when it aborts. It does not stop the
 * work.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const gone = Promise.withResolvers<never>();
  const onAbort = () => gone.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns a failure without an HTTP status. */
export const failed = (name: UpstreamFailure["name"], note: string): UpstreamFailureResult => ({
  ok: false,
  signal: { name, status: 0, note },
});

/** Bodies below this size are sent whole: a copy costs less than pieces. */
const LARGE_BYTES = 1_000_000;
const PIECE_BYTES = 256 * 1024;

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

/**
 * Returns what makes fetch send a large body in pieces, for one request. Returns null if the body is sent
 * whole.
 */
export function inPieces(
  body: unknown,
): { readonly init: BunFetchRequestInit; readonly length: string } | null {
  if (!(body instanceof Uint8Array) || body.length < LARGE_BYTES) return null;
  // An idle connection may already be closed by the provider, and a body in pieces cannot be sent again.
  return {
    init: { body: piecesOf(body) as unknown as BodyInit, keepalive: false },
    length: String(body.length),
  };
}
