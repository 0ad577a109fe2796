// A chat provider's stream as a messages client reads it. What goes into which block:
//
//   what comes                              what is written
//   the first event                         message_start, once, with the estimate of the prompt
//   reasoning, text                         a block of its kind, opened by it; another kind closes the one that is open
//   a call, its id and name known           its block; the first call's arguments go out as they come
//   another call, text while one is open    held, and written whole once the open block is closed
//   finish_reason                           the open block is closed, what is held is written
//   usage after it, [DONE], or a good end   message_delta and message_stop: after the charge

import { createChatStream } from "../chat/chat-stream.ts";
import { isObject, type Json } from "../json.ts";
import { createBlockQueue } from "./block-queue.ts";
import { createContentBlocks, event } from "./block-writer.ts";
import { messageHead } from "./message-envelope.ts";
import {
  type CallFragment,
  callsIn,
  isOnlyChoice,
  type SayingKind,
  tellSayings,
} from "./read-chat-message.ts";
import { matchedStop, stopReasonOf } from "./stop-reasons.ts";
import { createCallFinder, type ToolCallDraft } from "./tool-call-assembler.ts";
import { type EventSink, type Rewriter, translatedStream } from "./translated-stream.ts";
import type { AnswerContext, StreamTranslation } from "./translation.ts";
import { messagesUsageOf, openingUsage } from "./usage-translation.ts";

/** A machine that is fed a chat provider's events and gives a messages client's. */
export const messagesStreamOf: StreamTranslation = (context) =>
  translatedStream(
    // Nothing is taken out of what the provider says: usage that the client does not see is metered all the same.
    (listener) => createChatStream({ includeUsage: true, fingerprint: null }, listener),
    (outbox) => createRewriter(context, outbox),
  );

function createRewriter(context: AnswerContext, outbox: EventSink): Rewriter {
  const blocks = createContentBlocks(context, outbox);
  const held = createBlockQueue();
  const callOf = createCallFinder();
  let started = false;
  let writing: ToolCallDraft | null = null;
  let finish: unknown = null;
  let matched: string | null = null;
  let refused = false;
  let finished = false;
  /** What is like the last pattern is said by the choice that the client gets. */
  let alike = false;

  function start(): void {
    if (started) return;
    started = true;
    const message = {
      ...messageHead(context),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: openingUsage(context.promptTokens),
    };
    outbox.write(event("message_start", JSON.stringify({ type: "message_start", message })));
  }

  function say(kind: SayingKind, text: string): void {
    if (writing === null) blocks.say(kind, text);
    else held.say(kind, text);
  }

  function callFragment(fragment: CallFragment): void {
    const call = callOf(fragment);
    if (call === writing) blocks.input(fragment.arguments);
    // A block that is closed cannot be opened again.
    else if (!call.written) {
      held.call(call, fragment);
      if (writing === null && isReady(call) && held.takeFirst(call)) {
        writing = call;
        open(call);
      }
    }
  }

  function open(call: ToolCallDraft): void {
    call.written = true;
    blocks.call(call);
    blocks.input(call.held);
    call.held = "";
  }

  /** Nothing more is waited for: no block stays open, and nothing held. */
  function flush(): void {
    blocks.close();
    writing = null;
    for (const block of held.takeAll()) {
      if (block.kind !== "call") blocks.say(block.kind, block.text);
      else if (block.name !== "") open(block);
    }
    blocks.close();
  }

  function readChoice(choice: Json): void {
    if (isObject(choice.delta)) {
      if (tellSayings(choice.delta, say)) refused = true;
      for (const fragment of callsIn(choice.delta)) callFragment(fragment);
    }
    if (typeof choice.finish_reason !== "string" || choice.finish_reason === "") return;
    finish = choice.finish_reason;
    matched = matchedStop(choice);
    flush();
  }

  return {
    event(chunk, _type, pattern) {
      start();
      const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
      const ours = choices.filter(isObject).filter(isOnlyChoice);
      if (pattern) alike = ours.length > 0;
      ours.forEach(readChoice);
      // What counts a finished answer is the last that anybody waits for: not all hosts close their streams.
      if (choices.length === 0 && isObject(chunk.usage) && finish !== null) finished = true;
    },
    again(words) {
      if (alike) say("text", words);
    },
    get finished() {
      return finished;
    },
    get fault() {
      return held.full ? "the calls are too large to be put in order" : null;
    },
    close(usage, chars) {
      start();
      flush();
      if (blocks.count === 0) blocks.empty();
      const ending = { finish, matched, called: blocks.calls > 0, refused };
      const counted = messagesUsageOf(usage, { promptTokens: context.promptTokens, chars });
      const delta = { type: "message_delta", delta: stopReasonOf(ending), usage: counted };
      outbox.write(event("message_delta", JSON.stringify(delta)));
      outbox.write(event("message_stop", '{"type":"message_stop"}'));
    },
  };
}

const isReady = ({ id, name }: ToolCallDraft): boolean => id !== "" && name !== "";
