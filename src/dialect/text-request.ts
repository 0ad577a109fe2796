// Builds the part of a `ModelRequest` that all text requests have in common; a dialect overrides what
// differs.

import type { Usage } from "../../actors/pricing/usage.ts";
import type { ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import { NO_NON_TOKEN_USAGE } from "./non-token-usage.ts";
import type { Payload } from "./payload/payload.ts";
import type { PromptSize } from "./prompt-size.ts";

/** Web searches for which a hold is taken when the request sets no limit to them. */
export const SEARCHES_LIKELY = 10;

/** Kinds of token that not every text request can have; those that are omitted keep their default. */
export interface PossibleKinds {
  /** True by default if there are files. */
  readonly inAudio?: boolean;
  readonly outAudio?: boolean;
  readonly outImage?: boolean;
  /** True by default, as `inCacheWrite`. */
  readonly inCached?: boolean;
  readonly inCacheWrite?: boolean;
}

/** A request that its dialect is still filling in. */
export type TextRequest = { -readonly [F in keyof ModelRequest]: ModelRequest[F] };

/**
 * Builds a request for one answer without output from a validated body. `possible` overrides which kinds of
 * token the request can have.
 */
export function textRequest(
  payload: Payload,
  { bytes, images, files }: PromptSize,
  possible: PossibleKinds = ALL_DEFAULT,
): TextRequest {
  const body = payload.value as Json;
  const { inAudio = files > 0, outAudio = false, outImage = false } = possible;
  const { inCached = true, inCacheWrite = true } = possible;
  // A request must name the one-hour cache explicitly.
  const inCacheWrite1h = payload.mentions('"1h"');
  const kinds = [inAudio, images > 0, outAudio, outImage, inCacheWrite1h, inCached, inCacheWrite];
  return {
    payload,
    model: body.model as string,
    stream: body.stream === true,
    n: 1,
    maxOutput: 0,
    includeUsage: true,
    promptBytes: bytes,
    images,
    files,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    never: neverWith(kinds),
    measured: NO_NON_TOKEN_USAGE,
    answerForm: null,
  };
}

const ALL_DEFAULT: PossibleKinds = {};

const KINDS = [
  "inAudio",
  "inImage",
  "outAudio",
  "outImage",
  "inCacheWrite1h",
  "inCached",
  "inCacheWrite",
] as const;

/** Each list once, so that the prices of a worst case are found by the list itself; by one bit for each possible kind. */
const lists: (readonly (keyof Usage)[])[] = [];

/** Returns the kinds that are not possible; `possible` is in the order of `KINDS`. */
function neverWith(possible: readonly boolean[]): readonly (keyof Usage)[] {
  let bits = 0;
  for (let i = 0; i < KINDS.length; i++) if (possible[i]) bits |= 1 << i;
  const kept = lists[bits];
  if (kept !== undefined) return kept;
  const made = KINDS.filter((_, i) => !possible[i]);
  lists[bits] = made;
  return made;
}
