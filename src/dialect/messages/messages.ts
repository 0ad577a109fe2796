// Combines the parts of the messages dialect, the style of /v1/messages and of the token count below it.

import type { Dialect } from "../dialect.ts";
import { readCount, readMessage } from "./messages-answer.ts";
import { messagesStreamError } from "./messages-error.ts";
import {
  messagesPromptTexts,
  messagesUpstreamBody,
  parseCountRequest,
  parseMessagesRequest,
} from "./messages-request.ts";
import { createMessagesStream, MESSAGE_STOP } from "./messages-stream.ts";

/** The dialect of `/v1/messages`. */
export const messages: Dialect = {
  name: "messages",
  usage: "messages",
  parse: parseMessagesRequest,
  promptTexts: messagesPromptTexts,
  upstreamBody: messagesUpstreamBody,
  readAnswer: readMessage,
  // The dialect has no fingerprint.
  withFingerprint: (text) => text,
  stream: createMessagesStream,
  closing: MESSAGE_STOP,
  streamError: messagesStreamError,
};

/** The dialect of the token count: requests have no output limit, answers are a number and never streamed. */
export const countTokens: Dialect = { ...messages, parse: parseCountRequest, readAnswer: readCount };
