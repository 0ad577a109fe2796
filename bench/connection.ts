// One keep-alive connection of the load generator: HTTP/1.1 on a raw socket, one request at a time. It reads just enough of
// an answer to know its status, its end and its body, since every cycle it spends is one the server does not get.

import type { Socket } from "bun";

export interface Answered {
  readonly status: number;
  /** Head and body as they came, HTTP chunk sizes included. */
  readonly bytes: Buffer;
  readonly ms: number;
  /** Until the first event with generated text. NaN without one, or unless `wantsFirstContent` was set. */
  readonly firstContentMs: number;
}

export interface Connection {
  ask(request: Buffer): Promise<Answered>;
  /** Whether the server has not closed it, as it does with one that was idle for long. */
  isOpen(): boolean;
  close(): void;
}

const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");
const CONTENT = /"content":"[^"]/;

export async function connect(url: string, wantsFirstContent: boolean): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let waiting: PromiseWithResolvers<Answered> | null = null;
  let isOpen = true;
  let held: Buffer | null = null;
  let startedAt = 0;
  let firstContentMs = Number.NaN;

  function received(chunk: Buffer): void {
    if (waiting === null) return;
    held = held === null ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    if (wantsFirstContent && Number.isNaN(firstContentMs) && CONTENT.test(held.toString("latin1"))) {
      firstContentMs = performance.now() - startedAt;
    }
    if (!isComplete(held)) return;
    const bytes = held;
    const { resolve } = waiting;
    waiting = null;
    held = null;
    resolve({
      status: Number(bytes.toString("latin1", 9, 12)),
      bytes,
      ms: performance.now() - startedAt,
      firstContentMs,
    });
  }

  function closed(why: string): void {
    isOpen = false;
    waiting?.reject(new Error(why));
    waiting = null;
  }

  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => received(chunk),
      close: () => closed("the server closed the connection"),
      error: (_, error) => closed(error.message),
    },
  });
  socket.setNoDelay(true);
  return {
    ask(request) {
      const answer = Promise.withResolvers<Answered>();
      waiting = answer;
      firstContentMs = Number.NaN;
      startedAt = performance.now();
      // A request is far smaller than a socket's buffer, which is empty: the answer before was read to its end.
      if (socket.write(request) !== request.length) closed("the request did not fit into the socket");
      return answer.promise;
    },
    isOpen: () => isOpen,
    close: () => socket.end(),
  };
}

function isComplete(bytes: Buffer): boolean {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const head = bytes.toString("latin1", 0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head);
  if (length !== null) return bytes.length >= headEnd + 4 + Number(length[1]);
  return bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
}

/** The body of an answer that came in chunks, without their sizes. */
export function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = bytes.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const sizeEnd = bytes.indexOf("\r\n", at);
    const size = Number.parseInt(bytes.toString("latin1", at, sizeEnd), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(bytes.subarray(sizeEnd + 2, sizeEnd + 2 + size));
    at = sizeEnd + 2 + size + 2;
  }
}
