// Events and replies of an actor that are not committed yet. A batch becomes one commit, and every reply that
// may depend on it waits for it.

import type { Publication, Reply } from "../actor.ts";

/** Events and replies that go into one commit. It is open, and empty at first. */
export class CommitBatch {
  readonly events: { at: number; line: boolean; e: unknown }[] = [];
  readonly done: { id: string; reply: Reply }[] = [];
  /** The ids of commands that wrote a dedup id and whose replies are kept for some seconds after the commit. */
  readonly keptAfterCommit: string[] = [];
  /** Those whose replies are forgotten with the commit, because no copy of them is under way (`Envelope.hasNoOtherCopy`). */
  readonly forgottenOnCommit: string[] = [];
  /** The dedup ids of the events. */
  readonly dedupIds: string[] = [];
  readonly publish: Publication[] = [];
  /** Number of events that are ledger lines. */
  lines = 0;
  /** Documents are stored before the replies are sent. */
  save = false;
  /**
   * Resolves to true when the batch is durable, and to false when the outcome is unknown and callers must
   * retry.
   */
  readonly durable: Promise<boolean>;
  release!: (committed: boolean) => void;

  constructor() {
    this.durable = new Promise((resolve) => {
      this.release = resolve;
    });
  }
}
