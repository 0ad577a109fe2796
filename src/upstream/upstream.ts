// The contract of a way to reach a provider. Implementations are siblings, one per provider_type.
// An upstream builds the address, the headers and the body for one attempt and sends it; it never retries, picks keys or charges.

import type { Signal } from "./signal.ts";

/** An upstream key as the gateway uses it for one attempt. The secret is opened just before and lives no longer. */
export interface UpstreamKey {
  readonly id: number;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Attempt {
  readonly key: UpstreamKey;
  /** The gateway path, such as `/v1/chat/completions`. */
  readonly path: string;
  readonly model: string;
  readonly method: "POST" | "GET" | "DELETE";
  /** Client headers that pass on; already filtered. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | FormData | null;
  readonly stream: boolean;
  /** Aborted when the client goes, or a deadline passes (its reason is then named TimeoutError). */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

/** A response head that came. The body is still to be read. */
export interface UpstreamHead {
  readonly ok: true;
  readonly status: number;
  readonly headers: Headers;
  readonly response: Response;
}

/** The attempt failed before a usable head: what it was, and what it means for the key and the client. */
export interface UpstreamFailure {
  readonly ok: false;
  readonly signal: Signal;
}

export interface Upstream {
  readonly type: "standard" | "cloud_a" | "cloud_b";
  send(attempt: Attempt): Promise<UpstreamHead | UpstreamFailure>;
}
