// The thread that writes for writer-thread.ts, on the only connection of the server that may write. Its first
// message names the database; all later ones are writes.

import { realClock } from "../../base/clock.ts";
import { connectSqlite } from "./connection.ts";
import type { SqliteWriter, WriterReply, WriterRequest } from "./write-messages.ts";
import { sqliteWriter } from "./writer.ts";
import type { Opened, Opening } from "./writer-thread.ts";

declare const self: Worker;

let writer: SqliteWriter | null = null;

function open({ path }: Opening): Opened {
  try {
    const connection = connectSqlite(path, { busyMs: 0 });
    const onReply = (reply: WriterReply) => self.postMessage(reply);
    writer = sqliteWriter({ connection, clock: realClock(), onReply });
    return { opened: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = ({ data }: MessageEvent<Opening | WriterRequest>) => {
  if ("path" in data) self.postMessage(open(data));
  else writer?.post(data);
};
