// The writer in a thread of its own: the server's loop goes on while the disk syncs or another program holds the database's
// lock. Decides nothing about what is written.

import { type Clock, inTime } from "../../base/clock.ts";
import { StoreTimeoutError } from "../store.ts";
import type { SqliteWriter, WriterReply, WriterRequest } from "./write-messages.ts";

/** The first thing that a thread is told, and what it answers. */
export interface Opening {
  readonly path: string;
}

export type Opened = { readonly opened: true } | { readonly failed: string };

export interface WriterThread extends SqliteWriter {
  /** Lets go of the database, the log folded into it. Rejects with StoreSilent when that takes too long. */
  close(): Promise<void>;
}

const OPEN_MS = 10_000;
const CLOSE_MS = 10_000;

/** Starts the thread on the database at `path`, which must be of the current schema. */
export async function writesApart(parts: {
  readonly path: string;
  readonly clock: Clock;
  readonly told: (told: WriterReply) => void;
  /** The thread is over. */
  readonly lost: (why: string) => void;
}): Promise<WriterThread> {
  const { path, clock, told, lost } = parts;
  // A process that has ended its work is not kept alive; one that waits for a write is, by the timer beside the wait.
  const worker = new Worker(new URL("./writer-worker.ts", import.meta.url).href, {
    ref: false,
  } as WorkerOptions);
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  // Nobody may be waiting for the end when it comes.
  closed.promise.catch(() => {});
  let isClosing = false;

  const over = (why: string) => {
    const reason = `the thread that writes to the database has ended${why}: the process must be started anew`;
    opened.reject(new Error(reason));
    closed.reject(new Error(reason));
    if (!isClosing) lost(reason);
  };
  worker.addEventListener("close", () => over(""));
  worker.onerror = (event) => over(` (${event.message})`);
  worker.onmessage = ({ data }: MessageEvent<Opened | WriterReply>) => {
    if ("opened" in data) return opened.resolve();
    if ("failed" in data) return opened.reject(new Error(data.failed));
    if ("closed" in data) return closed.resolve();
    told(data);
  };
  worker.postMessage({ path } satisfies Opening);
  await inTime(clock, OPEN_MS, opened.promise).catch((error) => {
    worker.terminate();
    throw error;
  });

  return {
    post: (asked: WriterRequest) => worker.postMessage(asked),
    async close() {
      isClosing = true;
      worker.postMessage({ close: true } satisfies WriterRequest);
      await inTime(clock, CLOSE_MS, closed.promise).catch(() => {
        throw new StoreTimeoutError(
          "the database could not be closed: its disk does not answer, or its thread has ended",
        );
      });
      worker.terminate();
    },
  };
}
