// The worker thread that does the jobs of job-handlers.ts for worker-pool.ts, one after another. Whatever a body costs, it
// holds up this thread alone.

import { existsSync, readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";
import { realClock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { createCounter } from "../metering/token-counter.ts";
import { JOB_HANDLERS } from "./job-handlers.ts";
import type { JobResult, Jobs } from "./jobs.ts";
import type { JobMessage, JobReply } from "./worker-pool.ts";

declare const self: Worker;

/** How much this thread yields to others where processors are scarce, such as to the event loop: a third of their share. */
const NICENESS = 5;
/** Names this thread on Linux, where each has a priority of its own. */
const THREAD = "/proc/thread-self";

if (existsSync(THREAD)) setPriority(Number(basename(readlinkSync(THREAD))), NICENESS);

const clock = realClock();
const counter = createCounter({ clock });

async function done<K extends keyof Jobs>({ kind, input }: JobMessage<K>): Promise<JobReply<K>> {
  try {
    return { result: await JOB_HANDLERS[kind](input, counter) };
  } catch (error) {
    if (error instanceof RefusedError) return { refusal: error.refusal };
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

/** Returns the buffers of a result, which are handed over. */
function buffersOf({ body, output }: JobResult<keyof Jobs>): ArrayBuffer[] {
  const views = [body?.buffer];
  if (typeof output === "object" && "bytes" in output) views.push(output.bytes);
  if (typeof output === "object" && "client" in output) views.push(output.client);
  return [...new Set(views.flatMap((view) => (view === undefined ? [] : [view.buffer as ArrayBuffer])))];
}

/** The value of a body of this size is collected at once, because it may be hundreds of megabytes. */
const COLLECTED_AT_ONCE_BYTES = 4 * 1024 * 1024;
/** Bytes of smaller bodies after which theirs are collected. A collection takes as long as it takes to read a few megabytes. */
const COLLECTED_BYTES = 64 * 1024 * 1024;
/** An idle thread collects what is left of its last jobs after this time. */
const IDLE_MS = 1_000;

let uncollectedBytes = 0;
/** Cancels the collection of an idle thread; null while none is due. */
let cancelIdle: (() => void) | null = null;

/** The values of large bodies are a hundred times larger than what a thread needs otherwise. */
function collect(): void {
  uncollectedBytes = 0;
  Bun.gc(true);
}

const sizeOf = ({ input }: JobMessage<keyof Jobs>): number =>
  "body" in input
    ? input.body.to - input.body.from
    : input.pieces.reduce((sum, { length }) => sum + length, 0);

self.onmessage = async (message: MessageEvent<JobMessage<keyof Jobs>>) => {
  cancelIdle?.();
  cancelIdle = null;
  const bytes = sizeOf(message.data);
  uncollectedBytes += bytes;
  const reply = await done(message.data);
  self.postMessage(reply, "result" in reply ? buffersOf(reply.result) : []);
  if (bytes >= COLLECTED_AT_ONCE_BYTES || uncollectedBytes >= COLLECTED_BYTES) collect();
  else cancelIdle = clock.after(IDLE_MS, collect);
};
