// Starts the writer on a thread of its own, so that the server's event loop goes on while the disk syncs or
// another program holds the database's lock. It decides nothing about what is written.

import { type Clock, inTime } from "../../base/clock.ts";
import { StoreTimeoutError } from "../store-errors.ts";
import type { SqliteWriter, WriterReply, WriterRequest } from "./write-messages.ts";

/** The first message to a thread. */
export interface Opening {
  readonly path: string;
}

/** The reply to `Opening`. */
export type Opened = { readonly opened: true } | { readonly failed: string };

/** A writer on another thread. */
export interface WriterThread extends SqliteWriter {
  /**
   * Folds the write-ahead log into the database and closes it. Rejects with `StoreTimeoutError` when that
   * takes longer than CLOSE_MS, or when the thread has ended.
   */
  close(): Promise<void>;
}

const OPEN_MS = 10_000;
const CLOSE_MS = 10_000;

/**
 * Starts the thread on the database at `path`, which must have the current schema. Rejects when the thread
 * cannot open it within OPEN_MS.
 */
export async function startWriterThread(parts: {
  readonly path: string;
  readonly clock: Clock;
  readonly onReply: (reply: WriterReply) => void;
  /** Called once the thread has ended without being closed. */
  readonly onLost: (why: string) => void;
}): Promise<WriterThread> {
  const { path, clock, onReply, onLost } = parts;
  // The thread does not keep a finished process alive; the timer of a waiting write does.
  const worker = new Worker(new URL("./writer-worker.ts", import.meta.url).href, {
    ref: false,
  } as WorkerOptions);
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  // Avoids an unhandled rejection when the thread ends before `close` is called.
  closed.promise.catch(() => {});
  let isClosing = false;

  const fail = (why: string) => {
    const reason = `the thread that writes to the database has ended${why}: the process must be started anew`;
    opened.reject(new Error(reason));
    closed.reject(new Error(reason));
    if (!isClosing) onLost(reason);
  };
  worker.addEventListener("close", () => fail(""));
  worker.onerror = (event) => fail(` (${event.message})`);
  worker.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isThreadMessage(data)) return fail(" (it sent an unknown message)");
    if ("opened" in data) return opened.resolve();
    if ("failed" in data) return opened.reject(new Error(data.failed));
    if ("closed" in data) return closed.resolve();
    onReply(data);
  };
  worker.postMessage({ path } satisfies Opening);
  await inTime(clock, OPEN_MS, opened.promise).catch((error) => {
    worker.terminate();
    throw error;
  });

  return {
    post: (request: WriterRequest) => worker.postMessage(request),
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

/** Whether a message of the thread is one that this program sends. Called once per transaction. */
function isThreadMessage(data: unknown): data is Opened | WriterReply {
  if (typeof data !== "object" || data === null) return false;
  if ("commits" in data) return typeof data.commits === "string" || isFailure(data.commits);
  if ("writes" in data) return Array.isArray(data.writes);
  if ("projection" in data) return isFailure(data.projection);
  return "opened" in data || "closed" in data || isFailure(data);
}

const isFailure = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "failed" in value && typeof value.failed === "string";
