// Group commit: what waits while the disk is busy becomes the next transaction. Two lanes, commits and other writes, each
// with one message under way, so that no charge waits for another lane's answer; in each lane the order is kept.
//
//   append, write -> waits in its lane -> end of this turn of the loop: a message to the writer -> told: answered, in order
//
// 1. setImmediate, not a microtask: each incoming message is a turn of its own, and with microtasks each would wait
//    for a sync of its own. Idle, it fires within the same iteration of the loop.
// 2. A transaction takes at most COMMITS_MAX commits, so that the first of them does not wait for many.
// 3. A failed transaction answers unknown, not "failed": the error may come from the sync of a stored one.
//
// bound                          what happens at it
// WRITE_MS since the asking      commits: unknown; another write: rejects with StoreSilent. What waits is dropped, what the
//                                writer has not begun for want of the lock too; what the disk has may yet be stored
// WAITING_MAX, WAITING_CHARS_MAX commits: unknown; another write: rejects with StoreBusy. Neither is stored
// the writer is lost             the same with StoreLost, for all that is under way and all that comes

import assert from "node:assert/strict";
import type { Clock } from "../../base/clock.ts";
import { type Appended, type Commit, StoreBusyError, StoreLost, StoreTimeoutError } from "../store.ts";
import { commitRow } from "./append.ts";
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

export const COMMITS_MAX = 256;
const WRITES_MAX = 64;
/** No write waits longer for its answer. */
const WRITE_MS = 10_000;
const LOOK_MS = 1_000;
/** Commits and writes that wait, and the length of what is in them. */
const WAITING_MAX = 65_536;
const WAITING_CHARS_MAX = 64 * 2 ** 20;

interface Parts {
  readonly clock: Pick<Clock, "mono" | "after">;
  /** Hears why commits were answered "unknown". */
  readonly onError: (error: unknown) => void;
  /** Hears of a write that was carried out, also when nobody waited for it any more. */
  readonly landed: (op: Op, result: unknown) => void;
}

/** The commits of one call, answered together. */
class Append {
  readonly answers: Appended[] = [];
  constructor(
    readonly size: number,
    readonly untilMs: number,
    readonly resolve: (answers: readonly Appended[]) => void,
  ) {}

  get isOver(): boolean {
    return this.answers.length === this.size;
  }
}

interface WaitingCommit {
  readonly of: Append;
  readonly cells: Cells;
  readonly chars: number;
}

interface WaitingWrite {
  readonly write: Write;
  readonly chars: number;
  readonly untilMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  isOver: boolean;
}

export class WriteQueue {
  readonly #parts: Parts;
  #writer: SqliteWriter | null = null;
  #commits: WaitingCommit[] = [];
  #writes: WaitingWrite[] = [];
  /** Null: none. */
  #commitsUnderWay: readonly WaitingCommit[] | null = null;
  #writesUnderWay: readonly WaitingWrite[] | null = null;
  #isDue = false;
  #chars = 0;
  /** Calls that are not answered. */
  #open = 0;
  #stopLooking: (() => void) | null = null;
  #closed = false;
  #lost: StoreLost | null = null;
  #idle = Promise.withResolvers<void>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What carries out the writes. To be given once, before anything is written. */
  serve(writer: SqliteWriter): void {
    this.#writer = writer;
  }

