// The worker thread that does the jobs of job-handlers.ts for worker-pool.ts, one after another. Whatever a body costs, it
// holds up this thread alone.

import { existsSync, readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { basename } from "node:path";
import { realClock } from "../../base/clock.ts";
import { RefusedError, stackOf } from "../../base/errors.ts";
import { createCounter } from "../metering/token-counter.ts";
import { JOB_HANDLERS } from "./job-handlers.ts";
import type { JobResult, Jobs } from "./jobs.ts";
import { WorkerHeap } from "./worker-heap.ts";
import type { JobMessage, JobReply } from "./worker-pool.ts";

declare const self: Worker;

/** How much this thread yields to others where processors are scarce, such as to the event loop: a third of their share. */
const NICENESS = 5;
/** Names this thread on Linux, where each has a priority of its own. */
const THREAD = "/proc/thread-self";

if (existsSync(THREAD)) setPriority(Number(basename(readlinkSync(THREAD))), NICENESS);

const clock = realClock();
const counter = createCounter({ clock });
const heap = new WorkerHeap(clock);

async function done<K extends keyof Jobs>({ kind, input }: JobMessage<K>): Promise<JobReply<K>> {
  try {
    return { result: await JOB_HANDLERS[kind](input, counter) };
  } catch (error) {
    if (error instanceof RefusedError) return { refusal: error.refusal };
    return { error: stackOf(error) };
  }
}

/** Returns the buffers of a result, which are handed over. */
function buffersOf({ body, output }: JobResult<keyof Jobs>): ArrayBuffer[] {
  const views = [body?.buffer];
  if (typeof output === "object" && "bytes" in output) views.push(output.bytes);
  if (typeof output === "object" && "client" in output) views.push(output.client);
  return [...new Set(views.flatMap((view) => (view === undefined ? [] : [view.buffer as ArrayBuffer])))];
}

const sizeOf = ({ input }: JobMessage<keyof Jobs>): number =>
  "body" in input
    ? input.body.to - input.body.from
    : input.pieces.reduce((sum, { length }) => sum + length, 0);

self.onmessage = async (message: MessageEvent<JobMessage<keyof Jobs>>) => {
  heap.begin();
  const bytes = sizeOf(message.data);
  const reply = await done(message.data);
  self.postMessage(reply, "result" in reply ? buffersOf(reply.result) : []);
  heap.end(bytes);
};
