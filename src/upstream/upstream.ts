// The contract of a way to reach a provider. Implementations are siblings, one per provider_type.
// An upstream builds the address, the headers and the body for one attempt and sends it; it never retries, picks keys or charges.

import type { UpstreamFailure } from "./upstream-failure.ts";

export type ProviderType = "standard" | "cloud_a" | "cloud_b";

/** Where a request goes, as far as the address depends on it. */
export interface Destination {
  /** The upstream base URL of the key, and its Config without secrets. */
  readonly provider: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The gateway path, such as `/v1/chat/completions`. */
  readonly path: string;
  /** As it is mapped, charged and limited. */
  readonly model: string;
  readonly stream: boolean;
}

/** How a provider wants to be told of the model at a destination. */
export interface ProviderModelNaming {
  /** The body's `model`; null: the body must not have one, since the address says it. */
  readonly model: string | null;
  /** Fields that the body must carry beside the client's. */
  readonly add: Readonly<Record<string, string>>;
  /** Fields that it must not have, though the client sent them. */
  readonly without?: readonly string[];
}

/** An upstream key as the gateway uses it for one attempt. Its secrets are opened just before and live no longer. */
export interface UpstreamKey {
  readonly id: number;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  /** Of a service account; null: the key has none. */
  readonly privateKey: string | null;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface UpstreamRequest {
  readonly key: UpstreamKey;
  /** The gateway path, such as `/v1/chat/completions`. */
  readonly path: string;
  readonly model: string;
  readonly method: "POST" | "GET" | "DELETE";
  /** Client headers that pass on; already filtered. */
  readonly headers: Readonly<Record<string, string>>;
  /** Made as `naming` says. */
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
  /** The text of an error in the body, without secrets and without names out of the provider's account. */
  readonly scrub: (text: string) => string;
}

/** The attempt failed before a usable head: what it was, and what it means for the key and the client. */
export interface UpstreamFailureResult {
  readonly ok: false;
  readonly signal: UpstreamFailure;
}

export interface Upstream {
  naming(to: Destination): ProviderModelNaming;
  /** The address that `send` would call, which holds no secret; a text says what is wrong with the key's own settings. */
  address(to: Destination): URL | string;
  send(attempt: UpstreamRequest): Promise<UpstreamHead | UpstreamFailureResult>;
}
