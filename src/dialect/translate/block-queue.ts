// Queues, in order of arrival, what cannot be written yet: calls without their id or name, and everything
// that arrives while the block of another call is open. It is bounded, because a provider could delay the id
// forever.

import type { CallPiece, TextKind, ToolCallDraft } from "./answer.ts";

interface QueuedText {
  readonly kind: TextKind;
  text: string;
}

/** A block that waits: text, thinking or a call. */
export type QueuedBlock = QueuedText | ToolCallDraft;

const HELD_CHARS_MAX = 16 * 1024 * 1024;
/** Characters that a block counts in addition to its text. */
const BLOCK_CHARS = 256;

/** The blocks of one stream that wait. */
export class BlockQueue {
  #blocks: QueuedBlock[] = [];
  /** Index of the first block that still waits. */
  #first = 0;
  readonly #calls = new Set<ToolCallDraft>();
  #chars = 0;

  text(kind: TextKind, text: string): void {
    const last = this.#first < this.#blocks.length ? this.#blocks.at(-1) : undefined;
    if (last !== undefined && last.kind !== "call" && last.kind === kind) last.text += text;
    else this.#add({ kind, text });
    this.#chars += text.length;
  }

  /** Queues a call if it is not queued yet, and adds the arguments of this piece to it. */
  call(call: ToolCallDraft, { id, name, arguments: json }: CallPiece): void {
    if (!this.#calls.has(call)) this.#add(call);
    this.#calls.add(call);
    call.held += json;
    this.#chars += id.length + name.length + json.length;
  }

  /** Removes and returns the first block if `accepts` says so, otherwise returns null. */
  takeFirst(accepts: (block: QueuedBlock) => boolean): QueuedBlock | null {
    const block = this.#blocks[this.#first];
    if (block === undefined || !accepts(block)) return null;
    this.#first++;
    if (this.#first === this.#blocks.length) {
      this.#blocks = [];
      this.#first = 0;
    }
    if (block.kind === "call") this.#calls.delete(block);
    return block;
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
