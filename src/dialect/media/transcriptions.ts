// The dialects of transcription and of translation into English: they turn an audio file into text. They are
// priced by duration or by tokens. The duration comes from the file's header, from the answer, or is
// estimated from the file's size.

import type {
  Dialect,
  ModelRequest,
  NonTokenUsage,
  ParsedRequest,
  WholeAnswer,
  WholeBody,
} from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { withModelName } from "../model-alias.ts";
import { measuredOf } from "../non-token-usage.ts";
import { isForm } from "../payload/form-parts.ts";
import type { Payload } from "../payload/payload.ts";
import {
  type FieldRule,
  MODEL_RULE,
  NOT_OFFERED,
  neverStreamed,
  RequestRules,
  STREAM_RULE,
} from "../validation.ts";
import { fieldsIn, fileAsField, type Spelt } from "./form-fields.ts";
import { createMediaStream, type MediaEvents, mediaStreamError, NO_CLOSING } from "./media-stream.ts";
import { secondsAtMost } from "./sound-duration.ts";
import { subtitleSeconds, subtitleWords } from "./subtitles.ts";
import { wavSeconds } from "./wav-duration.ts";

const SPELT: Spelt = { stream: "boolean", background: "boolean" };
const isText = (value: unknown): boolean => typeof value === "string";
const OPTIONAL: readonly FieldRule[] = [
  { field: "response_format", rule: "must be a string", holds: isText },
  { field: "prompt", rule: "must be a string", holds: isText },
  STREAM_RULE,
  ...NOT_OFFERED,
];
const READ = [
  "model",
  "response_format",
  "prompt",
  "stream",
  "speed",
  "inference_geo",
  "background",
] as const;

const refuse = (
  code: "missing_parameter" | "invalid_parameter",
  field: string,
  rule: string,
): ParsedRequest => ({
  ok: false,
  refusal: { code, field, message: `${field} ${rule}` },
});

const parseWith =
  (rules: RequestRules) =>
  (payload: Payload): ParsedRequest => {
    if (!isForm(payload.contentType)) {
      return refuse("invalid_parameter", "body", "must be a form (multipart/form-data) with a file");
    }
    const given = fieldsIn(payload, SPELT);
    const fault = rules.broken(given) ?? fileAsField(payload, READ);
    if (fault !== null) return fault;
    const sounds = payload.files.filter(({ field }) => field === "file");
    if (sounds.length === 0) return refuse("missing_parameter", "file", "is required");
    if (sounds.length > 1) return refuse("invalid_parameter", "file", "must be one file");
    return { ok: true, request: requestOf(payload, given as Json, audioInput(sounds[0]!.bytes)) };
  };

/** Answer formats that are not JSON. */
const PLAIN_FORMS: ReadonlySet<unknown> = new Set(["text", "srt", "vtt"]);
/** Upper bound for fast speech, which also covers silence. */
const WORD_TOKENS_PER_SECOND_MAX = 8;
const WORD_TOKENS_MIN = 250;

function requestOf(payload: Payload, body: Json, measured: NonTokenUsage): ModelRequest {
  const form = body.response_format;
  return {
    payload,
    model: body.model as string,
    stream: body.stream === true,
    n: 1,
    maxOutput: WORD_TOKENS_MIN + Math.ceil((measured.seconds ?? 0) * WORD_TOKENS_PER_SECOND_MAX),
    includeUsage: true,
    promptBytes: typeof body.prompt === "string" ? Buffer.byteLength(body.prompt) : 0,
    images: 0,
    files: 0,
    serviceTier: null,
    never: ["inImage", "outAudio", "outImage", "inCacheWrite1h"],
    measured,
    // This is set for streams too, because models that cannot stream send a whole answer in this format.
    answerForm: PLAIN_FORMS.has(form) ? (form as string) : null,
  };
}

function audioInput(file: Uint8Array): NonTokenUsage {
  const seconds = wavSeconds(file);
  return seconds === null ? { seconds: secondsAtMost(file), estimated: true } : { seconds };
}

