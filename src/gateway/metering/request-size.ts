// What a request says about its size, from which its hold is estimated. A pure function of the parsed request.

import type { Usage } from "../../../actors/pricing/usage.ts";
import type { ModelRequest, NonTokenUsage } from "../../dialect/dialect.ts";
import { type Demands, demandsOf } from "../../dialect/request-demands.ts";
import { estimateTokens } from "./token-counter.ts";

/** What a request says about its size. */
export interface RequestSize {
  readonly promptTokens: number;
  /** The client's output limit in tokens; null when it sent none. */
  readonly maxOutput: number | null;
  /** The number of choices; each may use the whole output. */
  readonly n: number;
  /** The number of independent texts; each may fill the model's context window. */
  readonly inputs: number;
  readonly serviceTier: string | null;
  /** Kinds of tokens that this request cannot use. */
  readonly never: readonly (keyof Usage)[];
  /** What it can use besides tokens. */
  readonly measured: NonTokenUsage;
  /** What it demands beyond its model; omitted when nothing. */
  readonly demands?: Demands;
}

/**
 * Returns the size of a request, from which its hold is estimated. `kept` is the number of tokens of stored
 * objects that the request refers to and the provider reads with it.
 */
export const sizeOf = (request: ModelRequest, kept = 0): RequestSize => ({
  promptTokens:
    kept +
    (request.promptTokens ??
      estimateTokens({ bytes: request.promptBytes, images: request.images, files: request.files })),
  maxOutput: request.maxOutput,
  n: request.n,
  inputs: request.inputs ?? 1,
  serviceTier: request.serviceTier,
  never: request.never,
  measured: request.measured,
  demands: demandsOf(request.payload.value),
});
