// Collects bytes whose length is not known before, in blocks: what grows is a list, and no copy is larger than a piece.

const BLOCK_BYTES = 1024 * 1024;

/** Bytes in the order in which they were added. Their memory is that of the blocks alone. */
export class ByteBlocks {
  private readonly full: Uint8Array<ArrayBuffer>[] = [];
  private used = 0;

  /** `last` is the first block to fill. Further ones have BLOCK_BYTES. */
  constructor(private last: Uint8Array<ArrayBuffer> = new Uint8Array(BLOCK_BYTES)) {}

  /** Copies a piece behind what was added. */
  add(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      if (this.used === this.last.length) this.next();
      const some = piece.subarray(at, at + this.last.length - this.used);
      this.last.set(some, this.used);
      this.used += some.length;
      at += some.length;
    }
  }

  /** Returns the blocks, the last one as far as it is filled. */
  filled(): Uint8Array<ArrayBuffer>[] {
    return [...this.full, this.last.subarray(0, this.used)];
  }

  private next(): void {
    this.full.push(this.last);
    this.last = new Uint8Array(BLOCK_BYTES);
    this.used = 0;
  }
}
