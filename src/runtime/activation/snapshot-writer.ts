// Decides when an actor's documents and snapshot are written, and keeps what is not written yet. They trail
// the ledger. A failed save loses nothing, because the ledger has everything and the next save has the same
// documents.
//
// Lists read the documents, so these are written soon. Only a replay reads the snapshot, which is the larger part of a save:
// a busy actor writes it once for several saves. The documents are then newer than the snapshot, as after a save of which
// only they were stored. Where readers ask for a save before they read (`Behavior.mayTrail`), the documents wait for the snapshot.

import type { Log } from "../../base/log.ts";
import type { Save, StoredDocument } from "../../store/store.ts";
import type { AnyBehavior } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type Position, snapshotOf, type Uncovered } from "./replay.ts";

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

/**
 * What a save is to have: the documents, unless they may trail, and the snapshot when it is due; the documents in any case; or both
 * in any case.
 */
export type SaveExtent = "due" | "documents" | "whole";

const EXTENTS: readonly SaveExtent[] = ["due", "documents", "whole"];

const larger = (a: SaveExtent, b: SaveExtent): SaveExtent =>
  EXTENTS.indexOf(a) > EXTENTS.indexOf(b) ? a : b;

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
  /** The seqs of the newest durable commit, and of the newest ones that stored documents and the stored snapshot have. */
  private seq = 0;
  private documentedTo = 0;
  private coveredTo = 0;
  /** The `at` of the first commit that no snapshot covers; null when all are covered. */
  private uncoveredSince: number | null = null;
  /** Saves that are being written. */
  private writing = 0;
  /** Monotonic ms at which the last snapshot was taken; null before the first, and when it could not be stored. */
  private snapshotAt: number | null = null;

  constructor(
    private readonly actor: SnapshotOwner,
    private readonly ids: DedupTable,
  ) {}

  /** Called when the actor is loaded up to `seq`, with the commits that no snapshot covers. */
  begin(seq: number, { commits, since }: Uncovered): void {
    this.wanted = commits > 0 ? "due" : null;
    this.seq = seq;
    this.documentedTo = seq - commits;
    this.coveredTo = seq - commits;
    this.uncoveredSince = since;
  }

  /**
   * Returns whether a save of a state is due at the next moment that allows one. While a save is being written, no further one is
   * due unless its caller asked for it: on a slow store each commit would repeat most of the one before.
   */
  due(state: unknown): boolean {
    if (this.writing > 0) return this.wanted !== null && this.wanted !== "due";
    if (this.wanted !== null) return true;
    const { saveCommits, snapshotCommits } = this.actor.host.limits;
    return (
      this.seq - this.documentedTo >= saveCommits &&
      (this.seq - this.coveredTo >= snapshotCommits || !this.mayTrail(state))
    );
  }

  /**
   * Requests a save of a state to this extent, unless a larger one was requested already. Returns false, and requests nothing, when
   * it would write nothing.
   */
  request(extent: SaveExtent, state: unknown): boolean {
    if (extent === "due" && this.writing > 0) return false;
    const wanted = larger(extent, this.wanted ?? extent);
    const isSnapshotMissing = this.coveredTo < this.seq && (wanted === "whole" || this.isSnapshotDue());
    const isToDocument = !this.isDocumented() && (wanted !== "due" || !this.mayTrail(state));
    if (!isSnapshotMissing && !isToDocument) return false;
    this.wanted = wanted;
    return true;
  }

  /** Called when a commit is durable. */
  committed({ seq, at }: Position): void {
    this.seq = seq;
    this.uncoveredSince ??= at;
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
    if (hasSnapshot) this.snapshotAt = actor.host.clock.mono();
    const save = {
      documents: [...(this.unsaved?.values() ?? [])],
      snapshot: hasSnapshot ? snapshotOf(actor.behavior, actor, state, position, ids) : null,
    };
    // A loaded actor's position moves on while the save is written.
    return { save, extent, position: { seq: position.seq, at: position.at } };
  }

  /** Writes a save. Resolves also when that failed, which it logs. */
  async write({ save, extent, position }: TakenSave): Promise<void> {
    const { host, name } = this.actor;
    const { documents, snapshot } = save;
    this.writing++;
    try {
      if (documents.length > 0 || snapshot !== null) await host.save(save);
    } catch (error) {
      this.wanted = larger(extent, this.wanted ?? extent);
      if (snapshot !== null) this.snapshotAt = null;
      host.log("warn", "save_failed", { actor: name, error: String(error) });
      return;
    } finally {
      this.writing--;
    }
    for (const document of documents) {
      const key = keyOf(document);
      if (this.unsaved?.get(key)?.seq === document.seq) this.unsaved.delete(key);
    }
    if (this.unsaved?.size === 0) this.unsaved = null;
    this.documentedTo = Math.max(this.documentedTo, position.seq);
    // An older save may end after a newer one.
    if (snapshot === null || position.seq <= this.coveredTo) return;
    this.coveredTo = position.seq;
    // What was committed during the save is at least as new as the save itself.
    this.uncoveredSince = this.coveredTo >= this.seq ? null : position.at;
  }

  /** Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. */
  since(): number | null {
    return this.uncoveredSince;
  }

  /** Returns whether everything committed is in stored documents. */
  isDocumented(): boolean {
    return this.documentedTo >= this.seq;
  }

  /** Returns the seq of the newest commit that a stored save of this extent has. */
  savedTo(extent: SaveExtent): number {
    return extent === "whole" ? this.coveredTo : this.documentedTo;
  }

  /** Whether the documents of a state may wait for its snapshot. Those that a save could not store are not in the state any more. */
  private mayTrail(state: unknown): boolean {
    const { behavior, host } = this.actor;
    return !host.store.followsSnapshots && this.unsaved === null && behavior.mayTrail?.(state) === true;
  }

  private isSnapshotDue(): boolean {
    const { store, clock, limits } = this.actor.host;
    return (
      store.followsSnapshots ||
      this.snapshotAt === null ||
      this.seq - this.coveredTo >= limits.snapshotCommits ||
      clock.mono() - this.snapshotAt >= limits.snapshotMs
    );
  }
}

const keyOf = (document: { readonly table: string; readonly id: string }): string =>
  `${document.table}/${document.id}`;
