// Decides when an actor's documents and snapshot are written, and keeps what is not written yet. They trail
// the ledger. A failed save loses nothing, because the ledger has everything and the next save has the same
// documents.

import type { Log } from "../../base/log.ts";
import type { Save, StoredDocument } from "../../store/store.ts";
import type { AnyBehavior } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type LoadedState, type Position, snapshotOf, type Uncovered } from "./replay.ts";

/** The actor whose snapshots are written; an `ActorContext`. */
interface SnapshotOwner {
  readonly name: string;
  readonly shard: number;
  readonly behavior: AnyBehavior;
  readonly host: {
    readonly limits: Pick<RuntimeLimits, "saveCommits">;
    readonly log: Log;
    save(save: Save): Promise<void>;
  };
}

/** The snapshot writer of one activation. */
export class SnapshotWriter {
  /** Documents that were taken from the behavior and are not stored yet, by table and id; null if none is. */
  private unsaved: Map<string, StoredDocument> | null = null;
  private wanted = false;
  private uncovered = 0;
  private uncoveredSince: number | null = null;

  constructor(
    private readonly actor: SnapshotOwner,
    private readonly ids: DedupTable,
  ) {}

  /** Called when the actor is loaded, with the commits that no snapshot covers. */
  begin({ commits, since }: Uncovered): void {
    this.wanted = commits > 0;
    this.uncovered = commits;
    this.uncoveredSince = since;
  }

  /** Returns whether a save is due at the next moment that allows one. */
  due(): boolean {
    return this.wanted || this.uncovered >= this.actor.host.limits.saveCommits;
  }

  /** Requests a save, for the periodic saver. */
  request(): void {
    if (this.uncoveredSince !== null) this.wanted = true;
  }

  /** Called when a commit is durable. */
  committed(position: Position): void {
    this.uncovered++;
    this.uncoveredSince ??= position.at;
  }

  /** Returns documents and snapshot of a state that is exactly at `position`. */
  take(state: unknown, position: Position): Save {
    const { actor, ids } = this;
    for (const document of actor.behavior.materialize(state)) {
      this.unsaved ??= new Map();
      this.unsaved.set(keyOf(document), { ...document, seq: position.seq });
    }
    return {
      documents: [...(this.unsaved?.values() ?? [])],
      snapshot: snapshotOf(actor.behavior, actor, state, position, ids),
    };
  }

  /** Writes a save of the loaded actor. Resolves also when that failed, which it logs. */
  async write(loaded: LoadedState, save: Save): Promise<void> {
    const { host, name } = this.actor;
    this.wanted = false;
    try {
      await host.save(save);
    } catch (error) {
      this.wanted = true;
      host.log("warn", "save_failed", { actor: name, error: String(error) });
      return;
    }
    for (const document of save.documents) {
      const key = keyOf(document);
      if (this.unsaved?.get(key)?.seq === document.seq) this.unsaved.delete(key);
    }
    if (this.unsaved?.size === 0) this.unsaved = null;
    this.uncovered = Math.max(0, loaded.seq - save.snapshot.seq);
    // What was committed during the save is at least as new as the save itself.
    this.uncoveredSince = this.uncovered === 0 ? null : save.snapshot.at;
  }

  /** Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. */
  since(): number | null {
    return this.uncoveredSince;
  }

  /** Returns the seq of the newest commit that a stored snapshot covers, with its documents. */
  covered({ seq }: Position): number {
    return seq - this.uncovered;
  }
}

const keyOf = (document: { readonly table: string; readonly id: string }): string =>
  `${document.table}/${document.id}`;
