// The chat dialect: the style of /v1/chat/completions. Its parts are in the files beside.

import type { Dialect } from "../dialect.ts";
import { readChatAnswer, withFingerprint } from "./chat-answer.ts";
import { parseChatRequest, promptTexts, upstreamBody } from "./chat-request.ts";
import { CHAT_DONE, chatStreamError, createChatStream } from "./chat-stream.ts";

export const chat: Dialect = {
  name: "chat",
  usage: "chat",
  parse: parseChatRequest,
  promptTexts,
  upstreamBody,
  readAnswer: readChatAnswer,
  withFingerprint,
  stream: createChatStream,
  closing: CHAT_DONE,
  streamError: chatStreamError,
};
