// Opens HTTP requests to providers. It connects only to addresses that the guard has pinned, under the
// requested host name. It knows neither keys nor models, and leaves connections to a transport.

import { type CancelSignal, unlessAborted } from "../base/cancellation.ts";
import { assert } from "../base/errors.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { Pinned, SsrfGuard } from "./ssrf-guard.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import type { UpstreamFailureResult, UpstreamRequest } from "./upstream.ts";
import type { UpstreamFailure } from "./upstream-failure.ts";
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
  readonly headers: HeaderRecord;
  readonly body: UpstreamRequest["body"];
  readonly signal: CancelSignal;
}

/**
 * Sends a request. Resolves with the response, whatever its status, or with the failure of an address that may not be asked.
 * Rejects when no response comes; `cutBy` says what that means.
 */
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
  return (target, call) => {
    if (call.signal.aborted) return Promise.reject(call.signal.reason);
    const pinned = guard.checked(target.origin);
    return pinned === undefined ? pinAndOpen(target, call) : openAt(target, call, pinned);
  };

  async function pinAndOpen(
    target: Target,
    call: ConnectRequest,
  ): Promise<UpstreamResponse | UpstreamFailureResult> {
    const pinned = await pin(target.origin, call.signal);
    return "signal" in pinned ? pinned : openAt(target, call, pinned);
  }

  function openAt(target: Target, call: ConnectRequest, pinned: Pinned): Promise<UpstreamResponse> {
    return pinned.addresses.length === 1
      ? transport.open(new AddressedRequest(target, call, pinned, 0))
      : openAtAny(target, call, pinned);
  }

  /** Tries the pinned addresses in order, as long as no connection was made. */
  async function openAtAny(target: Target, call: ConnectRequest, pinned: Pinned): Promise<UpstreamResponse> {
    const last = Math.min(pinned.addresses.length, ADDRESSES_MAX) - 1;
    for (let i = 0; i < last; i++) {
      try {
        return await transport.open(new AddressedRequest(target, call, pinned, i));
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : "";
        if (!NOT_CONNECTED.has(code)) throw error;
      }
    }
    return transport.open(new AddressedRequest(target, call, pinned, last));
  }

  /** Asks the guard for addresses, at most until the request is aborted. */
  async function pin(origin: string, signal: CancelSignal): Promise<Pinned | UpstreamFailureResult> {
    const answer = await unlessAborted(guard.check(origin), signal);
    return answer.ok ? answer.pinned : failed("unreachable", `Provider ${answer.reason}`);
  }
}

/** A request to the pinned address of a number. */
class AddressedRequest implements TransportRequest {
  readonly method: TransportRequest["method"];
  readonly address: string;
  readonly port: number;
  readonly serverName: string | null;
  readonly host: string;
  readonly target: string;
  readonly headers: TransportRequest["headers"];
  readonly body: TransportRequest["body"];
  readonly signal: CancelSignal;

  constructor(target: Target, call: ConnectRequest, { addresses, name }: Pinned, at: number) {
    const address = addresses[at];
    assert(address !== undefined, "the guard pinned no address");
    this.method = call.method;
    this.address = address;
    this.port = target.port;
    // Without a name the certificate must be for the address.
    this.serverName = target.secure ? (name ?? address) : null;
    this.host = target.host;
    this.target = target.target;
    this.headers = call.headers;
    this.body = call.body;
    this.signal = call.signal;
  }
}

/** Returns a failure without an HTTP status. */
export const failed = (name: UpstreamFailure["name"], note: string, status = 0): UpstreamFailureResult => ({
  ok: false,
  signal: { name, status, note },
});
