// Puts an answer in the order of styles that write one block after the other. One call is written at a time; what
// arrives meanwhile waits in a queue, as do calls whose id or name is missing.

import type { CallHead, CallPiece, ContentWriter, TextKind, ThinkingSeal, ToolCallDraft } from "./answer.ts";
import { BlockQueue, type QueuedBlock } from "./block-queue.ts";

/** Writes blocks, of which at most one is open. */
export interface BlockWriter {
  /** Appends text to the open block if it has this kind, otherwise to a new one. */
  text(kind: TextKind, text: string): void;
  /** Does the same for texts of one event each, which have no character that JSON escapes. */
  plainTexts(kind: TextKind, texts: readonly string[]): void;
  /** Ends a block of thinking. Left out where clients do not send thinking back. */
  endThinking?(seal: ThinkingSeal): void;
  /** Opens the block of a call, to which `input` then appends. */
  openCall(call: CallHead): void;
  input(json: string): void;
  /** Says that nothing more of the open block follows. */
  endBlock(): void;
}

/** The order of one stream's blocks. */
export class BlockOrder implements ContentWriter {
  readonly #blocks: BlockWriter;
  readonly #queue = new BlockQueue();
  /** The call whose block is open. */
  #writing: ToolCallDraft | null = null;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  /** Why the stream must stop; null while it can continue. */
  get fault(): string | null {
    return this.#queue.full ? "the calls are too large to be put in order" : null;
  }

  writeText(kind: TextKind, text: string): void {
    if (this.#writing === null) this.#blocks.text(kind, text);
    else this.#queue.text(kind, text);
  }

  writePlainTexts(kind: TextKind, texts: readonly string[]): void {
    if (this.#writing === null) this.#blocks.plainTexts(kind, texts);
    else this.#queue.text(kind, texts.join(""));
  }

  /** Thinking that waits behind a call is written without its seal. */
  endThinking(seal: ThinkingSeal): void {
    if (this.#writing === null) this.#blocks.endThinking?.(seal);
  }

  call(call: ToolCallDraft, piece: CallPiece): void {
    if (call === this.#writing) this.#blocks.input(piece.arguments);
    // A closed block cannot be opened again, so further pieces of its call are dropped.
    else if (!call.written) {
      this.#queue.call(call, piece);
      if (this.#writing === null) this.#advance();
    }
  }

  endCall(call: ToolCallDraft): void {
    call.ended = true;
    if (call === this.#writing) {
      this.#blocks.endBlock();
      this.#writing = null;
    }
    if (this.#writing === null) this.#advance();
  }

  /** Ends the open block and writes all that waits. */
  endCalls(): void {
    this.#blocks.endBlock();
    this.#writing = null;
    for (;;) {
      const block = this.#queue.takeFirst(() => true);
      if (block === null) break;
      if (block.kind !== "call") this.#blocks.text(block.kind, block.text);
      else if (block.name !== "") this.#open(block);
    }
    this.#blocks.endBlock();
  }

  /** Writes what waits, up to a call that goes on or that is not known well enough. */
  #advance(): void {
    while (this.#writing === null) {
      const block = this.#queue.takeFirst(isReady);
      if (block === null) return;
      if (block.kind !== "call") this.#blocks.text(block.kind, block.text);
      else {
        this.#open(block);
        if (block.ended) this.#blocks.endBlock();
        else this.#writing = block;
      }
    }
  }

  #open(call: ToolCallDraft): void {
    call.written = true;
    this.#blocks.openCall(call);
    this.#blocks.input(call.held);
    call.held = "";
  }
}

const isReady = (block: QueuedBlock): boolean =>
  block.kind !== "call" || (block.name !== "" && (block.id !== "" || block.ended));
