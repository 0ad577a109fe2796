// The text of a running answer, gathered piece by piece for counting: its length always, its words as they are up to a bound
// and as a sample beyond it. It keeps no piece's event alive, and little of it however long the stream is.
//
// The sample: the text is cut into blocks, of which every second is dropped when there are too many; from then on only every
// second one is kept, then every fourth. What is kept is spread evenly over the whole answer.

export interface TextBuffer {
  add(text: string): void;
  /** Characters added so far, those that were dropped included. */
  readonly chars: number;
  /** What was kept, in order: all of it, or the sample. */
  texts(): readonly string[];
}

/** One stream keeps at most so many characters, besides the newest block. */
export const TEXT_CHARS_MAX = 131_072;
const BLOCK_CHARS = 2_048;
const BLOCKS_MAX = TEXT_CHARS_MAX / BLOCK_CHARS;
/** So many pieces are joined into one string: until then each may hold the text of the event that it was cut from. */
const PIECES_MAX = 16;

export const createTextBuffer = (): TextBuffer => new GatheredPieces();

class GatheredPieces implements TextBuffer {
  chars = 0;
  private blocks: string[] = [];
  /** One block of so many is kept. */
  private stride = 1;
  /** Blocks that were completed. */
  private completed = 0;
  /** The newest block, as far as it is joined, and the pieces behind it. */
  private newest = "";
  private pieces: string[] = [];
  private pieceChars = 0;

  add(text: string): void {
    this.chars += text.length;
    this.pieceChars += text.length;
    if (this.pieces.push(text) >= PIECES_MAX || this.pieceChars >= BLOCK_CHARS) this.join();
  }

  readonly texts = (): readonly string[] => {
    this.join();
    const rest = this.newest === "" ? [] : [this.newest];
    if (this.stride > 1) return [...this.blocks, ...rest];
    return this.chars === 0 ? [] : [[...this.blocks, ...rest].join("")];
  };

  private join(): void {
    if (this.pieces.length === 0) return;
    // Two pieces or more make a string of their own.
    this.newest += this.pieces.length === 1 ? copied(this.pieces[0]!) : this.pieces.join("");
    this.pieces = [];
    this.pieceChars = 0;
    if (this.newest.length < BLOCK_CHARS) return;
    const text = this.newest;
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

/** The same characters in a string of their own: a slice would keep alive the text that it was cut from. */
const copied = (text: string): string =>
  text.length < 2 ? text : [text.slice(0, 1), text.slice(1)].join("");
