// Group commit: what waits while the disk is busy becomes the next transaction. There are two lanes, commits
// and other writes, each with one message in flight, so that no charge waits for another lane's reply. Each
// lane keeps its order.
//
//   append, write -> waits in its lane -> end of this event loop turn: a message to the writer
//   -> its reply: the calls are resolved in order
//
// 1. setImmediate, not a microtask: each incoming message is a turn of its own, and with microtasks each
//    would wait for a sync of its own. When idle, it fires within the same iteration of the event loop.
// 2. A transaction takes at most COMMITS_MAX commits, so that the first of them does not wait for many. A call that has
//    more is divided.
// 3. A failed transaction answers unknown, not "failed": the error may come from the sync of a stored one.
//
// bound                           outcome
// WRITE_MS since the call         commits: unknown; another write: rejects with StoreTimeoutError.
//                                 What still waits here is dropped, and so is what the writer has not begun
//                                 because of the lock; what the disk has may still be stored
// WAITING_MAX, WAITING_CHARS_MAX  commits: unknown; another write: rejects with StoreBusyError.
//                                 Neither is stored
// the writer is lost              commits: unknown; another write: rejects with StoreLostError.
//                                 This concerns all writes in flight and all later ones

import assert from "node:assert/strict";
import type { Clock } from "../../base/clock.ts";
import type { Appended, Commit } from "../store.ts";
import { StoreBusyError, StoreLostError, StoreTimeoutError } from "../store-errors.ts";
import { COMMIT_CELLS, commitCells } from "./ledger-rows.ts";
import {
  type Cells,
  type CommitOutcome,
  type Lane,
  type Op,
  OUTCOMES,
  type Result,
  type SqliteWriter,
  type Write,
  type WriteFailure,
  type WriterReply,
  type Writes,
  writeError,
} from "./write-messages.ts";

/** Commits in one transaction at most. */
export const COMMITS_MAX = 256;
const WRITES_MAX = 64;
/** Milliseconds that a write waits for its reply at most. */
const WRITE_MS = 10_000;
const CHECK_MS = 1_000;
/** Commits and writes that may wait at once, and the total length of the texts in them. */
const WAITING_MAX = 65_536;
const WAITING_CHARS_MAX = 64 * 2 ** 20;

interface Parts {
  readonly clock: Pick<Clock, "mono" | "after">;
  /** Called with the reason when commits are answered "unknown", or something could not be projected. */
  readonly onError: (error: unknown) => void;
  /** Called when a write was carried out, also when its caller had already been rejected. */
  readonly onApplied: (op: Op, result: unknown) => void;
}

/** Commits of one call that go into the same transaction. */
class Append {
  isSettled = false;
  constructor(
    readonly cells: Cells,
    readonly chars: number,
    readonly untilMs: number,
    readonly resolve: (answers: readonly Appended[]) => void,
  ) {}

  get size(): number {
    return this.cells.length / COMMIT_CELLS;
  }
}

interface WaitingWrite {
  readonly write: Write;
  readonly chars: number;
  readonly untilMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  isSettled: boolean;
}

/** The queue between the store's methods and the writer. */
export class WriteQueue {
  readonly #parts: Parts;
  #writer: SqliteWriter | null = null;
  #appends: Append[] = [];
  #writes: WaitingWrite[] = [];
  /** Null when no message of the lane is in flight. */
  #appendsInFlight: readonly Append[] | null = null;
  #writesInFlight: readonly WaitingWrite[] | null = null;
  #isFlushScheduled = false;
  #chars = 0;
  /** Calls that are not resolved yet. */
  #open = 0;
  #cancelCheck: (() => void) | null = null;
  #closed = false;
  #lost: StoreLostError | null = null;
  /** Resolves when no call is open; null while nothing waits for that. */
  #whenIdle: PromiseWithResolvers<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Sets the writer. Call it once, before the first write. */
  setWriter(writer: SqliteWriter): void {
    this.#writer = writer;
  }

