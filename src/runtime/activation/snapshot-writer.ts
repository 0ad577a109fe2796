// When an actor's documents and snapshot are written, and what is still to be written. They trail the ledger; a failed
// save is no failure, since the ledger has it all and the next save carries the same documents again.

import type { Save, StoredDocument } from "../../store/store.ts";
import type { AnyBehavior } from "../actor.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type LoadedState, type Position, snapshotOf } from "./replay.ts";

export interface SnapshotWriter {
  /** A save should be taken at the next moment that allows one. */
  due(): boolean;
  /** The periodic saver asks for one. */
  want(): void;
  committed(position: Position): void;
  /** Documents and snapshot of a state that stands exactly at `position`. */
  take(position: Position): Save;
  /** Writes it; resolves also when that failed. */
  write(save: Save): Promise<void>;
  /** Wall ms of the oldest commit that no snapshot covers; null = all covered. */
  since(): number | null;
  /** Seq of the newest commit that a stored snapshot covers, its documents with it. */
  covered(): number;
}

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
  /** Taken from the behaviour and not stored yet, by table and id. */
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
      // What was committed while the save was under way is at least as new as the save itself.
      since = uncovered === 0 ? null : save.snapshot.at;
    },
    since: () => since,
    covered: () => fold.position.seq - uncovered,
  };
}
