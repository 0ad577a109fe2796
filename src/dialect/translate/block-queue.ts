// Queues, in order of arrival, what cannot be written yet: calls without their id or name, and everything
// that arrives while the block of another call is open. It is bounded, because a provider could delay the id
// forever.

import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { ToolCallDraft } from "./tool-call-assembler.ts";

interface Saying {
  readonly kind: SayingKind;
  text: string;
}

/** A block that waits: text, thinking or a call. */
export type QueuedBlock = Saying | ToolCallDraft;

/** The blocks of one stream that wait. */
export interface BlockQueue {
  say(kind: SayingKind, text: string): void;
  /** Queues a call if it is not queued yet, and adds the arguments of this fragment to it. */
  call(call: ToolCallDraft, fragment: CallFragment): void;
  /** Removes the first block if it is this call. Returns whether it was. */
  takeFirst(call: ToolCallDraft): boolean;
  /** Removes and returns all blocks. */
  takeAll(): readonly QueuedBlock[];
  /** Whether the queue has exceeded its bound. */
  readonly full: boolean;
}

const HELD_CHARS_MAX = 16 * 1024 * 1024;
/** Characters that a block counts in addition to its text. */
const BLOCK_CHARS = 256;

/** Creates an empty queue. */
export function createBlockQueue(): BlockQueue {
  let blocks: QueuedBlock[] = [];
  const calls = new Set<ToolCallDraft>();
  let chars = 0;

  function hold(block: QueuedBlock): void {
    blocks.push(block);
    chars += BLOCK_CHARS;
  }

  return {
    say(kind, text) {
      const last = blocks.at(-1);
      if (last !== undefined && last.kind === kind) (last as Saying).text += text;
      else hold({ kind, text });
      chars += text.length;
    },
    call(call, { id, name, arguments: json }) {
      if (!calls.has(call)) hold(call);
      calls.add(call);
      call.held += json;
      chars += id.length + name.length + json.length;
    },
    takeFirst(call) {
      if (blocks[0] !== call) return false;
      blocks.shift();
      calls.delete(call);
      return true;
    },
    takeAll() {
      const all = blocks;
      blocks = [];
      calls.clear();
      return all;
    },
    get full() {
      return chars > HELD_CHARS_MAX;
    },
  };
}
