// Decides when the projections take their steps: some time after a commit, with pauses between them, on the writer's thread
// between its messages. It decides nothing about what a step does.

import type { Clock } from "../../base/clock.ts";
import { isBusy } from "./connection.ts";

/** Milliseconds between a commit and its batch: what comes meanwhile shares the pages that it writes. */
export const BATCH_MS = 1_000;
/** Milliseconds between two steps, which leave most of the thread to the commits. */
export const BEHIND_MS = 20;
/** Milliseconds after a step that met another program's lock, and after one that failed; that one doubles. */
const [LOCK_MS, FAILED_MS, FAILED_MS_MAX] = [5, 1_000, 60_000];

/** What writes behind the commits in steps. A step that throws may be repeated. */
export interface Projection {
  /** Does the next step. Returns the milliseconds until the step after it; null when no commit waits. */
  step(): number | null;
}

/** Runs the steps of a projection. Without commits it does nothing. */
export class ProjectionSchedule {
  readonly #projection: Projection;
  readonly #clock: Pick<Clock, "after">;
  readonly #onError: (error: unknown) => void;
  #failedMs = FAILED_MS;
  /** Cancels the next step; null when none is due. */
  #cancel: (() => void) | null = null;

  constructor(parts: {
    readonly projection: Projection;
    readonly clock: Pick<Clock, "after">;
    /** Called with the reason when a step fails. */
    readonly onError: (error: unknown) => void;
  }) {
    this.#projection = parts.projection;
    this.#clock = parts.clock;
    this.#onError = parts.onError;
  }

  /** Begins to project what is stored now within BATCH_MS. */
  wake(): void {
    if (this.#cancel === null) this.#schedule(BATCH_MS);
  }

  /** Takes a step now, unless the last one failed. */
  stepNow(): void {
    if (this.#failedMs > FAILED_MS) return;
    this.stop();
    this.#run();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #schedule(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#run());
  }

  #run(): void {
    this.#cancel = null;
    try {
      const ms = this.#projection.step();
      if (ms !== null) this.#schedule(ms);
      this.#failedMs = FAILED_MS;
    } catch (error) {
      this.#schedule(isBusy(error) ? LOCK_MS : this.#failed(error));
    }
  }

  /** Reports a failure. Returns the milliseconds until the step is tried again. */
  #failed(error: unknown): number {
    const ms = this.#failedMs;
    this.#failedMs = Math.min(2 * ms, FAILED_MS_MAX);
    this.#onError(error);
    return ms;
  }
}
