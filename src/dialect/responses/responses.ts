// The responses dialect: the style of /v1/responses. Its parts are in the files beside.

import type { Dialect } from "../dialect.ts";
import { withModelName } from "../model-alias.ts";
import { readResponse } from "./responses-answer.ts";
import { isKept, madeBy, referencesOf } from "./responses-objects.ts";
import { parseResponsesRequest, responsesPromptTexts } from "./responses-request.ts";
import { createResponsesStream, responsesStreamError } from "./responses-stream.ts";

export const responses: Dialect = {
  name: "chat",
  usage: "responses",
  parse: parseResponsesRequest,
  objects: { referencesOf, isKept, madeBy },
  promptTexts: responsesPromptTexts,
  upstreamBody: withModelName,
  readAnswer: readResponse,
  // The dialect has no fingerprint.
  withFingerprint: (text) => text,
  stream: createResponsesStream,
  // Its last event carries the whole answer: nobody but the provider can say it.
  closing: new Uint8Array(0),
  streamError: (error) => responsesStreamError(error, 0),
};
