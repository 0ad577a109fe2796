// The contract of what sends an HTTP request to one pinned address. There are two: the runtime's fetch, and our
// own HTTP/1.1 connections. A transport resolves no names and checks no addresses; the SSRF guard has done both.

import type { CancelSignal } from "../base/cancellation.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** A request to one address. */
export interface TransportRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** The pinned address. */
  readonly address: string;
  readonly port: number;
  /** The name, or the address, that the certificate must be for; null without TLS. */
  readonly serverName: string | null;
  /** The value of the Host header. */
  readonly host: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: HeaderRecord;
  readonly body: string | Uint8Array | FormData | null;
  readonly signal: CancelSignal;
}

/** Sends requests. */
export interface Transport {
  /** Resolves with the head of the response; rejects when there is none. Sends no byte twice. */
  open(request: TransportRequest): Promise<UpstreamResponse>;
  /** Closes idle connections. */
  close(): void;
}
