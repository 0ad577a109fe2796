// A response body whose chunks go straight into the client's connection: no queue between and no promise for each of them,
// but where the client reads slowly. It knows nothing of what it carries.

export interface Outlet {
  /** Takes a chunk in any case; a promise asks to wait with the next until the client has taken what there is. */
  write(bytes: Uint8Array): number | Promise<number>;
  /** The body is whole; with an error, it breaks off, so that a client can tell. */
  close(error?: Error): void;
}

/** A body before anybody reads it. */
export interface Flow {
  /** Writes all of it, once. */
  readonly fill: (outlet: Outlet) => Promise<void>;
  /** The client has left. */
  readonly gone: () => void;
}

export function directStream({ fill, gone }: Flow): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource = { type: "direct", pull: fill, cancel: gone };
  // The DOM's types, which the project reads, know of no such source.
  return new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
}
