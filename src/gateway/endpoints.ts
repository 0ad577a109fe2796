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
