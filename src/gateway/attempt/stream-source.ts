// Reads a provider's event stream in batches: the bytes to pass on, whether they hold content, and how it ended.
// It sends nothing and settles nothing.

import type { StreamMachine } from "../../dialect/dialect.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import { createStepper, type ProviderEnd } from "./stream-pipeline.ts";
import { type BodyParts, watchedBody } from "./watched-body.ts";

export type End =
  | ProviderEnd
  /** The connection ended in order, without a closing event. */
  | { readonly kind: "eof" }
  /** The connection broke, fell silent, or the client went. */
  | { readonly kind: "cut"; readonly signal: UpstreamFailure };

export interface StreamChunk {
  readonly bytes: readonly Uint8Array[];
  readonly content: boolean;
  readonly end: End | null;
}

/** What was read of an answer so far. */
export type StreamResult = Omit<StreamMachine, "feed" | "feedData" | "feedRun">;

export interface StreamSource {
  readonly machine: StreamResult;
  next(): Promise<StreamChunk>;
  /** Gives the connection up. */
  stop(): void;
}

export function streamSource(
  parts: BodyParts & {
    machine: StreamMachine;
    /** An error's text without the provider key. */
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

/** The connection broke. */
export const brokenChunk = (signal: UpstreamFailure): StreamChunk => ({
  bytes: [],
  content: false,
  end: { kind: "cut", signal },
});
