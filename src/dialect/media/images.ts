// The images dialect: it generates, edits and varies images. Requests are JSON or a form. Answers are metered
// by the number of images, or by tokens if the provider reports them.

import type { ImageKind } from "../../../actors/pricing/price.ts";
import type { Dialect, ModelRequest, ParsedRequest, WholeAnswer } from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import { measuredOf } from "../non-token-usage.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import {
  type FieldRule,
  MODEL_RULE,
  NOT_OFFERED,
  RequestRules,
  STREAM_RULE,
  upTo128,
} from "../validation.ts";
import { fieldsIn, fileAsField, type Spelt } from "./form-fields.ts";
import { createMediaStream, type MediaEvents, mediaStreamError, NO_CLOSING } from "./media-stream.ts";

const SPELT: Spelt = { n: "number", stream: "boolean" };

const isText = (value: unknown): boolean => typeof value === "string";
const PROMPT: FieldRule = {
  field: "prompt",
  rule: "must be a non-empty string",
  holds: (v) => typeof v === "string" && v !== "",
};
const OPTIONAL: readonly FieldRule[] = [
  upTo128("n"),
  { field: "size", rule: "must be a string", holds: isText },
  { field: "quality", rule: "must be a string", holds: isText },
  STREAM_RULE,
  // In this dialect `background` is the background of the image.
  ...NOT_OFFERED.filter(({ field }) => field !== "background"),
];
const READ_BY_MODEL: ReadFields = { withParts: ["prompt"] };
const READ = ["model", "prompt", "n", "size", "quality", "stream", "speed", "inference_geo"] as const;

const parseWith =
  (rules: RequestRules) =>
  (payload: Payload): ParsedRequest => {
    const given = fieldsIn(payload, SPELT);
    const fault = rules.broken(given) ?? fileAsField(payload, READ);
    if (fault !== null) return fault;
    const body = given as Json;
    const n = typeof body.n === "number" ? body.n : 1;
    if (body.stream === true && n > 1) return STREAMED_MANY;
    return { ok: true, request: requestOf(payload, body, n) };
  };

const STREAMED_MANY: ParsedRequest = {
  ok: false,
  refusal: { code: "invalid_parameter", field: "n", message: "n must be 1 where stream is true" },
};

function requestOf(payload: Payload, body: Json, n: number): ModelRequest {
  const images = payload.files.length + (Array.isArray(body.images) ? body.images.length : 0);
  return {
    payload,
    model: body.model as string,
    stream: body.stream === true,
    n,
    maxOutput: null,
    // Usage is always part of the answer in this dialect.
    includeUsage: true,
    promptBytes: promptSizeOf(payload, READ_BY_MODEL).bytes,
    images,
    files: 0,
    serviceTier: null,
    never: ["inAudio", "outAudio", "inCacheWrite1h", ...(images > 0 ? [] : (["inImage"] as const))],
    measured: { calls: n, image: kindOf(body) },
    answerForm: null,
  };
}

/** Limit of the texts for quality and size, which are kept in memory and in the ledger. */
const NAME_CHARS_MAX = 100;
const isName = (value: unknown): boolean => typeof value === "string" && value.length <= NAME_CHARS_MAX;

/** Returns quality and size if they are present. */
const kindOf = ({ quality, size }: Json): ImageKind => ({
  ...(isName(quality) ? { quality: quality as string } : {}),
  ...(isName(size) ? { size: size as string } : {}),
});

const promptTexts = ({ payload }: ModelRequest): readonly string[] => promptTextsOf(payload, READ_BY_MODEL);

/**
 * Reads an answer. Its quality and size precede those of the request, because the provider decides on `auto`.
 */
function readImages({ text }: { readonly text: string }, { measured }: ModelRequest): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  if (!isObject(body) || statesError(body) || !Array.isArray(body.data))
    return { ok: false, fault: "error_body" };
  if (isCodeAndWords(body) && body.data.length === 0) return { ok: false, fault: "error_body" };
  return {
    ok: true,
    body,
    usage: body.usage ?? null,
    serviceTier: null,
    texts: [],
    measured: measuredOf(measured, { calls: body.data.filter(isObject).length, image: kindOf(body) }),
  };
}

const COMPLETED = ["image_generation.completed", "image_edit.completed"];
const PARTIAL = ["image_generation.partial_image", "image_edit.partial_image"];

/** A partial image may already be usable, so an image counts from its first part on. */
const EVENTS: MediaEvents = {
  lasts: new Set(COMPLETED),
  generated: new Map(PARTIAL.map((type) => [type, null])),
  measure: (type, event, before) =>
    COMPLETED.includes(type) || PARTIAL.includes(type)
      ? { calls: 1, image: { ...before.image, ...kindOf(event) } }
      : before,
};

const base: Omit<Dialect, "parse"> = {
  name: "chat",
  usage: "images",
  promptTexts,
  upstreamBody: withModelName,
  readAnswer: readImages,
  withFingerprint: (text) => text,
  stream: () => createMediaStream(EVENTS),
  closing: NO_CLOSING,
  streamError: mediaStreamError,
};

/** The dialect of `/v1/images/generations` and `/v1/images/edits`. */
export const images: Dialect = {
  ...base,
  parse: parseWith(new RequestRules([MODEL_RULE, PROMPT], OPTIONAL)),
};

/** The dialect of `/v1/images/variations`, which has no prompt. */
export const imageVariations: Dialect = {
  ...base,
  parse: parseWith(new RequestRules([MODEL_RULE], OPTIONAL)),
};
