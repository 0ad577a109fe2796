// Events and replies of an actor that are not committed yet. A batch becomes one commit, and every reply that
// may depend on it waits for it.

import type { Publication, Reply } from "../actor.ts";

/** Events and replies that go into one commit. */
export interface CommitBatch {
  readonly events: { at: number; line: boolean; e: unknown }[];
  readonly done: { id: string; reply: Reply }[];
  /** The ids of the commands that wrote a dedup id, but for those of which no copy is under way (`Envelope.isSole`). */
  readonly dedupedCommands: string[];
  readonly soleCommands: string[];
  /** The dedup ids of the events. */
  readonly dedupIds: string[];
  readonly publish: Publication[];
  /** Number of events that are ledger lines. */
  lines: number;
  /** Documents are stored before the replies are sent. */
  save: boolean;
  /**
   * Resolves to true when the batch is durable, and to false when the outcome is unknown and callers must
   * retry.
   */
  readonly durable: Promise<boolean>;
  readonly release: (committed: boolean) => void;
}

/** Returns an empty open batch. */
export function emptyCommitBatch(): CommitBatch {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  return {
    events: [],
    done: [],
    dedupedCommands: [],
    soleCommands: [],
    dedupIds: [],
    publish: [],
    lines: 0,
    save: false,
    durable: promise,
    release: resolve,
  };
}
