// The translations of answers: each pair of a provider's and a client's style combines the provider's reader with the
// client's writer. It never throws.

import { createChatStream } from "../chat/chat-stream.ts";
import type { StreamListener, StreamMachine, StreamOptions } from "../dialect.ts";
import type { Json } from "../json.ts";
import { createMessagesStream } from "../messages/messages-stream.ts";
import { answerOfCompletion } from "./read-chat-answer.ts";
import { ChatAnswerReader } from "./read-chat-stream.ts";
import { answerOfMessage } from "./read-messages-answer.ts";
import { MessagesAnswerReader } from "./read-messages-stream.ts";
import { type AnswerSource, translatedStream } from "./translated-stream.ts";
import type { AnswerContext, StreamTranslation } from "./translation.ts";
import { completionFrom } from "./write-chat-answer.ts";
import { ChatStreamWriter } from "./write-chat-stream.ts";
import { messageFrom } from "./write-messages-answer.ts";
import { MessagesStreamWriter } from "./write-messages-stream.ts";
import { responseFrom } from "./write-responses-answer.ts";
import { ResponsesStreamWriter } from "./write-responses-stream.ts";

/** Returns a messages client's answer of a chat provider's body, which `readChatAnswer` has accepted. */
export const messagesAnswerOf = (chat: Json, context: AnswerContext): Json =>
  messageFrom(answerOfCompletion(chat), context);

/** Returns a chat client's answer of a messages provider's body, which `readMessage` has accepted. */
export const chatAnswerOf = (message: Json, context: AnswerContext): Json =>
  completionFrom(answerOfMessage(message), context);

/** Returns a responses client's answer of a chat provider's body. */
export const responsesAnswerOfChat = (chat: Json, context: AnswerContext): Json =>
  responseFrom(answerOfCompletion(chat), context);

/** Returns a responses client's answer of a messages provider's body. */
export const responsesAnswerOfMessages = (message: Json, context: AnswerContext): Json =>
  responseFrom(answerOfMessage(message), context);

const CHAT: AnswerSource = {
  usage: "chat",
  // Usage stays in the provider's events, because it is metered even if the client does not see it.
  machine: (_: StreamOptions, listener: StreamListener): StreamMachine =>
    createChatStream({ includeUsage: true, fingerprint: null }, listener),
  reader: (writer) => new ChatAnswerReader(writer),
};

const MESSAGES: AnswerSource = {
  usage: "messages",
  machine: createMessagesStream,
  reader: (writer, sink) => new MessagesAnswerReader(writer, (text) => sink.write(`: ${text}\n\n`)),
};

/** Creates a machine that reads a chat provider's events and writes a messages client's. */
export const messagesStreamOf: StreamTranslation = (context, options) =>
  translatedStream(CHAT, options, (sink) => new MessagesStreamWriter(context, sink));

/** Creates a machine that reads a messages provider's events and writes a chat client's. */
export const chatStreamOf: StreamTranslation = (context, options) =>
  translatedStream(MESSAGES, options, (sink) => new ChatStreamWriter(context, options, sink));

/** Creates a machine that reads a chat provider's events and writes a responses client's. */
export const responsesStreamOfChat: StreamTranslation = (context, options) =>
  translatedStream(CHAT, options, (sink) => new ResponsesStreamWriter(context, sink));

/** Creates a machine that reads a messages provider's events and writes a responses client's. */
export const responsesStreamOfMessages: StreamTranslation = (context, options) =>
  translatedStream(MESSAGES, options, (sink) => new ResponsesStreamWriter(context, sink));
