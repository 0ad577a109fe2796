// The writes of the store on SQLite on a connection of the test's own, in its thread: for tests that look at the database
// between them, or break it.

import { realClock } from "../../src/base/clock.ts";
import type { WritingMethods } from "../../src/store/read-only.ts";
import type { SqliteConnection } from "../../src/store/sqlite/connection.ts";
import { writesOf } from "../../src/store/sqlite/queued-writes.ts";
import { WriteQueue } from "../../src/store/sqlite/write-queue.ts";
import { sqliteWriter } from "../../src/store/sqlite/writer.ts";

const clock = realClock();

export function queueOn(
  connection: SqliteConnection,
  onError: (error: unknown) => void = () => {},
): WriteQueue {
  const queue = new WriteQueue({ clock, onError, onApplied: () => {} });
  queue.setWriter(sqliteWriter({ connection, clock, onReply: (reply) => queue.receive(reply) }));
  return queue;
}

export const writesOn = (connection: SqliteConnection, onError?: (error: unknown) => void): WritingMethods =>
  writesOf(queueOn(connection, onError));
