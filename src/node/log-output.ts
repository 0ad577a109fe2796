// The output of the log: a bounded buffer before standard error. One piece of whole lines is written at a time, so that no line
// waits for its reader. What does not fit, and what cannot be written (a full disk, a reader that is gone), is dropped and counted.

import { write, writeSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { piecesOf } from "./line-pieces.ts";

/** Where the log is written to. */
export interface ErrorOutput {
  write(bytes: Uint8Array, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  writeSync(bytes: Uint8Array): number;
}

const STDERR = 2;
export const standardError: ErrorOutput = {
  write: (bytes, done) => write(STDERR, bytes, done),
  writeSync: (bytes) => writeSync(STDERR, bytes),
};

/** Bytes that may wait to be written. */
const WAITING_MAX = 4 * 1024 * 1024;
/** Milliseconds before another try when the reader takes nothing. */
const FULL_MS = 100;
/** Tries at the end of the process. */
const TRIES_AT_END = 10;

/** The buffered output of a process's log. */
export class LogOutput {
  private waiting: string[] = [];
  private pieces: Buffer[] = [];
  private isWriting = false;
  /** Bytes of lines that are not written yet. */
  private size = 0;
  private droppedLines = 0;

  /** `onDropped` is called with the number of lines that were dropped, once everything else is written. */
  constructor(
    private readonly clock: Clock,
    private readonly output: ErrorOutput,
    private readonly onDropped: (lines: number) => void,
    private readonly most = WAITING_MAX,
  ) {}

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.size + bytes > this.most) {
      this.droppedLines++;
      return;
    }
    this.waiting.push(line);
    this.size += bytes;
    if (!this.isWriting) this.writeNext();
  }

  /** Writes what waits, at the end of the process. A write that is under way ends by itself. */
  flushSync(): void {
    for (let piece = this.next(); piece !== undefined; piece = this.next()) {
      if (!writeWhole(this.output, piece)) return;
    }
  }

  private writeNext(): void {
    const piece = this.next();
    this.isWriting = piece !== undefined;
    if (piece !== undefined) this.writePiece(piece);
  }

  private writePiece(piece: Buffer): void {
    this.output.write(piece, (error, written) => {
      if (error?.code === "EAGAIN") {
        this.clock.after(FULL_MS, () => this.writePiece(piece));
        return;
      }
      this.size -= error === null ? written : piece.length;
      if (error !== null) this.droppedLines += piece.toString().split("\n").length - 1;
      else if (written < piece.length) return this.writePiece(piece.subarray(written));
      this.writeNext();
      if (error === null && !this.isWriting && this.droppedLines > 0) this.reportDropped();
    });
  }

  private reportDropped(): void {
    const lines = this.droppedLines;
    this.droppedLines = 0;
    this.onDropped(lines);
  }

  /** Takes the next lines that are written together. */
  private next(): Buffer | undefined {
    if (this.pieces.length === 0) {
      this.pieces = [...piecesOf(Buffer.from(this.waiting.join("")))];
      this.waiting = [];
    }
    return this.pieces.shift();
  }
}

/** Writes everything before it returns; false when that is impossible, and nothing is left that could say so. */
export function writeWhole(output: ErrorOutput, bytes: Buffer): boolean {
  let rest = bytes;
  for (let tries = TRIES_AT_END; rest.length > 0; ) {
    try {
      rest = rest.subarray(output.writeSync(rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || --tries === 0) return false;
      Bun.sleepSync(FULL_MS);
    }
  }
  return true;
}
