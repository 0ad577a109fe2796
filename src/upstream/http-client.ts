// Opens HTTP requests to providers. It connects only to addresses that the guard has pinned, under the
// requested host name. It knows neither keys nor models, and leaves connections to a transport.

import type { Pinned, SsrfGuard } from "./ssrf-guard.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamFailureResult, UpstreamRequest } from "./upstream.ts";
import { cutBy, type UpstreamFailure } from "./upstream-failure.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** A URL in parts, so that a pinned address can replace the host name. */
export interface Target {
  readonly origin: string;
  /** The value of the Host header. */
  readonly host: string;
  readonly port: number;
  /** Path and query. */
  readonly target: string;
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
export type Connect = (
  target: Target,
  call: ConnectRequest,
) => Promise<UpstreamResponse | UpstreamFailureResult>;

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
  host: url.host,
  port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port),
  target: url.pathname + url.search,
  secure: url.protocol === "https:",
});

/** Creates the function that sends requests over `transport` to addresses pinned by `guard`. */
export function createConnect(guard: SsrfGuard, transport: Transport): Connect {
  return async (target, call) => {
    if (call.signal.aborted) return { ok: false, signal: cutBy(call.signal, null) };
    try {
      const pinned = guard.checked(target.origin) ?? (await pin(target.origin, call.signal));
      return "signal" in pinned ? pinned : await open(transport, target, call, pinned);
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

/** Tries the pinned addresses in order, as long as no connection was made. */
async function open(
  transport: Transport,
  { host, port, target, secure }: Target,
  { method, headers, body, signal }: ConnectRequest,
  { addresses, name }: Pinned,
): Promise<UpstreamResponse> {
  const last = Math.min(addresses.length, ADDRESSES_MAX) - 1;
  for (let i = 0; i <= last; i++) {
    const address = addresses[i]!;
    try {
      // Without a name the certificate must be for the address.
      const serverName = secure ? (name ?? address) : null;
      return await transport.open({ method, address, port, serverName, host, target, headers, body, signal });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (i === last || !NOT_CONNECTED.has(code)) throw error;
    }
  }
  throw new Error("the guard pinned no address");
}

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
