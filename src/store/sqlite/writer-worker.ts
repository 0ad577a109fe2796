// The thread that writes for writer-thread.ts, on the only connection of the server that may write. Its first
// message names the database; all later ones are writes.

import { realClock } from "../../base/clock.ts";
import { connectSqlite } from "./connection.ts";
import { sqliteProjections } from "./projections.ts";
import { failureOf, type SqliteWriter, type WriterReply, type WriterRequest } from "./write-messages.ts";
import { sqliteWriter } from "./writer.ts";
import type { Opened, Opening } from "./writer-thread.ts";

declare const self: Worker;

let writer: SqliteWriter | null = null;

function open({ path }: Opening): Opened {
  try {
    const connection = connectSqlite(path, { busyMs: 0 });
    const clock = realClock();
    const onReply = (reply: WriterReply) => self.postMessage(reply);
    const onError = (error: unknown) => onReply({ projection: failureOf(error) });
    const projections = sqliteProjections({ connection, clock, onError });
    writer = sqliteWriter({ connection, clock, onReply, projections });
    // An earlier process may have left commits that are not projected.
    projections.wake();
    return { opened: true };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = ({ data }: MessageEvent<Opening | WriterRequest>) => {
  if ("path" in data) self.postMessage(open(data));
  else writer?.post(data);
};
