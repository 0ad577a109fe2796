// A TCP line from one node to one server that a test can cut, freeze and slow. Frozen is what a network that swallows
// packets and comes back looks like, and a stopped server too: nothing is refused, nothing arrives, and later all of it does.

import { connect, createServer, type Socket } from "node:net";

export interface Line {
  readonly port: number;
  /** As new: whatever was frozen arrives now. */
  heal(): void;
  /** Everything that is sent waits, new connections too. */
  freeze(): void;
  /** Every connection breaks, and every new one. */
  cut(): void;
  /** Each message takes so much longer, in either direction. */
  slow(ms: number): void;
  close(): void;
}

type State = "open" | "frozen" | "cut";

/** A line to an address that may change between two connections. A message on a slow line waits on `sleep`. */
export async function startLine(
  to: () => { readonly host: string; readonly port: number },
  sleep: (ms: number) => Promise<void> = Bun.sleep,
): Promise<Line> {
  let state: State = "open";
  let delayMs = 0;
  const sockets = new Set<Socket>();
  /** Called when the line is open again. */
  let waiting: (() => void)[] = [];

  /** What comes from one side goes to the other, in order, when the line lets it. */
  function carry(from: Socket, target: Socket): void {
    let last = Promise.resolve();
    const pass = (message: () => void) => {
      if (state === "open" && delayMs === 0) {
        // Behind whatever still waits.
        last = last.then(message);
        return;
      }
      const due = Date.now() + delayMs;
      last = last.then(async () => {
        const restMs = due - Date.now();
        if (restMs > 0) await sleep(restMs);
        if (state === "frozen") await new Promise<void>((resume) => waiting.push(resume));
        message();
      });
    };
    from.on("data", (data: Buffer) => pass(() => void (target.writable && target.write(data))));
    from.on("end", () => pass(() => void target.end()));
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => sockets.delete(client));
    if (state === "cut") return void client.destroy();
    client.setNoDelay(true);
    const upstream = connect({ ...to(), allowHalfOpen: true });
    sockets.add(upstream);
    upstream.setNoDelay(true);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => {
      sockets.delete(upstream);
      if (state !== "frozen") client.destroy();
      else waiting.push(() => client.destroy());
    });
    client.on("close", () => upstream.destroy());
    carry(client, upstream);
    carry(upstream, client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a line without a port");

  function become(next: State): void {
    state = next;
    if (next === "frozen") return;
    const released = waiting;
    waiting = [];
    for (const release of released) release();
  }
  return {
    port: address.port,
    heal() {
      delayMs = 0;
      become("open");
    },
    freeze: () => become("frozen"),
    cut() {
      for (const socket of sockets) socket.destroy();
      become("cut");
    },
    slow(ms) {
      delayMs = ms;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
