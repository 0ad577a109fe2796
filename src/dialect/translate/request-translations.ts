// The translations of requests: the reader of each client style joined with the writer of each provider style that it
// reaches.

import type { Json } from "../json.ts";
import { createToolNames } from "./identifiers.ts";
import { readChatRequest } from "./read-chat-request.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { readResponsesRequest } from "./read-responses-request.ts";
import type { RequestReader, RequestWriter } from "./request-form.ts";
import type { ModelFacts, TranslatedRequest } from "./translation.ts";
import { createRefusals } from "./translation-errors.ts";
import { CHAT_WRITER } from "./write-chat-request.ts";
import { MESSAGES_WRITER } from "./write-messages-request.ts";

/**
 * Translates a validated request of one style, or returns why it cannot be translated. `promptTokens` is an estimate of
 * its prompt.
 */
type RequestTranslation = (body: Json, model: ModelFacts, promptTokens?: number) => TranslatedRequest;

/** Joins the reader of the client's style with the writer of the provider's. */
const requestTranslation =
  (read: RequestReader, { toolNameLengthMax, hasDocumentUrls, write }: RequestWriter): RequestTranslation =>
  (body, model, promptTokens = 0) => {
    const refusals = createRefusals();
    const names = createToolNames(toolNameLengthMax);
    const form = read(body, { names, refusals, provider: model.provider, hasDocumentUrls });
    return refusals.first === null
      ? { ok: true, body: write(form, model, promptTokens), toolNames: names.renamed }
      : { ok: false, refusal: refusals.first };
  };

/** Chat requests at a messages provider. */
export const messagesRequestOf = requestTranslation(readChatRequest, MESSAGES_WRITER);
/** Messages requests at a chat provider. */
export const chatRequestOf = requestTranslation(readMessagesRequest, CHAT_WRITER);
/** Responses requests at a chat provider. */
export const chatRequestOfResponses = requestTranslation(readResponsesRequest, CHAT_WRITER);
/** Responses requests at a messages provider. */
export const messagesRequestOfResponses = requestTranslation(readResponsesRequest, MESSAGES_WRITER);
