// Combines the parts of the responses dialect, the style of /v1/responses.

import type { Dialect } from "../dialect.ts";
import { readResponse } from "./responses-answer.ts";
import { isKept, madeBy, reasoningOf, referencesOf } from "./responses-objects.ts";
import {
  parseResponsesRequest,
  responsesPromptTexts,
  responsesUpstreamBody,
  withoutReasoning,
} from "./responses-request.ts";
import { createResponsesStream, responsesStreamError } from "./responses-stream.ts";

/** The dialect of `/v1/responses`. */
export const responses: Dialect = {
  name: "chat",
  usage: "responses",
  parse: parseResponsesRequest,
  objects: { referencesOf, reasoningOf, isKept, madeBy },
  promptTexts: responsesPromptTexts,
  upstreamBody: responsesUpstreamBody,
  withoutReasoning,
  readAnswer: readResponse,
  // The dialect has no fingerprint.
  withFingerprint: (text) => text,
  stream: createResponsesStream,
  // The last event carries the whole answer, so only the provider can send it.
  closing: new Uint8Array(0),
  streamError: (error) => responsesStreamError(error, 0),
};
