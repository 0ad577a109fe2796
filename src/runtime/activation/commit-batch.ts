// What an actor decided and has not committed yet. Everything in it becomes one commit, and every reply that may depend
// on it waits at its gate.

import type { Publication, Reply } from "../actor.ts";

export interface CommitBatch {
  readonly events: { at: number; line: boolean; e: unknown }[];
  readonly done: { id: string; reply: Reply }[];
  /** Commands known by a mark of theirs. */
  readonly marked: string[];
  readonly marks: string[];
  readonly publish: Publication[];
  /** How many of the events are ledger lines. */
  lines: number;
  /** Its documents are stored before its replies leave. */
  save: boolean;
  /** True: durable. False: unknown, everybody asks again. */
  readonly durable: Promise<boolean>;
  readonly release: (committed: boolean) => void;
}

export function emptyCommitBatch(): CommitBatch {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  return {
    events: [],
    done: [],
    marked: [],
    marks: [],
    publish: [],
    lines: 0,
    save: false,
    durable: promise,
    release: resolve,
  };
}
