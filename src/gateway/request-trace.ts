// The contract of traces: what the gateway reports of one request while it runs. The gateway knows nothing of how
// spans are made or exported, and a request without a trace pays one comparison at each of these places. A trace
// never holds content, credentials or the names of accounts.

import type { AttemptRow, ChargeFacts } from "../../actors/account/state.ts";
import type { LevelKey } from "../../actors/level/view.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { GatewayCall } from "./call.ts";
import type { GatewayEndpoint } from "./endpoints.ts";

/** What is known of a request when its trace begins. */
export interface TracedRequest {
  readonly requestId: string;
  /** When it arrived, wall-clock milliseconds, and the same on the monotonic clock. */
  readonly startedAtMs: number;
  readonly arrivedMs: number;
  readonly call: Pick<GatewayCall, "headers">;
  readonly endpoint: Pick<GatewayEndpoint, "path">;
  /** The name of the model that has the hold now, from the Owner's tables and never from the client; null before admission. */
  readonly modelLabel: string | null;
}

/** An attempt whose span begins. */
export interface TracedAttempt {
  readonly key: Pick<LevelKey, "id" | "level" | "provider" | "config">;
  readonly stream: boolean;
}

/** What a trace reads of a request that has ended. */
export interface TracedEnd {
  /** What was charged, or should have been when `end` says why it was not; null for nothing. */
  readonly charge: ChargeFacts | null;
  /** How it ended without a charge: the client's status, null when it got none. */
  readonly end: { readonly status: number | null } | null;
  readonly isStream: boolean;
  /** Milliseconds from the begin of the attempt that answered to its first byte, or the first content of a stream. */
  readonly upstream: { readonly firstMs: number } | null;
}

/** Begins the traces of this node. */
export interface RequestTracer {
  /**
   * Returns the trace of a request whose caller is known, or null when it has none: it was not sampled, and its client sent no
   * context.
   */
  begin(request: TracedRequest): RequestTrace | null;
}

/** The trace of one request. Reports after its end do nothing. */
export interface RequestTrace {
  /** Begins the span of an attempt, and returns the headers that carry the context to the provider. */
  attemptBegan(attempt: TracedAttempt): HeaderRecord;
  /** Ends the span of an attempt that failed before it answered. */
  attemptFailed(row: AttemptRow): void;
  /** Ends the trace, and with it the span of the attempt that answered. `code` is null for a complete answer; see `codeOf`. */
  ended(request: TracedEnd, code: string | null): void;
}
