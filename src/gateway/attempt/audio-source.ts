// Reads a provider's audio answer. Bytes pass unchanged, but the last byte waits for the charge, as the
// closing event of other streams does. It keeps only the number of bytes and the beginning of the file.

import type { BytePiece } from "../../base/byte-piece.ts";
import type { NonTokenUsage, WholeAnswer, WholeBody } from "../../dialect/dialect.ts";
import type { StreamChunk, StreamResult, StreamSource } from "../codec/provider-answer.ts";
import { type BodyParts, WatchedBody } from "./watched-body.ts";

/** The beginning that is kept; it contains the file's header. */
const BEGINNING_BYTES = 1_024;

/** The body of an audio answer, and the dialect's reading of its size and beginning. */
export interface AudioParts extends BodyParts {
  readonly read: (sound: NonNullable<WholeBody["sound"]>) => WholeAnswer;
}

/** What was read of an audio answer so far. */
class AudioResult implements StreamResult {
  readonly usage = null;
  readonly serviceTier = null;
  readonly chars = 0;
  bytes = 0;
  private beginning = new Uint8Array(0);

  constructor(private readonly read: AudioParts["read"]) {}

  get delivered(): boolean {
    return this.bytes > 0;
  }

  get measured(): NonTokenUsage {
    const answer = this.read({ bytes: this.bytes, beginning: this.beginning });
    return answer.ok ? answer.measured : {};
  }

  texts(): readonly string[] {
    return [];
  }

  outcome(clean: boolean): "empty" | "complete" | "broken" {
    if (this.bytes === 0) return "empty";
    return clean ? "complete" : "broken";
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.beginning.length >= BEGINNING_BYTES) return;
    const more = chunk.subarray(0, BEGINNING_BYTES - this.beginning.length);
    const longer = new Uint8Array(this.beginning.length + more.length);
    longer.set(this.beginning);
    longer.set(more, this.beginning.length);
    this.beginning = longer;
  }
}

/** The source of an audio answer. */
export class AudioSource extends WatchedBody implements StreamSource {
  readonly machine: AudioResult;
  /** The last byte, which waits. */
  private held: Uint8Array | null = null;

  constructor(parts: AudioParts) {
    super(parts);
    this.machine = new AudioResult(parts.read);
  }

  protected take(piece: BytePiece | null): StreamChunk {
    const { held } = this;
    if (piece === null) {
      const end = held === null ? ({ kind: "eof" } as const) : ({ kind: "done", bytes: held } as const);
      return { parts: [], content: false, end };
    }
    if (piece.length === 0) return { parts: [], content: false, end: null };
    const chunk = piece.bytes();
    this.machine.add(chunk);
    const passed = held === null ? [] : [held];
    if (chunk.length > 1) passed.push(chunk.subarray(0, -1));
    // A copy, because a view would keep the whole chunk in memory.
    this.held = new Uint8Array(chunk.subarray(-1));
    return { parts: passed, content: true, end: null };
  }
}
