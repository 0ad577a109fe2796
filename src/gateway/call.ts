// What a gateway request is while it is under way, and how it can end. The edge (http/) makes calls and speaks outcomes;
// everything between works on these.

import type { Refusal } from "../base/errors.ts";
import type { Payload } from "../dialect/payload/payload.ts";

/** A request as it came, its body unread. */
export interface GatewayCall {
  readonly path: string;
  /** The API key; null: none was sent. */
  readonly key: string | null;
  readonly ip: () => string;
  /** The client's x-request-id when it sent a fit one. */
  readonly requestId: string | null;
  readonly headers: Headers;
  /** Reads the body; throws Refused when it is too large, or none of what the path takes. */
  readonly payload: () => Promise<Payload>;
  /** Aborted when the client goes. */
  readonly signal: AbortSignal;
}

/** The provider's own words about the request's content, for the client. */
export interface ProviderRejection {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string;
  /** Under `error.details`; left out: none. */
  readonly details?: unknown;
}

type Headers_ = Readonly<Record<string, string>>;

/** Of a stream: as it comes, or all of it where it was all at hand. */
export type ResponseBody = BodySource | Uint8Array<ArrayBuffer>;

/** `content-type` is among the headers where it is not JSON, or not events. */
export type Outcome =
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly headers: Headers_ }
  | { readonly kind: "rejected"; readonly rejection: ProviderRejection; readonly headers: Headers_ }
  | { readonly kind: "whole"; readonly body: string; readonly headers: Headers_ }
  | { readonly kind: "stream"; readonly body: ResponseBody; readonly headers: Headers_ };

export interface GatewayLimits {
  readonly upstreamTimeoutMs: number;
  readonly upstreamFirstMs: number;
  readonly upstreamIdleMs: number;
  readonly holdOutputTokens: number;
  readonly chargeWaitMs: number;
  /** Silence of a stream after which it says that it lives; 0: it never does. */
  readonly sseKeepaliveMs: number;
}

export interface BodySink {
  /** Takes a chunk in any case; a promise asks to wait with the next until the client has taken what there is. */
  write(bytes: Uint8Array): number | Promise<number>;
  /** The body is whole; with an error, it breaks off, so that a client can tell. */
  close(error?: Error): void;
}

/** A body before anybody reads it. */
export interface BodySource {
  /** Writes all of it, once. */
  readonly fill: (outlet: BodySink) => Promise<void>;
  /** The client has left. */
  readonly gone: () => void;
}
