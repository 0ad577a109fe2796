// What cannot be written yet, in the order in which it came: calls without their id or name, and all that arrives while the
// block of another call is open. Bounded: a provider could hold back for ever.

import type { CallFragment, SayingKind } from "./read-chat-message.ts";
import type { ToolCallDraft } from "./tool-call-assembler.ts";

interface Saying {
  readonly kind: SayingKind;
  text: string;
}

export type QueuedBlock = Saying | ToolCallDraft;

export interface BlockQueue {
  say(kind: SayingKind, text: string): void;
  /** Holds a call back, once, with what this fragment adds to it. */
  call(call: ToolCallDraft, fragment: CallFragment): void;
  /** Takes the first block, if it is this call. */
  takeFirst(call: ToolCallDraft): boolean;
  /** Takes everything. */
  takeAll(): readonly QueuedBlock[];
  /** More has been held back than a server may keep for one stream. */
  readonly full: boolean;
}

const HELD_CHARS_MAX = 16 * 1024 * 1024;
/** What a block weighs beside its text. */
const BLOCK_CHARS = 256;

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
