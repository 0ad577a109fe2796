// What a chat request asks for, and the body that goes to the provider. Pure; unknown fields pass.

import type { Json, ModelRequest, Naming, Parsed } from "./dialect.ts";
import { isObject } from "./json.ts";
import { named } from "./naming.ts";
import { broken, type FieldRule, isPositive, MESSAGES, MODEL, NOT_OFFERED } from "./rules.ts";
import { gather, noWeight, weigh } from "./weight.ts";

const REQUIRED = [MODEL, MESSAGES];

/** Checked when present and not null. */
const OPTIONAL: readonly FieldRule[] = [
  { field: "stream", rule: "must be true or false", holds: (v) => typeof v === "boolean" },
  { field: "stream_options", rule: "must be an object", holds: isObject },
  {
    field: "n",
    rule: "must be an integer from 1 to 128",
    holds: (v) => isPositive(v) && (v as number) <= 128,
  },
  { field: "max_tokens", rule: "must be a positive integer", holds: isPositive },
  { field: "max_completion_tokens", rule: "must be a positive integer", holds: isPositive },
  { field: "service_tier", rule: "must be a string", holds: (v) => typeof v === "string" },
  ...NOT_OFFERED,
];

/** Reads a request, or says which field breaks which rule. `text` is the body as it came. */
export function parseChatRequest(given: unknown, text: string): Parsed {
  const fault = broken(given, REQUIRED, OPTIONAL);
  if (fault !== null) return fault;
  const body = given as Json;
  const limits = [body.max_tokens, body.max_completion_tokens].filter((v) => typeof v === "number");
  const weight = noWeight();
  weigh(body.messages, weight, true);
  for (const field of READ_BESIDE) weigh(body[field], weight, false);
  return {
    ok: true,
    request: {
      body,
      model: body.model as string,
      stream: body.stream === true,
      n: typeof body.n === "number" ? body.n : 1,
      maxOutput: limits.length === 0 ? null : Math.max(...limits),
      includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
      promptBytes: weight.bytes,
      images: weight.images,
      files: weight.files,
      serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
      never: neverIn(body, weight, text),
    },
  };
}

function neverIn(body: Json, weight: { images: number; files: number }, text: string): ModelRequest["never"] {
  const audio = Array.isArray(body.modalities) && body.modalities.includes("audio");
  return [
    ...(weight.files > 0 ? [] : (["inAudio"] as const)),
    ...(weight.images > 0 ? [] : (["inImage"] as const)),
    ...(audio ? [] : (["outAudio"] as const)),
    "outImage",
    // One-hour cache writes must be asked for by name.
    ...(text.includes('"1h"') ? [] : (["inCacheWrite1h"] as const)),
  ];
}

/** What the model reads beside the messages. A JSON schema in there may say {type: "file"} and is text all the same. */
const READ_BESIDE = ["tools", "functions", "response_format", "prediction", "tool_choice"] as const;

/** All text that the model reads, for counting a prompt whose usage nobody gave. Payloads of images and files are left out. */
export function promptTexts(body: Json): string[] {
  const texts: string[] = [];
  gather(body.messages, texts, true);
  for (const field of READ_BESIDE) gather(body[field], texts, false);
  return texts;
}

/** The body for the provider: another model, and the usage chunk asked of every stream where the provider knows how. */
export function upstreamBody(body: Json, naming: Naming): string {
  if (body.stream !== true) return named(body, naming);
  const options = isObject(body.stream_options) ? body.stream_options : {};
  return named({ ...body, stream_options: { ...options, include_usage: true } }, naming);
}
