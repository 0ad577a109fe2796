// The text of a running answer, gathered piece by piece for counting: its length always, its words up to a bound.
// Keeps no piece's event alive and few strings however long the stream is.

export interface Pieces {
  add(text: string): void;
  /** Characters added so far, those beyond the bound included. */
  readonly chars: number;
  /** What was kept, in order. */
  texts(): readonly string[];
}

const TEXT_MAX = 2_000_000;
/** So many pieces are joined into one string. */
const PIECES_MAX = 128;

export function createPieces(): Pieces {
  const joined: string[] = [];
  let pieces: string[] = [];
  let chars = 0;

  function pack(): void {
    joined.push(pieces.join(""));
    pieces = [];
  }

  return {
    add(text) {
      chars += text.length;
      if (chars > TEXT_MAX) return;
      if (pieces.push(text) >= PIECES_MAX) pack();
    },
    get chars() {
      return chars;
    },
    texts() {
      if (pieces.length > 0) pack();
      return joined;
    },
  };
}
