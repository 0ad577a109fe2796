// What a gateway request is while it is under way, and how it can end. The edge (http/) makes calls and speaks outcomes;
// everything between works on these.

import type { Refusal } from "../runtime/actor.ts";

/** A request as it came, its body still text. */
export interface Call {
  readonly path: string;
  /** The API key; null: none was sent. */
  readonly key: string | null;
  readonly ip: () => string;
  /** The client's x-request-id when it sent a fit one. */
  readonly requestId: string | null;
  readonly headers: Headers;
  /** Reads the body; throws Refused when it is too large. */
  readonly text: () => Promise<string>;
  /** Aborted when the client goes. */
  readonly signal: AbortSignal;
}

/** The provider's own words about the request's content, for the client. */
export interface Rejection {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string;
}

type Headers_ = Readonly<Record<string, string>>;

export type Outcome =
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly headers: Headers_ }
  | { readonly kind: "rejected"; readonly rejection: Rejection; readonly headers: Headers_ }
  | { readonly kind: "whole"; readonly body: string; readonly headers: Headers_ }
  | { readonly kind: "stream"; readonly body: ReadableStream<Uint8Array>; readonly headers: Headers_ };

export interface Limits {
  readonly upstreamTimeoutMs: number;
  readonly upstreamFirstMs: number;
  readonly upstreamIdleMs: number;
  readonly holdOutputTokens: number;
  readonly chargeWaitMs: number;
}
