// The Idempotency-Keys of writes that have no answer yet, one for each write. A key stays until it is known what became of its
// write, so that no repeat is done twice.

import type { Failure } from "./failure.ts";

/** Writes that are kept until they have an answer; beyond it the oldest is forgotten. */
const UNANSWERED_MAX = 100;

interface Unanswered {
  readonly id: string;
  /** Whether an attempt may have been done. */
  readonly isInDoubt: boolean;
}

/** The keys of unanswered writes. A write is named by what is sent. */
export class WriteKeys {
  readonly #unanswered = new Map<string, Unanswered>();

  constructor(private readonly newId: () => string) {}

  /** Returns the Idempotency-Key of a write: that of the last attempt, as long as it has no answer. */
  idOf(write: string): string {
    const { id, isInDoubt } = this.#unanswered.get(write) ?? { id: this.newId(), isInDoubt: false };
    this.#keep(write, { id, isInDoubt });
    return id;
  }

  /** Whether it is unknown if the write was done, so that sending it would repeat it and not be another one. */
  isInDoubt(write: string): boolean {
    return this.#unanswered.get(write)?.isInDoubt ?? false;
  }

  /** Ends a write that was answered: the same one again is another act. */
  end(write: string): void {
    this.#unanswered.delete(write);
  }

  /**
   * Takes note of a failure. A refusal ends the write, unless an attempt before it may have been done: then the refusal says
   * nothing of that one, and another key would do it twice.
   */
  fail(write: string, failure: Failure): void {
    const found = this.#unanswered.get(write);
    if (found === undefined) return;
    if (failure.kind === "unknown") this.#keep(write, { ...found, isInDoubt: true });
    if (failure.kind !== "refused") return;
    if (!found.isInDoubt || failure.code === "idempotency_expired") this.end(write);
  }

  clear(): void {
    this.#unanswered.clear();
  }

  /** Keeps a write as the newest one. */
  #keep(write: string, kept: Unanswered): void {
    this.#unanswered.delete(write);
    this.#unanswered.set(write, kept);
    if (this.#unanswered.size > UNANSWERED_MAX) this.end(this.#unanswered.keys().next().value!);
  }
}
