// What a messages request asks for, and the body that goes to the provider. Pure; unknown fields pass, beta ones included.

import type { Json, ModelRequest, Parsed } from "./dialect.ts";
import { broken, type FieldRule, MESSAGES, MODEL, NOT_OFFERED } from "./rules.ts";
import { gather, noWeight, weigh } from "./weight.ts";

const MAX_TOKENS: FieldRule = {
  field: "max_tokens",
  // 0 asks for no answer: it warms the provider's cache.
  rule: "must be an integer of at least 0",
  holds: (v) => Number.isSafeInteger(v) && (v as number) >= 0,
};

/** Checked when present and not null. */
const OPTIONAL: readonly FieldRule[] = [
  { field: "stream", rule: "must be true or false", holds: (v) => typeof v === "boolean" },
  { field: "service_tier", rule: "must be a string", holds: (v) => typeof v === "string" },
  ...NOT_OFFERED,
];

const NEVER_STREAMED: FieldRule = {
  field: "stream",
  rule: "must not be true: tokens are counted in one answer",
  holds: (v) => v !== true,
};

/** Reads a request, or says which field breaks which rule. `text` is the body as it came. */
export function parseMessagesRequest(given: unknown, text: string): Parsed {
  const fault = broken(given, [MODEL, MESSAGES, MAX_TOKENS], OPTIONAL);
  if (fault !== null) return fault;
  const body = given as Json;
  return { ok: true, request: requestOf(body, text, body.max_tokens as number) };
}

/** Reads a request that asks only how many tokens it has: no limit is needed, since nothing is generated. */
export function parseCountRequest(given: unknown, text: string): Parsed {
  const fault = broken(given, [MODEL, MESSAGES], [...OPTIONAL, NEVER_STREAMED]);
  return fault ?? { ok: true, request: requestOf(given as Json, text, 0) };
}

function requestOf(body: Json, text: string, maxOutput: number): ModelRequest {
  const weight = noWeight();
  for (const field of WITH_PARTS) weigh(body[field], weight, true);
  for (const field of READ_BESIDE) weigh(body[field], weight, false);
  return {
    body,
    model: body.model as string,
    stream: body.stream === true,
    n: 1,
    maxOutput,
    // Usage is part of the dialect: nobody has to ask for it.
    includeUsage: true,
    promptBytes: weight.bytes,
    images: weight.images,
    files: weight.files,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    never: [
      "inAudio",
      "outAudio",
      "outImage",
      ...(weight.images > 0 ? [] : (["inImage"] as const)),
      // One-hour cache writes must be asked for by name.
      ...(text.includes('"1h"') ? [] : (["inCacheWrite1h"] as const)),
    ],
  };
}

/** Fields whose parts may be images and documents. */
const WITH_PARTS = ["system", "messages"] as const;
/** What the model reads beside them; its schemas may say {type: "document"} and are text all the same. */
const READ_BESIDE = ["tools", "tool_choice", "output_config"] as const;

/** All text that the model reads, for counting a prompt whose usage nobody gave. Payloads of images and files are left out. */
export function messagesPromptTexts(body: Json): string[] {
  const texts: string[] = [];
  for (const field of WITH_PARTS) gather(body[field], texts, true);
  for (const field of READ_BESIDE) gather(body[field], texts, false);
  return texts;
}
