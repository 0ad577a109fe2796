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

const HELD_CHARS_MAX = 16 * 1024 * 1024;
/** Characters that a block counts in addition to its text. */
const BLOCK_CHARS = 256;

/** The blocks of one stream that wait. */
export class BlockQueue {
  #blocks: QueuedBlock[] = [];
  readonly #calls = new Set<ToolCallDraft>();
  #chars = 0;

  text(kind: SayingKind, text: string): void {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.kind !== "call" && last.kind === kind) last.text += text;
    else this.#add({ kind, text });
    this.#chars += text.length;
  }

  /** Queues a call if it is not queued yet, and adds the arguments of this fragment to it. */
  call(call: ToolCallDraft, { id, name, arguments: json }: CallFragment): void {
    if (!this.#calls.has(call)) this.#add(call);
    this.#calls.add(call);
    call.held += json;
    this.#chars += id.length + name.length + json.length;
  }

  /** Removes the first block if it is this call. Returns whether it was. */
  takeFirst(call: ToolCallDraft): boolean {
    if (this.#blocks[0] !== call) return false;
    this.#blocks.shift();
    this.#calls.delete(call);
    return true;
  }

  /** Removes and returns all blocks. */
  takeAll(): readonly QueuedBlock[] {
    const all = this.#blocks;
    this.#blocks = [];
    this.#calls.clear();
    return all;
  }

  /** Whether the queue has exceeded its bound. */
  get full(): boolean {
    return this.#chars > HELD_CHARS_MAX;
  }

  #add(block: QueuedBlock): void {
    this.#blocks.push(block);
    this.#chars += BLOCK_CHARS;
  }
}
