// The thread that adds up usage for totals-apart.ts, on a connection of its own that only reads. One query at a time; it
// gives its rows a part at a time, when it is asked for the next one, so that taking them never holds the server's loop.

import { type Connection, connect } from "./sqlite-connection.ts";
import { sqliteTotals, type Totals } from "./sqlite-totals.ts";
import type { Asked, Told } from "./totals-apart.ts";

declare const self: Worker;

/** Taken over in a millisecond or two. */
const PART_ROWS = 1_000;

let connection: Connection | null = null;
let totals: Totals | null = null;
let rows: ReturnType<Totals> = [];
let given = 0;

function answer(asked: Asked): Told {
  if ("close" in asked) {
    connection?.close();
    connection = null;
    totals = null;
    rows = [];
    return { rows, last: true };
  }
  if ("query" in asked) {
    connection ??= connect(asked.path, { readOnly: true });
    totals ??= sqliteTotals(connection);
    rows = totals(asked.query);
    given = 0;
  }
  const part = rows.slice(given, given + PART_ROWS);
  given += part.length;
  const last = given >= rows.length;
  // Nothing is kept between queries, and nothing of one that nobody waits for.
  if (last) rows = [];
  return { rows: part, last };
}

self.onmessage = ({ data }: MessageEvent<Asked>) => {
  try {
    self.postMessage(answer(data));
  } catch (error) {
    self.postMessage({ failed: error instanceof Error ? error.message : String(error) } satisfies Told);
  }
};
