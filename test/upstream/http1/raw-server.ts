// A server that answers with exactly the bytes that a test gives it, split as it says.

import type { Socket } from "bun";

export interface RawServer extends AsyncDisposable {
  readonly port: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** All that was received, connection by connection. */
  readonly received: readonly string[];
}

/** What the server does with one request; `piece` sends bytes, `end` closes in order, `reset` breaks the connection. */
export interface RawAnswer {
  piece(bytes: string | Uint8Array): void;
  end(): void;
  reset(): void;
}

interface Connection {
  readonly index: number;
  requests: number;
}

/**
 * Starts a server on this machine. `answer` is called for each request whose head has arrived, with its number on the
 * connection.
 */
export function rawServer(
  answer: (
    to: RawAnswer,
    at: { readonly connection: number; readonly request: number },
  ) => void | Promise<void>,
): RawServer {
  const received: string[] = [];
  const listener = Bun.listen<Connection>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { index: received.push("") - 1, requests: 0 };
      },
      data(socket, bytes) {
        const { data } = socket;
        received[data.index] += bytes.toString("latin1");
        if (bytes.includes("\r\n\r\n")) {
          void answer(writerOf(socket), { connection: data.index, request: data.requests++ });
        }
      },
    },
  });
  return {
    port: listener.port,
    received,
    get accepted() {
      return received.length;
    },
    async [Symbol.asyncDispose]() {
      listener.stop(true);
    },
  };
}

const writerOf = (socket: Socket<Connection>): RawAnswer => ({
  piece: (bytes) => void socket.write(bytes),
  end: () => socket.end(),
  reset: () => socket.terminate(),
});
