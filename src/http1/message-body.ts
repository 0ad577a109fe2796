// The body of a message as it arrives: it holds what has come and was not read, tells its connection how much that is, and ends
// or fails behind it. It knows nothing of heads and sockets.

import type { BytePiece } from "../base/byte-piece.ts";

/** A body of which pieces arrive and are read, in the same order. */
export abstract class MessageBody {
  /** Pieces that have arrived; those before `#at` were read. */
  #pieces: BytePiece[] = [];
  #at = 0;
  #unread = 0;
  #state: "open" | "ended" | "failed" = "open";
  #error: unknown = null;
  /** Settle the read that waits for a piece; null when none waits. */
  #resolveRead: ((piece: BytePiece | null) => void) | null = null;
  #rejectRead: ((error: unknown) => void) | null = null;

  /** Called when the bytes that wait to be read became fewer, unless the body has ended. */
  protected abstract onRead(unreadBytes: number): void;

  /**
   * Returns the next piece of the body, or null at its end; at once when it has arrived. Throws, or rejects, when
   * the message broke off. One read at a time.
   */
  read(): BytePiece | null | Promise<BytePiece | null> {
    if (this.#at < this.#pieces.length) return this.#take();
    if (this.#state === "ended") return null;
    if (this.#state === "failed") throw this.#error;
    if (this.#resolveRead !== null) throw new Error("the body is being read already");
    return new Promise((resolve, reject) => {
      this.#resolveRead = resolve;
      this.#rejectRead = reject;
    });
  }

  /** Takes a piece that arrived, and returns how many bytes wait to be read. */
  onBody(piece: BytePiece): number {
    if (this.#resolveRead !== null) {
      this.#resolveRead(piece);
      this.#endRead();
      return 0;
    }
    this.#pieces.push(piece);
    this.#unread += piece.length;
    return this.#unread;
  }

  /** The body is complete. */
  onEnd(): void {
    if (this.#state !== "open") return;
    this.#state = "ended";
    this.#resolveRead?.(null);
    this.#endRead();
  }

  /** Ends the body with an error, which follows what has arrived and was not read. Returns false where it has failed already. */
  fail(error: unknown): boolean {
    if (this.#state === "failed") return false;
    this.#state = "failed";
    this.#error = error;
    this.#rejectRead?.(error);
    this.#endRead();
    return true;
  }

  /** Whether neither its end nor its failure has come. */
  protected get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Bytes that have arrived and were not read. */
  protected get unreadBytes(): number {
    return this.#unread;
  }

  /** Whether all that is left to read is one piece, or nothing. */
  protected get isOnePiece(): boolean {
    return this.#state === "ended" && this.#pieces.length - this.#at <= 1;
  }

  /** Drops what has arrived and was not read. */
  protected dropPieces(): void {
    this.#pieces = [];
    this.#at = 0;
    this.#unread = 0;
  }

  #endRead(): void {
    this.#resolveRead = null;
    this.#rejectRead = null;
  }

  #take(): BytePiece {
    const piece = this.#pieces[this.#at]!;
    this.#at++;
    if (this.#at === this.#pieces.length) {
      this.#pieces = [];
      this.#at = 0;
    }
    this.#unread -= piece.length;
    if (this.#state === "open") this.onRead(this.#unread);
    return piece;
  }
}
