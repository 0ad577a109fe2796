// Reads a provider's event stream chunk by chunk: the bytes to pass on, whether they contain content, and how
// the stream ended. It sends nothing and charges nothing.

import type { BytePiece } from "../../base/byte-piece.ts";
import type { StreamMachine } from "../../dialect/dialect.ts";
import type { UpstreamHead } from "../../upstream/upstream.ts";
import type { StreamChunk, StreamSource } from "../codec/provider-answer.ts";
import { StreamPipeline } from "./stream-pipeline.ts";
import { type BodyParts, WatchedBody } from "./watched-body.ts";

/** The body of an event stream, and what reads its events. */
export interface EventStreamParts extends BodyParts {
  readonly machine: StreamMachine;
  /** Removes the provider key from an error's text. */
  readonly head: Pick<UpstreamHead, "scrub">;
}

/** The source of an event stream. */
export class EventStreamSource extends WatchedBody implements StreamSource {
  readonly machine: StreamMachine;
  private readonly pipeline: StreamPipeline;

  constructor(parts: EventStreamParts) {
    super(parts);
    this.machine = parts.machine;
    this.pipeline = new StreamPipeline(parts.machine, parts.head);
  }

  protected take(piece: BytePiece | null): StreamChunk {
    if (piece !== null) return this.pipeline.read(piece);
    const last = this.pipeline.finish();
    return { ...last, end: last.end ?? { kind: "eof" } };
  }
}
