// Decides when an actor's documents and snapshot are written, and keeps what is not written yet. They trail
// the ledger. A failed save loses nothing, because the ledger has everything and the next save has the same
// documents.
//
// Lists read the documents, so these are written soon. Only a replay reads the snapshot, which is the larger part of a save:
// a busy actor writes it once for several saves. The documents are then newer than the snapshot, as after a save of which
// only they were stored.

import type { Log } from "../../base/log.ts";
import type { Save, StoredDocument } from "../../store/store.ts";
import type { AnyBehavior } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type LoadedState, type Position, snapshotOf, type Uncovered } from "./replay.ts";

/** The actor whose documents and snapshots are written; an `ActorContext`. */
interface SnapshotOwner {
  readonly name: string;
  readonly shard: number;
  readonly behavior: AnyBehavior;
  readonly host: {
    readonly store: { readonly followsSnapshots: boolean };
    readonly clock: { mono(): number };
    readonly limits: Pick<RuntimeLimits, "saveCommits" | "snapshotMs" | "snapshotCommits">;
    readonly log: Log;
    save(save: Save): Promise<void>;
  };
}

/** What a save is to have: documents, and the snapshot when it is due; or both in any case. */
export type SaveExtent = "due" | "whole";

/** A save, what was requested of it, and the position in the ledger of the state that it has. */
export interface TakenSave {
  readonly save: Save;
  readonly extent: SaveExtent;
  readonly position: Pick<Position, "seq" | "at">;
}

/** The writer of one activation's documents and snapshots. */
export class SnapshotWriter {
  /** Documents that were taken from the behavior and are not stored yet, by table and id; null if none is. */
  private unsaved: Map<string, StoredDocument> | null = null;
  /** What the next save that is possible has to have; null when none was requested. */
  private wanted: SaveExtent | null = null;
  /** Commits behind the stored documents. */
  private undocumented = 0;
  /** Commits behind the stored snapshot, and the `at` of the first of them. */
  private uncovered = 0;
  private uncoveredSince: number | null = null;
  /** Monotonic ms at which the last snapshot was stored; null before the first. */
  private snapshotAt: number | null = null;

  constructor(
    private readonly actor: SnapshotOwner,
    private readonly ids: DedupTable,
  ) {}

  /** Called when the actor is loaded, with the commits that no snapshot covers. */
  begin({ commits, since }: Uncovered): void {
    this.wanted = commits > 0 ? "due" : null;
    this.undocumented = commits;
    this.uncovered = commits;
    this.uncoveredSince = since;
  }

  /** Returns whether a save is due at the next moment that allows one. */
  due(): boolean {
    return this.wanted !== null || this.undocumented >= this.actor.host.limits.saveCommits;
  }

  /** Requests a save where one of this extent would write something. */
  request(extent: SaveExtent): void {
    if (this.wouldWrite(extent) && this.wanted !== "whole") this.wanted = extent;
  }

  /** Returns whether a save of this extent would write something now. */
  wouldWrite(extent: SaveExtent): boolean {
    return this.undocumented > 0 || (this.uncovered > 0 && (extent === "whole" || this.isSnapshotDue()));
  }

  /** Called when a commit is durable. */
  committed(position: Position): void {
    this.undocumented++;
    this.uncovered++;
    this.uncoveredSince ??= position.at;
  }

  /** Returns the documents of a state that is exactly at `position`, and its snapshot when that is due or requested. */
  take(state: unknown, position: Position): TakenSave {
    const { actor, ids } = this;
    for (const document of actor.behavior.materialize(state)) {
      this.unsaved ??= new Map();
      this.unsaved.set(keyOf(document), { ...document, seq: position.seq });
    }
    const extent = this.wanted ?? "due";
    this.wanted = null;
    const hasSnapshot = extent === "whole" || this.isSnapshotDue();
    const save = {
      documents: [...(this.unsaved?.values() ?? [])],
      snapshot: hasSnapshot ? snapshotOf(actor.behavior, actor, state, position, ids) : null,
    };
    // A loaded actor's position moves on while the save is written.
    return { save, extent, position: { seq: position.seq, at: position.at } };
  }

  /** Writes a save of the loaded actor. Resolves also when that failed, which it logs. */
  async write(loaded: LoadedState, { save, extent, position }: TakenSave): Promise<void> {
    const { host, name } = this.actor;
    const { documents, snapshot } = save;
    try {
      if (documents.length > 0 || snapshot !== null) await host.save(save);
    } catch (error) {
      if (this.wanted !== "whole") this.wanted = extent;
      host.log("warn", "save_failed", { actor: name, error: String(error) });
      return;
    }
    for (const document of documents) {
      const key = keyOf(document);
      if (this.unsaved?.get(key)?.seq === document.seq) this.unsaved.delete(key);
    }
    if (this.unsaved?.size === 0) this.unsaved = null;
    this.undocumented = Math.max(0, loaded.seq - position.seq);
    if (snapshot === null) return;
    this.snapshotAt = host.clock.mono();
    this.uncovered = Math.max(0, loaded.seq - position.seq);
    // What was committed during the save is at least as new as the save itself.
    this.uncoveredSince = this.uncovered === 0 ? null : position.at;
  }

  /** Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. */
  since(): number | null {
    return this.uncoveredSince;
  }

  /** Returns whether everything committed is in stored documents. */
  isDocumented(): boolean {
    return this.undocumented === 0;
  }

  /** Returns the seq of the newest commit that a stored save of this extent has. */
  savedTo({ seq }: Position, extent: SaveExtent): number {
    return seq - (extent === "whole" ? this.uncovered : this.undocumented);
  }

  private isSnapshotDue(): boolean {
    const { store, clock, limits } = this.actor.host;
    return (
      store.followsSnapshots ||
      this.snapshotAt === null ||
      this.uncovered >= limits.snapshotCommits ||
      clock.mono() - this.snapshotAt >= limits.snapshotMs
    );
  }
}

const keyOf = (document: { readonly table: string; readonly id: string }): string =>
  `${document.table}/${document.id}`;
