// Worker threads for bodies that would hold up the event loop. Threads start when they are first needed, and
// have one job at a time; further jobs wait in order, and beyond a bound they are refused. A job whose client has gone is
// removed while it waits; one that runs is ended by its thread, because it cannot be interrupted, and its result dropped.

import type { CancelSignal } from "../../base/cancellation.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { QueueFullError, Semaphore } from "../../base/semaphore.ts";
import type { JobResult, Jobs } from "./jobs.ts";

/** Reads large bodies elsewhere. */
export interface LargeBodies {
  /** A body of this many bytes is large. */
  readonly bytesMin: number;
  /**
   * Does a job. `buffers` of its input are handed over. Rejects with `RefusedError` when the body is refused or too many
   * jobs wait (`service_unavailable`), and with the signal's reason when it aborts.
   */
  run<K extends keyof Jobs>(
    kind: K,
    input: Jobs[K]["input"],
    buffers: readonly ArrayBuffer[],
    signal?: CancelSignal,
  ): Promise<JobResult<K>>;
}

/** A job as a thread receives it. */
export interface JobMessage<K extends keyof Jobs> {
  readonly kind: K;
  readonly input: Jobs[K]["input"];
}

/** What a thread answers. */
export type JobReply<K extends keyof Jobs> =
  | { readonly result: JobResult<K> }
  | { readonly refusal: Refusal }
  | { readonly error: string };

/**
 * Bytes from which a body is read by a thread: in one of half the size a hostile client can hide more arrays or fields
 * than the event loop reads in 20 ms.
 */
const LARGE_BODY_BYTES_MIN = 256 * 1024;

const THREADS_MAX = 2;
const WAITING_MAX = 64;

const FULL: Refusal = {
  code: "service_unavailable",
  message: "Too many large requests are being read at once. Nothing was done: ask again in a moment.",
  retryAfterS: 1,
};

/** A thread, and how its current job ends; null while it has none. */
interface Thread {
  readonly worker: Worker;
  job: PromiseWithResolvers<JobReply<keyof Jobs>> | null;
}

/** The threads of a node. */
export class LargeBodyPool implements LargeBodies {
  private readonly idle: Thread[] = [];
  private readonly threads = new Set<Thread>();
  private readonly permits: Semaphore;
  /**
   * Answers, and the counts of prompts whose answer has come without figures, have a thread of their own. They are never
   * refused, because a provider was paid for them, and there are no more of them than requests in flight.
   */
  private readonly answerPermits = new Semaphore(1);
  private isStopped = false;

  constructor(
    private readonly log: Log,
    readonly bytesMin = LARGE_BODY_BYTES_MIN,
    { threadsMax = THREADS_MAX, waitingMax = WAITING_MAX } = {},
  ) {
    this.permits = new Semaphore(threadsMax, waitingMax);
  }

  async run<K extends keyof Jobs>(
    kind: K,
    input: Jobs[K]["input"],
    buffers: readonly ArrayBuffer[],
    signal?: CancelSignal,
  ): Promise<JobResult<K>> {
    const permits = kind === "answer" || kind === "count" ? this.answerPermits : this.permits;
    const reply = await permits
      .run(() => this.ask({ kind, input }, buffers), signal)
      .catch((error) => {
        throw error instanceof QueueFullError ? new RefusedError(FULL) : error;
      });
    if ("refusal" in reply) throw new RefusedError(reply.refusal);
    if ("error" in reply) throw new Error(`a large body could not be read: ${reply.error}`);
    return reply.result as JobResult<K>;
  }

  /** Ends all threads. Running jobs are rejected. */
  stop(): void {
    this.isStopped = true;
    for (const thread of this.threads) this.end(thread, new Error("the threads were stopped"));
  }

  private async ask(
    message: JobMessage<keyof Jobs>,
    buffers: readonly ArrayBuffer[],
  ): Promise<JobReply<keyof Jobs>> {
    if (this.isStopped) throw new Error("the threads were stopped");
    const thread = this.idle.pop() ?? this.start();
    thread.job = Promise.withResolvers();
    thread.worker.postMessage(message, buffers as ArrayBuffer[]);
    const reply = await thread.job.promise;
    thread.job = null;
    this.idle.push(thread);
    return reply;
  }

  private end(thread: Thread, why: Error): void {
    this.threads.delete(thread);
    const at = this.idle.indexOf(thread);
    if (at !== -1) this.idle.splice(at, 1);
    thread.worker.terminate();
    thread.job?.reject(why);
  }

  private start(): Thread {
    // Reading alone must not keep the process alive.
    const options = { ref: false } as WorkerOptions;
    const worker = new Worker(new URL("./worker.ts", import.meta.url).href, options);
    const thread: Thread = { worker, job: null };
    worker.onmessage = ({ data }: MessageEvent<JobReply<keyof Jobs>>) => thread.job?.resolve(data);
    worker.onerror = (event) => {
      this.log("error", "large_body_worker_failed", { error: event.message });
      this.end(thread, new Error(event.message));
    };
    this.threads.add(thread);
    return thread;
  }
}
