// A provider's response whose body has not been read, in the form in which both HTTP clients give it. The reader
// of a body sets its pace: what is not read is not received, beyond a bounded amount.

import type { BytePiece } from "../base/byte-piece.ts";
import type { HeaderReader } from "../base/header-reader.ts";

/** A body that is read piece by piece. */
export interface UpstreamBody {
  /**
   * Returns the next piece, or null at the end; at once when it has arrived. Throws or rejects when the response
   * breaks off. One read at a time.
   */
  read(): BytePiece | null | Promise<BytePiece | null>;
  /** Closes the connection, because the rest is not needed. Does nothing after the end. */
  cancel(): void;
  /**
   * Drops the rest, which is hardly anything: all that counts was read. The connection can be used again if the end comes soon,
   * and is closed otherwise.
   */
  finish(): void;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: UpstreamBody;
}
