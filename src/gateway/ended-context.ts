// A request to a model whose work is done, as those see it who count and log it. Types alone: `RunningRequest` and the
// requests for stored responses fill them.

import type { ChargeFacts } from "../../actors/account/state.ts";
import type { ApiKeyId, ProviderKeyId } from "../../actors/ids.ts";
import type { Caller } from "./account/identify.ts";
import type { RequestTrace } from "./request-trace.ts";

/** How a request without a charge ended. `status` is null when the client got none. */
export interface RequestEnd {
  readonly status: number | null;
  readonly code: string | null;
}

/** Times of the attempts of an answered request, in ms. */
export interface UpstreamTimes {
  /** The attempt that answered, until its first byte, or the first content of a stream. */
  readonly firstMs: number;
  /** All attempts; the one that answered until its whole answer was read, or until the first content of a stream. */
  readonly attemptsMs: number;
}

/** A request whose work is done, as counts and the access log see it. */
export interface EndedContext {
  /** The response's x-request-id. */
  readonly requestId: string;
  /** Wall-clock ms. */
  readonly startedAtMs: number;
  readonly identifiedAs: Caller | null;
  readonly admittedKey: ApiKeyId | null;
  readonly end: RequestEnd | null;
  readonly method: string;
  /** The path's pattern: parts that name an object stand in braces. */
  readonly path: string;
  /** Monotonic ms at which it arrived, and at which its response began; 0 where it ended at once. */
  readonly arrivedMs: number;
  readonly respondedMs: number;
  /** What was charged, or should have been when `end` says why it was not; null for nothing. */
  readonly charge: ChargeFacts | null;
  /** The candidate that has or had the hold; null before admission. */
  readonly route: { readonly level: number } | null;
  /** The name of that candidate's model; see `modelLabelOf`. Null before admission. */
  readonly modelLabel: string | null;
  /** The provider key that answered; null when none did. */
  readonly answeredBy: ProviderKeyId | null;
  /** The answer is a stream. */
  readonly isStream: boolean;
  readonly upstream: UpstreamTimes | null;
  /** Returns the bytes of the answer's body that were sent; null for errors. */
  bodyBytes(): number | null;
}

/** A request whose end is observed once. */
export interface ObservedContext extends EndedContext {
  /** Its trace; null where it has none. */
  readonly trace: RequestTrace | null;
  /** Returns true for the first call alone. */
  observeOnce(): boolean;
}
