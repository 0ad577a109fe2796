// All paths below `/v1` that take a body: dialect, meter kind and body kinds of each. A path that is not in
// this table does not exist; there is no pass-through for unknown paths.

import { RefusedError } from "../base/errors.ts";
import { chat } from "../dialect/chat/chat.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { images, imageVariations } from "../dialect/media/images.ts";
import { speech } from "../dialect/media/speech.ts";
import { transcriptions, translations } from "../dialect/media/transcriptions.ts";
import { countTokens, messages } from "../dialect/messages/messages.ts";
import { responses } from "../dialect/responses/responses.ts";
import { completions } from "../dialect/text/completions.ts";
import { embeddings } from "../dialect/text/embeddings.ts";
import { moderations } from "../dialect/text/moderations.ts";
import { rerank } from "../dialect/text/rerank.ts";
import { METERS, type MeterKind } from "./metering/meter-kinds.ts";

/** A path below `/v1` and how it is read and metered. */
export interface GatewayEndpoint {
  readonly path: string;
  readonly dialect: Dialect;
  readonly meter: MeterKind;
  /** The kind of body; `either` is JSON, or a form if the content type says so. */
  readonly takes: "json" | "form" | "either";
  /**
   * What it answers with unless a stream of events was requested. `words` is JSON, or text in the requested
   * format; `sound` is audio bytes.
   */
  readonly answers: "json" | "words" | "sound";
}

const JSON_ONLY = { takes: "json", answers: "json" } as const;

/** All endpoints (contract section 2 names their paths). */
export const GATEWAY_ENDPOINTS: readonly GatewayEndpoint[] = [
  { path: "/v1/chat/completions", dialect: chat, meter: METERS.tokens, ...JSON_ONLY },
  { path: "/v1/messages", dialect: messages, meter: METERS.tokens, ...JSON_ONLY },
  { path: "/v1/messages/count_tokens", dialect: countTokens, meter: METERS.free, ...JSON_ONLY },
  { path: "/v1/responses", dialect: responses, meter: METERS.tokens, ...JSON_ONLY },
  { path: "/v1/completions", dialect: completions, meter: METERS.tokens, ...JSON_ONLY },
  { path: "/v1/embeddings", dialect: embeddings, meter: METERS.embeddings, ...JSON_ONLY },
  { path: "/v1/images/generations", dialect: images, meter: METERS.images, ...JSON_ONLY },
  { path: "/v1/images/edits", dialect: images, meter: METERS.images, takes: "either", answers: "json" },
  {
    path: "/v1/images/variations",
    dialect: imageVariations,
    meter: METERS.images,
    takes: "either",
    answers: "json",
  },
  { path: "/v1/audio/speech", dialect: speech, meter: METERS.speech, takes: "json", answers: "sound" },
  {
    path: "/v1/audio/transcriptions",
    dialect: transcriptions,
    meter: METERS.sound,
    takes: "form",
    answers: "words",
  },
  {
    path: "/v1/audio/translations",
    dialect: translations,
    meter: METERS.sound,
    takes: "form",
    answers: "words",
  },
  { path: "/v1/rerank", dialect: rerank, meter: METERS.rerank, ...JSON_ONLY },
  { path: "/v1/moderations", dialect: moderations, meter: METERS.calls, ...JSON_ONLY },
];

/** Paths that providers of either style have and this service leaves out, each with all paths below it, and why. */
const OMITTED_PATHS: readonly (readonly [path: string, omission: string])[] = [
  ["/v1/realtime", "realtime sessions (WebSocket, WebRTC) are not offered"],
  ["/v1/batches", "batches are not offered, send each request by itself"],
  ["/v1/messages/batches", "batches are not offered, send each request by itself"],
  ["/v1/files", "files are not kept, send the content in the request"],
  ["/v1/uploads", "files are not kept, send the content in the request"],
  ["/v1/vector_stores", "files are not kept, send the content in the request"],
  ["/v1/conversations", "conversations are not created, send the turns in the request"],
  ["/v1/responses/compact", "compaction is not offered"],
  ["/v1/responses/input_tokens", "input tokens are not counted for responses"],
];

/** Returns why a path is left out, as the end of a sentence, or null for a path that no provider has or that is served. */
export const omissionOf = (path: string): string | null =>
  OMITTED_PATHS.find(([omitted]) => path === omitted || path.startsWith(`${omitted}/`))?.[1] ?? null;

/**
 * Returns what is hashed before the body of a request with an Idempotency-Key. No path contains a line break, so the
 * hashed text is unambiguous.
 */
export const hashPrefixOf = (path: string): string => `${path}\n`;

/**
 * Returns the endpoint of a path that a management request names. Throws `RefusedError` (`invalid_parameter`)
 * for an unknown path.
 */
export function findEndpoint(path: string): GatewayEndpoint {
  const found = GATEWAY_ENDPOINTS.find((one) => one.path === path);
  if (found !== undefined) return found;
  const paths = GATEWAY_ENDPOINTS.map((one) => one.path).join(", ");
  throw new RefusedError({ code: "invalid_parameter", message: `"path" must be one of ${paths}.` });
}
