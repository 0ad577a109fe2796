// Builds the part of a `ModelRequest` that all text requests have in common; a dialect overrides what
// differs.

import type { Usage } from "../../actors/pricing/usage.ts";
import type { ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";
import type { PromptSize } from "./prompt-size.ts";

/** Web searches for which a hold is taken when the request sets no limit to them. */
export const SEARCHES_LIKELY = 10;

/**
 * Builds a request for one answer without output from a validated body. `possible` overrides which kinds of
 * token the request can have.
 */
export function textRequest(
  payload: Payload,
  { bytes, images, files }: PromptSize,
  possible: Partial<Record<keyof Usage, boolean>> = {},
): ModelRequest {
  const body = payload.value as Json;
  const kinds = {
    inAudio: files > 0,
    inImage: images > 0,
    outAudio: false,
    outImage: false,
    // A request must name the one-hour cache explicitly.
    inCacheWrite1h: payload.mentions('"1h"'),
    ...possible,
  };
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
    never: (Object.keys(kinds) as (keyof Usage)[]).filter((kind) => !kinds[kind as keyof typeof kinds]),
    measured: {},
    answerForm: null,
  };
}
