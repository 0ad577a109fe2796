// Writes the content of a messages stream: blocks one after the other, never two open, numbered without a gap. A block is
// opened by what is in it and never ahead.

import { callBlock, sayingBlock } from "./message-envelope.ts";
import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";

export interface ContentBlocks {
  /** Blocks opened so far, and the calls among them. */
  readonly count: number;
  readonly calls: number;
  /** Says more, in the open block if it is of this kind. */
  say(kind: SayingKind, text: string): void;
  /** Opens a call's block; `input` then writes into it. */
  call(call: Pick<CallFragment, "id" | "name">): void;
  input(json: string): void;
  /** Closes what is open. */
  close(): void;
  /** An empty text, for an answer without any content. */
  empty(): void;
}

/** An event in the form of the wire; `json` is one line. */
export const event = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

const DELTAS = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  call: ["input_json_delta", "partial_json"],
} as const;

const AFTER_DELTA = "}}\n\n";

export function createContentBlocks(context: AnswerContext, outbox: EventSink): ContentBlocks {
  let open: SayingKind | "call" | null = null;
  let count = 0;
  let calls = 0;
  /** All of a delta's event before its words: they are most of a stream, and differ in nothing else. */
  let beforeDelta = "";

  function begin(kind: SayingKind | "call", block: unknown): void {
    close();
    const index = count++;
    const [type, field] = DELTAS[kind];
    beforeDelta = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${field}":`;
    open = kind;
    const start = { type: "content_block_start", index, content_block: block };
    const text = event("content_block_start", JSON.stringify(start));
    if (kind === "call") outbox.content(text);
    else outbox.write(text);
  }

  const delta = (words: string): void => outbox.content(beforeDelta + JSON.stringify(words) + AFTER_DELTA);

  function close(): void {
    if (open === null) return;
    const index = count - 1;
    // Clients take no thinking for finished without a signature, though there is none to give.
    if (open === "thinking") {
      const signature = `{"type":"content_block_delta","index":${index},"delta":{"type":"signature_delta","signature":""}}`;
      outbox.write(event("content_block_delta", signature));
    }
    outbox.write(event("content_block_stop", `{"type":"content_block_stop","index":${index}}`));
    open = null;
  }

  return {
    get count() {
      return count;
    },
    get calls() {
      return calls;
    },
    say(kind, text) {
      if (open !== kind) begin(kind, sayingBlock(kind, ""));
      delta(text);
    },
    call: (call) => begin("call", callBlock(context, calls++, call, {})),
    input(json) {
      if (json !== "") delta(json);
    },
    close,
    empty() {
      begin("text", sayingBlock("text", ""));
      close();
    },
  };
}
