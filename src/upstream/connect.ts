// Opens calls to providers. Connects only to addresses that the guard has pinned, under the name that was asked for,
// follows no redirect and uses no proxy. It knows neither keys nor models.

import { inPieces } from "./in-pieces.ts";
import type { Guard, Pinned } from "./ssrf-guard.ts";
import type { Attempt, UpstreamFailure } from "./upstream.ts";
import { cutBy, type Signal } from "./upstream-failure.ts";

/** An address, taken apart so that a pinned one can stand in place of the name. */
export interface Target {
  readonly origin: string;
  readonly scheme: string;
  readonly host: string;
  /** Port, path and query. */
  readonly behind: string;
  readonly secure: boolean;
}

export interface Outgoing {
  readonly method: Attempt["method"];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Attempt["body"];
  readonly signal: AbortSignal;
}

/** The response, whatever its status; a failure when there was none. Never rejects. */
export type Connect = (target: Target, call: Outgoing) => Promise<Response | UpstreamFailure>;

/** The connection was never made, so that another address of the same name may be tried. */
const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "ConnectionRefused",
]);
const ADDRESSES_MAX = 3;

export const targetOf = (url: URL): Target => ({
  origin: url.origin,
  scheme: `${url.protocol}//`,
  host: url.host,
  behind: `${url.port === "" ? "" : `:${url.port}`}${url.pathname}${url.search}`,
  secure: url.protocol === "https:",
});

export function createConnect(guard: Guard): Connect {
  return async (target, call) => {
    if (call.signal.aborted) return { ok: false, signal: cutBy(call.signal, null) };
    try {
      const pinned = guard.checked(target.origin) ?? (await pin(target.origin, call.signal));
      return "signal" in pinned ? pinned : await open(target, call, pinned);
    } catch (error) {
      return { ok: false, signal: cutBy(call.signal, error) };
    }
  };

  /** The guard's answer, waited for no longer than the call lives. */
  async function pin(origin: string, signal: AbortSignal): Promise<Pinned | UpstreamFailure> {
    const answer = await unlessAborted(guard.check(origin), signal);
    return answer.ok ? answer.pinned : failed("unreachable", `Provider ${answer.reason}`);
  }
}

async function open(target: Target, call: Outgoing, pinned: Pinned): Promise<Response> {
  const named = pinned.name !== null;
  const init: BunFetchRequestInit = {
    method: call.method,
    headers: named ? { ...call.headers, host: target.host } : { ...call.headers },
    body: call.body as BodyInit | null,
    redirect: "manual",
    signal: call.signal,
    proxy: false,
    // Bun has a limit of its own for silence; the attempt and the stream have theirs.
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

/** The work's result, or a rejection with the signal's reason once that is aborted. The work itself goes on. */
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

/** A failure that has no status. */
export const failed = (name: Signal["name"], note: string): UpstreamFailure => ({
  ok: false,
  signal: { name, status: 0, note },
});