  async append(commits: readonly Commit[]): Promise<readonly Appended[]> {
    assert(!this.#closed, "the store is closed");
    if (commits.length === 0) return [];
    const rows = commits.map((commit) => {
      const cells = commitRow(commit);
      return { cells, chars: charsIn(cells) };
    });
    const chars = rows.reduce((sum, row) => sum + row.chars, 0);
    const refusal = this.#lost ?? this.#full(commits.length, chars);
    if (refusal !== null) {
      this.#parts.onError(refusal);
      return commits.map(() => "unknown");
    }
    const { promise, resolve } = Promise.withResolvers<readonly Appended[]>();
    const of = new Append(commits.length, this.#opened(chars), resolve);
    for (const row of rows) this.#commits.push({ of, ...row });
    return promise;
  }

  /** Rejects where it failed; then nothing of it is stored, but for StoreSilent and StoreLost. */
  async write<O extends Op>(op: O, ...given: Parameters<Writes[O]>): Promise<ReturnType<Writes[O]>> {
    assert(!this.#closed, "the store is closed");
    const chars = charsIn(given);
    const refusal = this.#lost ?? this.#full(1, chars);
    if (refusal !== null) throw refusal;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const [write, untilMs] = [[op, ...given] as unknown as Write, this.#opened(chars)];
    this.#writes.push({ write, chars, untilMs, resolve, reject, isOver: false });
    return promise as Promise<ReturnType<Writes[O]>>;
  }

  /** The writer tells what became of the message that a lane has under way. */
  told(told: WriterReply): void {
    if ("commits" in told) this.#committed(told.commits);
    else if ("writes" in told) this.#written(told.writes);
    this.#due();
  }

  /** There is no writer any more: whether what it had was stored nobody knows. */
  lose(why: string): void {
    if (this.#lost !== null) return;
    const lost = new StoreLost(why);
    this.#lost = lost;
    for (const { of } of [...(this.#commitsUnderWay ?? []), ...this.#commits]) this.#giveUp(of, lost);
    for (const one of [...(this.#writesUnderWay ?? []), ...this.#writes]) this.#settle(one, lost);
    this.#commits = [];
    this.#writes = [];
  }

  /** Throws where nothing can be written any more. */
  mustLive(): void {
    if (this.#lost !== null) throw this.#lost;
  }

  /** Takes no more; resolves when all is answered, at the latest after WRITE_MS. */
  finish(): Promise<void> {
    this.#closed = true;
    return this.#open === 0 ? Promise.resolve() : this.#idle.promise;
  }

  #full(writes: number, chars: number): StoreBusyError | null {
    const waiting = this.#commits.length + this.#writes.length;
    // One alone may be larger: what it needs it has already.
    const isFull = waiting + writes > WAITING_MAX || this.#chars + chars > WAITING_CHARS_MAX;
    return this.#open > 0 && isFull ? new StoreBusyError("too much waits for the database already") : null;
  }

  /** A call begins; answers when it ends at the latest. */
  #opened(chars: number): number {
    this.#chars += chars;
    this.#open++;
    this.#stopLooking ??= this.#parts.clock.after(LOOK_MS, () => this.#look());
    this.#due();
    return this.#parts.clock.mono() + WRITE_MS;
  }

  #ended(): void {
    this.#open--;
    if (this.#open > 0) return;
    this.#stopLooking?.();
    this.#stopLooking = null;
    this.#idle.resolve();
  }

  #due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#commitsUnderWay === null && this.#commits.length > 0) {
      this.#commitsUnderWay = this.#commits.splice(0, COMMITS_MAX);
      this.#writer?.post(this.#commitsUnderWay.flatMap(({ cells }) => cells));
    }
    if (this.#writesUnderWay === null && this.#writes.length > 0) {
      this.#writesUnderWay = this.#writes.splice(0, WRITES_MAX);
      this.#writer?.post({ writes: this.#writesUnderWay.map(({ write }) => write) });
    }
  }

  #committed(outcomes: string | WriteFailure): void {
    const rows = this.#commitsUnderWay ?? [];
    this.#commitsUnderWay = null;
    if (typeof outcomes !== "string" && rows.some(({ of }) => !of.isOver)) {
      this.#parts.onError(writeError(outcomes));
    }
    rows.forEach(({ of, chars }, i) => {
      this.#chars -= chars;
      if (of.isOver) return;
      of.answers.push(typeof outcomes === "string" ? OUTCOMES[outcomes[i] as CommitOutcome] : "unknown");
      if (of.isOver) this.#answer(of);
    });
  }

  #written(results: readonly Result[]): void {
    const writes = this.#writesUnderWay ?? [];
    this.#writesUnderWay = null;
    writes.forEach((one, i) => {
      const result = results[i]!;
      this.#chars -= one.chars;
      if ("failed" in result) this.#settle(one, writeError(result));
      else {
        this.#parts.landed(one.write[0], result.ok);
        this.#settle(one, null, result.ok);
      }
    });
  }

  #answer(of: Append): void {
    of.resolve(of.answers);
    this.#ended();
  }

  #giveUp(of: Append, why: Error): void {
    if (of.isOver) return;
    while (!of.isOver) of.answers.push("unknown");
    this.#parts.onError(why);
    this.#answer(of);
  }

  #settle(one: WaitingWrite, error: Error | null, result?: unknown): void {
    if (one.isOver) return;
    one.isOver = true;
    if (error === null) one.resolve(result);
    else one.reject(error);
    this.#ended();
  }

  /** Once a second while anything is open: what has waited for too long is answered. */
  #look(): void {
    const now = this.#parts.clock.mono();
    const silent = new StoreTimeoutError(`the database did not answer within ${WRITE_MS / 1_000} s`);
    for (const { of } of [...(this.#commitsUnderWay ?? []), ...this.#commits]) {
      if (of.untilMs <= now) this.#giveUp(of, silent);
    }
    for (const one of [...(this.#writesUnderWay ?? []), ...this.#writes]) {
      if (one.untilMs <= now) this.#settle(one, silent);
    }
    this.#commits = this.#commits.filter((row) => this.#keeps(row, row.of.isOver));
    this.#writes = this.#writes.filter((one) => this.#keeps(one, one.isOver));
    if (this.#commitsUnderWay?.every(({ of }) => of.isOver)) this.#abandon("commits");
    if (this.#writesUnderWay?.every(({ isOver }) => isOver)) this.#abandon("writes");
    this.#stopLooking = this.#open === 0 ? null : this.#parts.clock.after(LOOK_MS, () => this.#look());
  }

  #keeps({ chars }: { readonly chars: number }, isOver: boolean): boolean {
    if (isOver) this.#chars -= chars;
    return !isOver;
  }

  #abandon(lane: Lane): void {
    this.#writer?.post({ abandon: lane });
  }
}

/** About the room that plain data takes: the length of its texts. */
function charsIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let sum = 0;
  for (const one of Array.isArray(value) ? value : Object.values(value)) sum += charsIn(one);
  return sum;
}
