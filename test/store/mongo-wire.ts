// A line to a MongoDB server that understands what passes: a test may answer a command in the server's place, or change
// what the server has answered. So it plays what no server does on demand: a primary that steps down, a write that no
// majority has, a member of a replica set.

import { connect, createServer, type Socket } from "node:net";
import { BSON, type Document } from "mongodb";

export interface Command extends Document {
  /** Its name, and the collection it is about where there is one. */
  readonly name: string;
  readonly of: unknown;
}

/** What becomes of a command: passed on; answered without the server; or passed on and its answer changed. */
export type Treatment =
  | "pass"
  | { readonly answer: Document }
  | { readonly change: (answer: Document) => Document };

export interface WireLine {
  readonly port: number;
  /** Asked about every command from now on, also those by which the driver watches the server. */
  treat(treatment: (command: Command) => Treatment): void;
  close(): Promise<void>;
}

/** Header of a message: length, id, the id it answers, kind. */
const HEADER = 16;
const MESSAGE = 2013;

export async function wireLine(to: { readonly host: string; readonly port: number }): Promise<WireLine> {
  let treat: (command: Command) => Treatment = () => "pass";
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(to);
    const changes = new Map<number, (answer: Document) => Document>();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      const hangUp = () => {
        client.destroy();
        upstream.destroy();
      };
      socket.on("error", hangUp);
      socket.on("close", hangUp);
    }
    const requests = framed((frame) => {
      const command = commandOf(frame);
      const treatment = command === null ? "pass" : treat(command);
      if (treatment === "pass") return upstream.write(frame);
      const id = frame.readInt32LE(4);
      if ("answer" in treatment) return client.write(answerFrame(id, treatment.answer));
      changes.set(id, treatment.change);
      return upstream.write(frame);
    });
    const answers = framed((frame) => {
      const id = frame.readInt32LE(8);
      const change = changes.get(id);
      changes.delete(id);
      const answer = change === undefined ? null : bodyOf(frame);
      return client.write(answer === null ? frame : answerFrame(id, change!(answer)));
    });
    client.on("data", requests);
    upstream.on("data", answers);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  return {
    port,
    treat(treatment) {
      treat = treatment;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Hands on whole messages. */
function framed(take: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const size = rest.readInt32LE(0);
      take(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
  };
}

/** The first section of a message, where its command or answer is; null: of an older kind. */
function bodyOf(frame: Buffer): Document | null {
  if (frame.readInt32LE(12) !== MESSAGE || frame[HEADER + 4] !== 0) return null;
  const start = HEADER + 5;
  const size = frame.readInt32LE(start);
  return BSON.deserialize(frame.subarray(start, start + size), { promoteLongs: true });
}

function commandOf(frame: Buffer): Command | null {
  const body = bodyOf(frame);
  const name = Object.keys(body ?? {})[0];
  return body === null || name === undefined ? null : { ...body, name, of: body[name] };
}

let answered = 0;

function answerFrame(to: number, answer: Document): Buffer {
  const body = BSON.serialize(answer);
  const head = Buffer.alloc(HEADER + 5);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(++answered, 4);
  head.writeInt32LE(to, 8);
  head.writeInt32LE(MESSAGE, 12);
  return Buffer.concat([head, body]);
}
