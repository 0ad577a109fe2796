// Decides when an actor's documents and snapshot are written, and keeps what is not written yet. They trail
// the ledger. A failed save loses nothing, because the ledger has everything and the next save has the same
// documents.

import type { Save, StoredDocument } from "../../store/store.ts";
import type { AnyBehavior } from "../actor.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type LoadedState, type Position, snapshotOf } from "./replay.ts";

export interface SnapshotWriter {
  /** Returns whether a save is due at the next moment that allows one. */
  due(): boolean;
  /** Requests a save, for the periodic saver. */
  want(): void;
  committed(position: Position): void;
  /** Returns documents and snapshot of a state that is exactly at `position`. */
  take(position: Position): Save;
  /** Writes a save. Resolves also when that failed, and calls `failed` then. */
  write(save: Save): Promise<void>;
  /** Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. */
  since(): number | null;
  /** Returns the seq of the newest commit that a stored snapshot covers, with its documents. */
  covered(): number;
}

/** Creates the writer of one loaded actor. A save is due at least every `everyCommits` commits. */
export function createSnapshotWriter(parts: {
  behavior: AnyBehavior;
  actor: { name: string; shard: number };
  fold: LoadedState;
  ids: DedupTable;
  everyCommits: number;
  save(save: Save): Promise<void>;
  failed(error: unknown): void;
}): SnapshotWriter {
  const { behavior, actor, fold, ids } = parts;
  /** Documents that were taken from the behavior and are not stored yet, by table and id. */
  const unsaved = new Map<string, StoredDocument>();
  let wanted = fold.uncovered.commits > 0;
  let uncovered = fold.uncovered.commits;
  let since = fold.uncovered.since;
  const keyOf = (document: { table: string; id: string }) => `${document.table}/${document.id}`;

  return {
    due: () => wanted || uncovered >= parts.everyCommits,
    want() {
      if (since !== null) wanted = true;
    },
    committed(position) {
      uncovered++;
      since ??= position.at;
    },
    take(position) {
      for (const document of behavior.materialize(fold.state)) {
        unsaved.set(keyOf(document), { ...document, seq: position.seq });
      }
      return {
        documents: [...unsaved.values()],
        snapshot: snapshotOf(behavior, actor, fold.state, position, ids),
      };
    },
    async write(save) {
      wanted = false;
      try {
        await parts.save(save);
      } catch (error) {
        wanted = true;
        parts.failed(error);
        return;
      }
      for (const document of save.documents) {
        if (unsaved.get(keyOf(document))?.seq === document.seq) unsaved.delete(keyOf(document));
      }
      uncovered = Math.max(0, fold.position.seq - save.snapshot.seq);
      // What was committed during the save is at least as new as the save itself.
      since = uncovered === 0 ? null : save.snapshot.at;
    },
    since: () => since,
    covered: () => fold.position.seq - uncovered,
  };
}