  /** Appends commits, as `Store.append`. Rejects when the queue is closed, or a commit is not plain data. */
  async append(commits: readonly Commit[]): Promise<readonly Appended[]> {
    assert(!this.#closed, "the store is closed");
    if (commits.length === 0) return [];
    const cells = commitCells(commits);
    const chars = charsIn(cells);
    const refusal = this.#lost ?? this.#refusalIfFull(commits.length, chars);
    if (refusal !== null) {
      this.#parts.onError(refusal);
      return commits.map(() => "unknown");
    }
    if (commits.length <= COMMITS_MAX) return this.#queue(cells, chars);
    const parts: Promise<readonly Appended[]>[] = [];
    for (let from = 0; from < cells.length; from += COMMITS_MAX * COMMIT_CELLS) {
      const part = cells.slice(from, from + COMMITS_MAX * COMMIT_CELLS);
      parts.push(this.#queue(part, charsIn(part)));
    }
    return (await Promise.all(parts)).flat();
  }

  /**
   * Carries out a write. When it rejects, nothing is stored, except with `StoreTimeoutError` and `StoreLostError`,
   * after which the write may have been applied.
   */
  async write<O extends Op>(op: O, ...args: Parameters<Writes[O]>): Promise<ReturnType<Writes[O]>> {
    assert(!this.#closed, "the store is closed");
    const chars = charsIn(args);
    const refusal = this.#lost ?? this.#refusalIfFull(1, chars);
    if (refusal !== null) throw refusal;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const [write, untilMs] = [[op, ...args] as unknown as Write, this.#register(chars)];
    this.#writes.push({ write, chars, untilMs, resolve, reject, isSettled: false });
    return promise as Promise<ReturnType<Writes[O]>>;
  }

  /** Takes the writer's reply to the message that a lane has in flight. */
  receive(reply: WriterReply): void {
    if ("commits" in reply) this.#committed(reply.commits);
    else if ("writes" in reply) this.#written(reply.writes);
    else if ("projection" in reply) this.#parts.onError(writeError(reply.projection));
    this.#scheduleFlush();
  }

  /** Marks the writer as lost: it is unknown whether the writes that it had were stored. */
  lose(why: string): void {
    if (this.#lost !== null) return;
    const lost = new StoreLostError(why);
    this.#lost = lost;
    for (const append of [...(this.#appendsInFlight ?? []), ...this.#appends])
      this.#answerUnknown(append, lost);
    for (const one of [...(this.#writesInFlight ?? []), ...this.#writes]) this.#settle(one, lost);
    this.#appends = [];
    this.#writes = [];
  }

  /** Throws `StoreLostError` when the writer is lost. */
  assertUsable(): void {
    if (this.#lost !== null) throw this.#lost;
  }

  /** Refuses later calls. Resolves when all open calls are resolved, after WRITE_MS at the latest. */
  finish(): Promise<void> {
    this.#closed = true;
    if (this.#open === 0) return Promise.resolve();
    this.#whenIdle ??= Promise.withResolvers();
    return this.#whenIdle.promise;
  }

  #queue(cells: Cells, chars: number): Promise<readonly Appended[]> {
    const untilMs = this.#register(chars);
    return new Promise((resolve) => this.#appends.push(new Append(cells, chars, untilMs, resolve)));
  }

  #refusalIfFull(writes: number, chars: number): StoreBusyError | null {
    const waiting = sizeOf(this.#appends) + this.#writes.length;
    // A single call may exceed the bound, because its data is already in memory.
    const isFull = waiting + writes > WAITING_MAX || this.#chars + chars > WAITING_CHARS_MAX;
    return this.#open > 0 && isFull ? new StoreBusyError("too much waits for the database already") : null;
  }

  /** Registers a call. Returns its deadline on the monotonic clock. */
  #register(chars: number): number {
    this.#chars += chars;
    this.#open++;
    this.#cancelCheck ??= this.#parts.clock.after(CHECK_MS, () => this.#checkDeadlines());
    this.#scheduleFlush();
    return this.#parts.clock.mono() + WRITE_MS;
  }

  #unregister(): void {
    this.#open--;
    if (this.#open > 0) return;
    this.#cancelCheck?.();
    this.#cancelCheck = null;
    this.#whenIdle?.resolve();
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#appendsInFlight === null && this.#appends.length > 0) {
      const appends = this.#takeAppends();
      this.#appendsInFlight = appends;
      this.#writer?.post(appends.length === 1 ? appends[0]!.cells : appends.flatMap(({ cells }) => cells));
    }
    if (this.#writesInFlight === null && this.#writes.length > 0) {
      this.#writesInFlight = this.#writes.splice(0, WRITES_MAX);
      this.#writer?.post({ writes: this.#writesInFlight.map(({ write }) => write) });
    }
  }

  /** Removes and returns the appends of the next transaction. */
  #takeAppends(): readonly Append[] {
    let count = 1;
    let commits = this.#appends[0]!.size;
    while (count < this.#appends.length) {
      commits += this.#appends[count]!.size;
      if (commits > COMMITS_MAX) break;
      count++;
    }
    return this.#appends.splice(0, count);
  }

  #committed(outcomes: string | WriteFailure): void {
    const appends = this.#appendsInFlight ?? [];
    this.#appendsInFlight = null;
    if (typeof outcomes !== "string" && appends.some(({ isSettled }) => !isSettled)) {
      this.#parts.onError(writeError(outcomes));
    }
    let from = 0;
    for (const append of appends) {
      const answers: Appended[] = [];
      for (let i = from; i < from + append.size; i++) {
        answers.push(typeof outcomes === "string" ? OUTCOMES[outcomes[i] as CommitOutcome] : "unknown");
      }
      from += append.size;
      this.#chars -= append.chars;
      if (!append.isSettled) this.#answer(append, answers);
    }
  }

  #written(results: readonly Result[]): void {
    const writes = this.#writesInFlight ?? [];
    this.#writesInFlight = null;
    writes.forEach((one, i) => {
      const result = results[i]!;
      this.#chars -= one.chars;
      if ("failed" in result) this.#settle(one, writeError(result));
      else {
        this.#parts.onApplied(one.write[0], result.ok);
        this.#settle(one, null, result.ok);
      }
    });
  }

  #answer(append: Append, answers: readonly Appended[]): void {
    append.isSettled = true;
    append.resolve(answers);
    this.#unregister();
  }

  #answerUnknown(append: Append, why: Error): void {
    if (append.isSettled) return;
    this.#parts.onError(why);
    this.#answer(
      append,
      Array.from({ length: append.size }, () => "unknown" as const),
    );
  }

  #settle(one: WaitingWrite, error: Error | null, result?: unknown): void {
    if (one.isSettled) return;
    one.isSettled = true;
    if (error === null) one.resolve(result);
    else one.reject(error);
    this.#unregister();
  }

  /** Runs once a second while a call is open, and ends the calls that are past their deadline. */
  #checkDeadlines(): void {
    const now = this.#parts.clock.mono();
    const timeout = new StoreTimeoutError(`the database did not answer within ${WRITE_MS / 1_000} s`);
    for (const append of [...(this.#appendsInFlight ?? []), ...this.#appends]) {
      if (append.untilMs <= now) this.#answerUnknown(append, timeout);
    }
    for (const one of [...(this.#writesInFlight ?? []), ...this.#writes]) {
      if (one.untilMs <= now) this.#settle(one, timeout);
    }
    this.#appends = this.#appends.filter((append) => this.#keeps(append));
    this.#writes = this.#writes.filter((write) => this.#keeps(write));
    if (this.#appendsInFlight?.every(({ isSettled }) => isSettled)) this.#abandon("commits");
    if (this.#writesInFlight?.every(({ isSettled }) => isSettled)) this.#abandon("writes");
    this.#cancelCheck =
      this.#open === 0 ? null : this.#parts.clock.after(CHECK_MS, () => this.#checkDeadlines());
  }

  /** Whether something still waits for an answer. What does not is taken off the total. */
  #keeps({ chars, isSettled }: { readonly chars: number; readonly isSettled: boolean }): boolean {
    if (isSettled) this.#chars -= chars;
    return !isSettled;
  }

  #abandon(lane: Lane): void {
    this.#writer?.post({ abandon: lane });
  }
}

/** The number of commits in appends. */
const sizeOf = (appends: readonly Append[]): number => appends.reduce((sum, { size }) => sum + size, 0);

/** The approximate size of plain data: the length of its texts. */
function charsIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  for (const one of Array.isArray(value) ? value : Object.values(value)) sum += charsIn(one);
  return sum;
}
