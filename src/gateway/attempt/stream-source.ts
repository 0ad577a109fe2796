// Reads a provider's event stream chunk by chunk: the bytes to pass on, whether they contain content, and how
// the stream ended. It sends nothing and charges nothing.

import type { StreamMachine } from "../../dialect/dialect.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import { createStepper, type ProviderEnd } from "./stream-pipeline.ts";
import { type BodyParts, watchedBody } from "./watched-body.ts";

/** How a stream ended. */
export type End =
  | ProviderEnd
  /** The connection ended normally without a closing event. */
  | { readonly kind: "eof" }
  /** The connection broke or fell silent, or the client disconnected. */
  | { readonly kind: "cut"; readonly signal: UpstreamFailure };

/** Bytes of a stream with their meaning. */
export interface StreamChunk {
  readonly bytes: readonly Uint8Array[];
  readonly content: boolean;
  readonly end: End | null;
}

/** What was read of an answer so far. */
export type StreamResult = Omit<StreamMachine, "feed" | "feedData" | "feedRun">;

/** An open stream of one attempt. */
export interface StreamSource {
  readonly machine: StreamResult;
  /** Returns the next chunk. Failures of the connection are returned as an `end`, not thrown. */
  next(): Promise<StreamChunk>;
  /** Closes the connection. */
  stop(): void;
}

/** Creates the source of an event stream. */
export function streamSource(
  parts: BodyParts & {
    machine: StreamMachine;
    /** Removes the provider key from an error's text. */
    scrub: (text: string) => string;
  },
): StreamSource {
  const { machine, scrub } = parts;
  const body = watchedBody(parts);
  const stepper = createStepper(machine, scrub);

  function take(chunk: Uint8Array | null): StreamChunk {
    if (chunk !== null) return stepper.read(chunk);
    const last = stepper.finish();
    return { ...last, end: last.end ?? { kind: "eof" } };
  }

  return { machine, next: () => body.next(take, brokenChunk), stop: body.stop };
}

/** Returns the chunk of a broken connection. */
export const brokenChunk = (signal: UpstreamFailure): StreamChunk => ({
  bytes: [],
  content: false,
  end: { kind: "cut", signal },
});
