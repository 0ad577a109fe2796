// Translates a chat provider's stream for a messages client:
//
//   provider sends                          client receives
//   the first event                         message_start, once, with the estimated prompt tokens
//   reasoning, text                         a block of its kind; a block of another kind is closed first
//   a call with id and name                 its block; the arguments of the first call are streamed
//   other calls, text during a call         nothing yet: they are queued until the open block is closed
//   finish_reason                           the end of the open block, then all queued blocks
//   usage after it, [DONE], or a good end   message_delta and message_stop, after the charge

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

/** Creates a machine that reads a chat provider's events and writes a messages client's. */
export const messagesStreamOf: StreamTranslation = (context) =>
  translatedStream(
    // `includeUsage` keeps usage in the provider's events, because it is metered even if the client does not
    // see it.
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
  /** Whether the last pattern belongs to the choice that the client receives. */
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
    // A closed block cannot be opened again, so further fragments of its call are dropped.
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

  /** Closes the open block and writes all queued blocks. */
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
      // Usage after the finish reason ends the answer, because some hosts never close their streams.
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
