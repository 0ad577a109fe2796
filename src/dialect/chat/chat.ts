// Combines the parts of the chat dialect, the style of /v1/chat/completions.

import type { Dialect } from "../dialect.ts";
import { withSignedCalls } from "./call-signatures.ts";
import { readChatAnswer, withFingerprint } from "./chat-answer.ts";
import { parseChatRequest, promptTexts, upstreamBody } from "./chat-request.ts";
import { CHAT_DONE, chatStreamError, createChatStream } from "./chat-stream.ts";

/** The dialect of `/v1/chat/completions`. */
export const chat: Dialect = {
  name: "chat",
  usage: "chat",
  parse: parseChatRequest,
  promptTexts,
  upstreamBody,
  withSignedCalls,
  readAnswer: readChatAnswer,
  withFingerprint,
  stream: createChatStream,
  closing: CHAT_DONE,
  streamError: chatStreamError,
};
