// What all requests of text tell the gateway alike. A dialect says where its own differ.

import type { Usage } from "../../actors/pricing/usage.ts";
import type { ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";
import type { PromptSize } from "./prompt-size.ts";

/** Searches of the web that a request is held for when it sets no limit to them. */
export const SEARCHES_LIKELY = 10;

/**
 * A request of one answer without output, for a body whose fields have been checked. `possible`: kinds of token that it may
 * have, or cannot have, against what its parts would let expect.
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
    // One-hour cache writes must be asked for by name.
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
