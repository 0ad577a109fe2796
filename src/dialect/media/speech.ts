// The speech dialect: it turns text into audio, sent as bytes or in events. It is priced by characters or by
// tokens.

import { codePoints } from "../../../actors/code-points.ts";
import type { Dialect, ModelRequest, ParsedRequest, WholeAnswer, WholeBody } from "../dialect.ts";
import type { Json } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import { measuredOf } from "../non-token-usage.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { type FieldRule, MODEL_RULE, NOT_OFFERED, RequestRules } from "../validation.ts";
import { createMediaStream, type MediaEvents, mediaStreamError, NO_CLOSING } from "./media-stream.ts";
import { spokenSeconds } from "./sound-duration.ts";

const INPUT: FieldRule = {
  field: "input",
  rule: "must be a non-empty string",
  holds: (v) => typeof v === "string" && v !== "",
};
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;
const OPTIONAL: readonly FieldRule[] = [
  { field: "response_format", rule: "must be a string", holds: (v) => typeof v === "string" },
  { field: "instructions", rule: "must be a string", holds: (v) => typeof v === "string" },
  {
    field: "stream_format",
    rule: 'must be "audio" or "sse"',
    holds: (v) => v === "audio" || v === "sse",
  },
  {
    field: "speed",
    rule: `must be a number from ${SPEED_MIN} to ${SPEED_MAX}`,
    holds: (v) => typeof v === "number" && v >= SPEED_MIN && v <= SPEED_MAX,
  },
  // In this dialect `speed` is the speed of the voice.
  ...NOT_OFFERED.filter(({ field }) => field !== "speed"),
];

const RULES = new RequestRules([MODEL_RULE, INPUT], OPTIONAL);

const READ: ReadFields = { withParts: ["input", "instructions"] };

const USUAL_FORM = "mp3";
/** A minute of audio is 1,250 tokens; in the densest scripts it takes only 250 characters. */
const TOKENS_PER_CHAR_MAX = 5;
/** Output tokens that are reserved even for the shortest text. */
const TOKENS_MIN = 250;

function parseSpeech(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const body = payload.value as Json;
  const input = body.input as string;
  const bytes = payload.lengthOf(input);
  // Text that a large body leaves out is base64, with one byte per character.
  const chars = bytes > Buffer.byteLength(input) ? bytes : codePoints(input);
  const speed = typeof body.speed === "number" ? body.speed : 1;
  const stream = body.stream_format === "sse";
  const form = typeof body.response_format === "string" ? body.response_format : USUAL_FORM;
  return {
    ok: true,
    request: {
      payload,
      model: body.model as string,
      stream,
      n: 1,
      maxOutput: TOKENS_MIN + Math.ceil((chars * TOKENS_PER_CHAR_MAX) / speed),
      includeUsage: true,
      promptBytes: promptSizeOf(payload, READ).bytes,
      images: 0,
      files: 0,
      serviceTier: null,
      never: ["inAudio", "inImage", "outImage", "inCacheWrite1h"],
      measured: { chars },
      answerForm: stream ? null : form,
    },
  };
}

const promptTexts = ({ payload }: ModelRequest): readonly string[] => promptTextsOf(payload, READ);

/** Whether an answer of this content type is or may be audio, which passes on as bytes. */
export const isSound = (contentType: string): boolean =>
  !/^\s*(text\/|application\/([\w.-]+\+)?(json|xml))/i.test(contentType);

/** Reads an answer. A text instead of audio is an error. */
function readSpeech({ contentType, sound }: WholeBody, { measured, answerForm }: ModelRequest): WholeAnswer {
  if (/\bjson\b/i.test(contentType)) return { ok: false, fault: "error_body" };
  if (!isSound(contentType) || sound === undefined || sound.bytes === 0)
    return { ok: false, fault: "server_error" };
  const seconds = spokenSeconds(answerForm ?? USUAL_FORM, sound.bytes, sound.beginning);
  return {
    ok: true,
    body: null,
    usage: null,
    serviceTier: null,
    texts: [],
    measured: measuredOf(measured, { seconds, estimated: true }),
  };
}

const DELTA = "speech.audio.delta";

/**
 * Base64 holds three bytes in four characters. A stream does not state its format, so the usual one is
 * assumed.
 */
const EVENTS: MediaEvents = {
  lasts: new Set(["speech.audio.done"]),
  generated: new Map([[DELTA, null]]),
  measure: (type, { audio }, before) =>
    type === DELTA && typeof audio === "string"
      ? {
          seconds: (before.seconds ?? 0) + spokenSeconds(USUAL_FORM, audio.length * 0.75, NONE),
          estimated: true,
        }
      : before,
};
const NONE = new Uint8Array(0);

/** The dialect of `/v1/audio/speech`. */
export const speech: Dialect = {
  name: "chat",
  usage: "speech",
  parse: parseSpeech,
  promptTexts,
  upstreamBody: withModelName,
  readAnswer: readSpeech,
  withFingerprint: (text) => text,
  stream: () => createMediaStream(EVENTS),
  closing: NO_CLOSING,
  streamError: mediaStreamError,
};