function promptTexts({ payload }: ModelRequest): readonly string[] {
  const { prompt } = payload.value as Json;
  return typeof prompt === "string" && prompt !== "" ? [prompt] : [];
}

/** Reads an answer: JSON, or the text of another format if the client requested one. */
function readTranscript(
  { text, contentType }: WholeBody,
  { answerForm, measured }: ModelRequest,
): WholeAnswer {
  const isJson = /\bjson\b/i.test(contentType);
  if (answerForm !== null && !isJson) return readPlain(text, contentType, answerForm, measured);
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  // Some hosts send the text as a JSON string.
  if (typeof body === "string") return wholeAnswer(null, [body], null, measured);
  if (!isObject(body) || statesError(body)) return { ok: false, fault: "error_body" };
  if (typeof body.text !== "string" && !Array.isArray(body.segments))
    return { ok: false, fault: "error_body" };
  if (typeof body.text !== "string" && isCodeAndWords(body)) return { ok: false, fault: "error_body" };
  return wholeAnswer(body, textsOf(body), durationOf(body), measured);
}

function readPlain(text: string, contentType: string, form: string, requested: NonTokenUsage): WholeAnswer {
  if (/\bhtml\b/i.test(contentType)) return { ok: false, fault: "server_error" };
  const body = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (isObject(body) && (statesError(body) || isCodeAndWords(body)))
    return { ok: false, fault: "error_body" };
  if (form === "text") return wholeAnswer(null, [text], null, requested);
  return wholeAnswer(null, [subtitleWords(text)], subtitleSeconds(text), requested);
}

function wholeAnswer(
  body: Json | null,
  texts: readonly string[],
  stated: number | null,
  requested: NonTokenUsage,
): WholeAnswer {
  return {
    ok: true,
    body,
    usage: body?.usage ?? null,
    serviceTier: null,
    texts: texts.filter((one) => one.trim() !== ""),
    measured: measuredOf(requested, stated === null ? {} : { seconds: stated }),
  };
}

const isDuration = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= SECONDS_MAX;
const SECONDS_MAX = 360_000;

/** Returns `duration`, a number or a numeric string, otherwise the latest end of a segment or a word. */
function durationOf(body: Json): number | null {
  const stated = typeof body.duration === "string" ? Number.parseFloat(body.duration) : body.duration;
  if (isDuration(stated)) return stated;
  let last: number | null = null;
  for (const list of [body.segments, body.words]) {
    if (!Array.isArray(list)) continue;
    for (const one of list) if (isObject(one) && isDuration(one.end)) last = Math.max(last ?? 0, one.end);
  }
  return last;
}

function textsOf(body: Json): string[] {
  if (typeof body.text === "string") return [body.text];
  return (body.segments as unknown[]).flatMap((one) =>
    isObject(one) && typeof one.text === "string" ? [one.text] : [],
  );
}

const EVENTS: MediaEvents = {
  lasts: new Set(["transcript.text.done"]),
  generated: new Map([
    ["transcript.text.delta", "delta"],
    // With several speakers, segments repeat the text of the deltas by speaker.
    ["transcript.text.segment", null],
  ]),
  measure: (_type, event, before) => {
    const seconds = durationOf({ segments: [event], ...event });
    return seconds === null ? before : { seconds: Math.max(seconds, before.seconds ?? 0) };
  },
};

/** The dialect of `/v1/audio/transcriptions`. */
export const transcriptions: Dialect = {
  name: "chat",
  usage: "transcription",
  parse: parseWith(new RequestRules([MODEL_RULE], OPTIONAL)),
  promptTexts,
  upstreamBody: withModelName,
  readAnswer: readTranscript,
  withFingerprint: (text) => text,
  stream: () => createMediaStream(EVENTS),
  closing: NO_CLOSING,
  streamError: mediaStreamError,
};

/** The dialect of `/v1/audio/translations`, which is never streamed. */
export const translations: Dialect = {
  ...transcriptions,
  parse: parseWith(new RequestRules([MODEL_RULE], [...OPTIONAL, neverStreamed("translations come")])),
};
