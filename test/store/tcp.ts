// A line to a server that a test can cut and silence, to see what is made of an answer that never comes. Looks at what is
// sent, since only the test knows which message is worth losing.

import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * What becomes of a message: passed on; lost, and the line with it; passed on while the line is cut before its answer; or
 * neither passed on nor refused.
 */
export type Fate = "pass" | "lose" | "cut" | "silence";

export interface CutLine {
  readonly port: number;
  /** Asked about everything that is sent to the server from now on. */
  judge(fate: (message: string) => Fate): void;
  close(): Promise<void>;
}

/** A line to a port of this machine on which everything passes, until it is judged otherwise. */
export async function cutLine(to: { readonly host: string; readonly port: number }): Promise<CutLine> {
  let judge: (message: string) => Fate = () => "pass";
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to);
    let answerable = true;
    const hangUp = () => {
      for (const socket of [client, upstream]) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", hangUp);
      socket.on("close", hangUp);
    }
    const fates: Record<Fate, (message: Buffer) => void> = {
      pass: (message) => void upstream.write(message),
      lose: hangUp,
      cut: (message) => {
        answerable = false;
        upstream.write(message);
      },
      silence: () => {},
    };
    client.on("data", (message: Buffer) => fates[judge(message.toString("latin1"))](message));
    // The server has done what it answers: now the answer may be lost.
    upstream.on("data", (answer) => (answerable ? client.write(answer) : hangUp()));
  });
  return {
    port: await listening(server),
    judge(fate) {
      judge = fate;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") throw new Error("a server without a port");
      resolve(address.port);
    });
  });
}
