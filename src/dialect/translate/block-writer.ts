// Writes the content blocks of a messages stream: one after the other, at most one open, numbered without
// gaps. A block is opened only when it has content.

import { callBlock, sayingBlock } from "./message-envelope.ts";
import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";

/** The content blocks of one stream. */
export interface ContentBlocks {
  /** Number of blocks opened so far. */
  readonly count: number;
  /** Number of calls among them. */
  readonly calls: number;
  /** Appends text to the open block if it has this kind, otherwise to a new one. */
  say(kind: SayingKind, text: string): void;
  /** Opens the block of a call, to which `input` then appends. */
  call(call: Pick<CallFragment, "id" | "name">): void;
  input(json: string): void;
  /** Closes the open block, if any. */
  close(): void;
  /** Writes an empty text block, for an answer without content. */
  empty(): void;
}

/** Returns an event as it is sent; `json` must be one line. */
export const event = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

const DELTAS = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  call: ["input_json_delta", "partial_json"],
} as const;

const AFTER_DELTA = "}}\n\n";

/** Creates the writer of one stream. */
export function createContentBlocks(context: AnswerContext, outbox: EventSink): ContentBlocks {
  let open: SayingKind | "call" | null = null;
  let count = 0;
  let calls = 0;
  /** The text of a delta event before its string, in which alone the deltas of a block differ. */
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
    // Clients require a signature at the end of thinking, so an empty one is sent.
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
