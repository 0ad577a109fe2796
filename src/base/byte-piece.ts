// Bytes that have arrived, named by their place in the buffer in which they came. A view of them would be an object of the
// runtime with three more behind it, which costs more than most pieces take to read; so a view is made only where one is needed.

/** The bytes `buffer[from..to)`. Only who has read the piece may change them. */
export class BytePiece {
  constructor(
    readonly buffer: Buffer,
    readonly from: number,
    readonly to: number,
  ) {}

  /** Returns the piece that is all of these bytes. */
  static of(bytes: Uint8Array): BytePiece {
    const buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new BytePiece(buffer, 0, buffer.length);
  }

  get length(): number {
    return this.to - this.from;
  }

  /** Returns the first `length` bytes. */
  first(length: number): BytePiece {
    return new BytePiece(this.buffer, this.from, this.from + length);
  }

  /** Returns the bytes behind the first `length`. */
  behind(length: number): BytePiece {
    return new BytePiece(this.buffer, this.from + length, this.to);
  }

  /** Returns a view of the bytes. */
  bytes(): Buffer {
    const { buffer, from, to } = this;
    return from === 0 && to === buffer.length ? buffer : buffer.subarray(from, to);
  }

  /** Returns the bytes as UTF-8, in which a byte order mark stays; what is none becomes U+FFFD. */
  text(): string {
    return this.buffer.toString("utf8", this.from, this.to);
  }
}
