// The contract of the bus between nodes. It carries frames; it never decides, stores or retries.
// What is published may be lost; what is requested may have been executed although no answer came.

/** Certainly not executed: nobody there, no line to anybody, or no room to take it. */
export class Unreachable extends Error {}

/** The frame is larger than the bus carries; it was not sent. */
export class TooLarge extends Error {}

export interface Bus {
  /** Largest frame in bytes of a request or an answer. */
  readonly maxFrame: number;
  /** Largest frame in bytes that is published; a larger one is the publisher's mistake and throws TooLarge. */
  readonly maxNews: number;
  /** Throws Unreachable or TooLarge; any other error means no answer in time, executed or not. */
  request(node: string, frame: Uint8Array, ms: number): Promise<Uint8Array>;
  /** Resolves when requests reach `handle`, or will once there is a line. One that throws answers nothing good: its caller does not know what happened. */
  serve(node: string, handle: (frame: Uint8Array) => Promise<Uint8Array>): Promise<void>;
  /** Hints only: dropped when nobody listens or the line is down. Listeners of the same process always hear. */
  publish(topic: string, frame: Uint8Array): void;
  /** `topic` may end in `.>`: everything below. `handle` never throws. The answer unsubscribes. */
  subscribe(topic: string, handle: (topic: string, frame: Uint8Array) => void): () => void;
  /** `handle` hears that the line was down: news may have been missed. The answer ends it. A bus that never loses its line never calls. */
  onGap(handle: () => void): () => void;
  /** Is there a line to the others now? */
  connected(): boolean;
  /** Serves nobody from here on; what is being answered is answered first, for a moment. */
  close(): Promise<void>;
}
