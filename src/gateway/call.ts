// The types of a gateway request at its border with the HTTP edge: what the edge hands in (`GatewayCall`) and
// what it gets back (`Outcome`). They know nothing of HTTP responses, routing or accounts.

import type { CancelSignal } from "../base/cancellation.ts";
import type { Refusal } from "../base/errors.ts";
import type { HeaderReader, HeaderRecord } from "../base/header-reader.ts";
import type { Payload } from "../dialect/payload/payload.ts";

/** A request as it arrived, with its body unread. */
export interface GatewayCall {
  readonly path: string;
  /** The API key; null when none was sent. */
  readonly key: string | null;
  /** Returns the client's address, at the cost of a system call. */
  ip(): string;
  /** The client's x-request-id; null when it sent none or an invalid one. */
  readonly requestId: string | null;
  readonly headers: HeaderReader;
  /** Reads the body. Throws `RefusedError`, see `readPayload`. */
  payload(): Promise<Payload>;
  /** Aborted when the client disconnects. */
  readonly signal: CancelSignal;
}

/** A provider's own 4xx error about the content of the request, passed on to the client. */
export interface ProviderRejection {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string;
  /** Sent as `error.param` when present. */
  readonly param?: string;
  /** Sent as `error.details` when present. */
  readonly details?: unknown;
}

/** A part of a streamed body: bytes, or text of ASCII alone, so that `length` is the number of bytes of either. */
export type StreamPart = Uint8Array | string;

/**
 * The body of a streamed response: a source that is read as it is produced, or all its bytes, part by part, when the whole
 * answer is already known.
 */
export type StreamedBody = BodySource | readonly StreamPart[];

/** Whether all parts of a streamed body are known. */
export const isWhole = (body: StreamedBody): body is readonly StreamPart[] => !("gone" in body);

/**
 * How a request ended. Without `content-type` in `headers` it is the default: JSON, or `text/event-stream` for a
 * stream.
 */
export type Outcome =
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly headers: HeaderRecord }
  | { readonly kind: "rejected"; readonly rejection: ProviderRejection; readonly headers: HeaderRecord }
  | {
      readonly kind: "whole";
      readonly body: string | Uint8Array<ArrayBuffer>;
      readonly headers: HeaderRecord;
    }
  | { readonly kind: "stream"; readonly body: StreamedBody; readonly headers: HeaderRecord };

/** Settings of the gateway. Times are in ms. */
export interface GatewayLimits {
  readonly upstreamTimeoutMs: number;
  readonly upstreamFirstMs: number;
  readonly upstreamIdleMs: number;
  readonly holdOutputTokens: number;
  readonly chargeWaitMs: number;
  /** Milliseconds of silence after which a stream sends a keepalive; 0 means never. */
  readonly sseKeepaliveMs: number;
}

/** The consumer of a streamed response body. */
export interface BodySink {
  /**
   * Accepts the part in any case. A returned promise asks the caller to wait with the next part until the
   * client has read what is buffered.
   */
  write(part: StreamPart): number | Promise<number>;
  /**
   * Ends the body. With an error the connection is cut, so that a client can tell that the body is
   * incomplete.
   */
  close(error?: Error): void;
}

/** The producer of a streamed response body. */
export interface BodySource {
  /** Writes the whole body. It is called once. */
  fill(client: BodySink): Promise<void>;
  /** Called when the client has disconnected. */
  gone(): void;
}
