// Collects the text of a running answer for counting tokens: its length is exact, and its text is complete up
// to a bound and a sample beyond it. Memory is bounded, and no event stays alive because of a piece of its
// text.
//
// The sample: the text is split into blocks. When there are too many, every second block is dropped, and from
// then on only every second new one is kept, then every fourth. The sample is spread evenly over the whole
// answer.

/** Characters that one stream keeps at most, in addition to the newest block. */
export const TEXT_CHARS_MAX = 131_072;
const BLOCK_CHARS = 2_048;
const BLOCKS_MAX = TEXT_CHARS_MAX / BLOCK_CHARS;
/** Pieces that are joined into one string at a time. Until then each may keep its event's text in memory. */
const PIECES_MAX = 16;

/** A bounded buffer of generated text. */
export class TextBuffer {
  /** Characters added so far, including those that were dropped. */
  chars = 0;
  private blocks: string[] = [];
  /** One block out of this many is kept. */
  private stride = 1;
  /** Number of blocks completed, including dropped ones. */
  private completed = 0;
  /** The joined part of the newest block; `pieces` follow it. */
  private newest = "";
  private pieces: string[] = [];
  private pieceChars = 0;

  add(text: string): void {
    this.chars += text.length;
    this.pieceChars += text.length;
    if (this.pieces.push(text) >= PIECES_MAX || this.pieceChars >= BLOCK_CHARS) this.join();
  }

  /** Returns the text that was kept, in order: all of it, or the sample. */
  texts(): readonly string[] {
    this.join();
    const rest = this.newest === "" ? [] : [this.newest];
    if (this.stride > 1) return [...this.blocks, ...rest];
    return this.chars === 0 ? [] : [[...this.blocks, ...rest].join("")];
  }

  private join(): void {
    if (this.pieces.length === 0) return;
    const { pieces } = this;
    this.pieces = [];
    this.pieceChars = 0;
    const joined = pieces.length === 1 ? pieces[0]! : pieces.join("");
    if (this.newest.length + joined.length < BLOCK_CHARS) {
      // Joining two or more pieces makes a new string; a single one must be copied.
      this.newest += pieces.length === 1 ? copied(joined) : joined;
      return;
    }
    const text = this.newest + joined;
    let from = 0;
    for (; text.length - from >= BLOCK_CHARS; from += BLOCK_CHARS) this.complete(text, from);
    this.newest = copied(text.slice(from));
  }

  private complete(text: string, from: number): void {
    if (this.completed++ % this.stride !== 0) return;
    this.blocks.push(copied(text.slice(from, from + BLOCK_CHARS)));
    if (this.blocks.length <= BLOCKS_MAX) return;
    this.blocks = this.blocks.filter((_, i) => i % 2 === 0);
    this.stride *= 2;
  }
}

/** Returns a copy of a string, because a slice would keep the whole original in memory. */
const copied = (text: string): string =>
  text.length < 2 ? text : [text.slice(0, 1), text.slice(1)].join("");
