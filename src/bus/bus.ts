// The contract of the bus between nodes. It carries frames; it never decides, stores or retries.
// What is published may be lost; what is requested may have been executed although no answer came.

/** Nobody there: certainly not executed. */
export class Unreachable extends Error {}

export interface Bus {
  /** Largest frame in bytes that it carries. */
  readonly maxFrame: number;
  /** Throws Unreachable; any other error means no answer in time, executed or not. */
  request(node: string, frame: Uint8Array, ms: number): Promise<Uint8Array>;
  serve(node: string, handle: (frame: Uint8Array) => Promise<Uint8Array>): Promise<void>;
  /** Hints only: dropped when nobody listens or the line is down. */
  publish(topic: string, frame: Uint8Array): void;
  /** `topic` may end in `.>`: everything below. The answer unsubscribes. */
  subscribe(topic: string, handle: (topic: string, frame: Uint8Array) => void): () => void;
  close(): Promise<void>;
}
