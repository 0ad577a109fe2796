// The messages dialect: the style of /v1/messages, and of counting tokens below it. Its parts are in the files beside.

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

/** The same style where it only counts: without an output limit, answered with a number, never streamed. */
export const countTokens: Dialect = { ...messages, parse: parseCountRequest, readAnswer: readCount };
