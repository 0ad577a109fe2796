// The contract of the bus between nodes. A bus carries frames, which are texts that UTF-8 can encode; it never
// decides, stores or retries. A published frame may be lost. A request may have been executed although no answer
// came.

/**
 * Thrown when a request was certainly not executed: no node serves it, the connection is down, or a limit is
 * reached.
 */
export class Unreachable extends Error {}

/** Thrown when a frame is longer than the bus carries. It was not sent. */
export class TooLarge extends Error {}

/** Answers the requests to a node, at once or later. What it throws reaches the caller as an unknown outcome. */
export type AnswerFrame = (frame: string) => string | Promise<string>;

/** Requests between nodes, and publications to all nodes. */
export interface Bus {
  /** Longest request or answer, in characters (UTF-16 code units). */
  readonly frameLengthMax: number;
  /** Longest frame that can be published, in characters. Publishing a longer one throws TooLarge. */
  readonly publicationLengthMax: number;
  /**
   * Sends a request and returns the answer, waiting for at most `ms` milliseconds. Unreachable and TooLarge
   * mean that it was not executed; after any other error it may have been.
   */
  request(node: string, frame: string, ms: number): Promise<string>;
  /**
   * Resolves when requests reach `handle`, or will once the connection is up. When `handle` throws, the
   * caller gets an error and the outcome is unknown to it.
   */
  serve(node: string, handle: AnswerFrame): Promise<void>;
  /**
   * Publishes a hint. It is lost when there is no subscriber or the connection is down. Subscribers in the
   * same process always receive it.
   */
  publish(topic: string, frame: string): void;
  /**
   * Subscribes to a topic; one that ends in `.>` matches everything below it. `handle` must not throw.
   * Returns a function that unsubscribes.
   */
  subscribe(topic: string, handle: (topic: string, frame: string) => void): () => void;
  /**
   * Calls `handle` when the connection is back after it was down, because publications may have been missed.
   * A bus that cannot lose its connection never calls it. Returns a function that unsubscribes.
   */
  onGap(handle: () => void): () => void;
  /** Returns whether the connection to the other nodes is up. */
  connected(): boolean;
  /** Stops serving requests. Those that are being answered have a moment to finish. */
  close(): Promise<void>;
}
