// One node's view of the shard table: its newest copy, the shards that this node serves, those that it
// stopped serving and may give away, and those that wait for their recovery scan. It never accesses the
// registry and knows nothing of leases.

import { atMost, type Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { ShardMove } from "./placement.ts";
import { NO_TABLE, type NodeId, release, type ShardTable } from "./shard-table.ts";

/** The shards that this node serves, drains, or no longer serves. It begins without a table and an identity. */
export class ShardOwnership {
  private readonly gainHandlers: ((shards: readonly number[], since: number) => Promise<void>)[] = [];
  private readonly loseHandlers: ((shards: readonly number[]) => Promise<void>)[] = [];
  private readonly moveHandlers: ((moved: readonly ShardMove[]) => void)[] = [];
  private node: NodeId | null = null;
  private hadIdentity = false;
  private current = NO_TABLE;
  private revision = 0;
  /**
   * Epochs in which shards are no longer served, whatever the table says: a late write may still make that
   * true.
   */
  private stoppedEpochs = new Map<number, number>();
  /** No longer served, and not drained yet. */
  private draining = new Set<number>();
  /** Drained and not yet released, each with the highest epoch found. */
  private drainedShards = new Map<number, number>();
  private unscanned = new Map<number, number>();
  /** Those of `unscanned` that were scanned, so their actors are loaded, but are not known to be saved. */
  private readonly scanned = new Set<number>();

  /** It calls its handlers synchronously and logs gains and losses. */
  constructor(
    private readonly parts: {
      readonly clock: Clock;
      readonly log: Log;
      /** A shard is released after this time (ms) even if its drain has not ended. */
      readonly drainMs: number;
      /** Called when shards may be released. */
      readonly drained: () => void;
    },
  ) {}

  /** Returns the newest table seen here. */
  readonly table = (): ShardTable => this.current;

  /** Returns the registry's revision of the table. */
  rev(): number {
    return this.revision;
  }

  /** Returns the shards that the table assigns to this node. */
  mine(): readonly number[] {
    const { node } = this;
    return node === null ? [] : this.current.shards.flatMap(({ owner }, i) => (owner === node ? [i] : []));
  }

  private owns(shard: number, epoch = this.current.shards[shard]!.epoch): boolean {
    const row = this.current.shards[shard]!;
    return this.node !== null && row.owner === this.node && row.epoch === epoch;
  }

  /** Applies a newer table and its consequences for this node. An older one, read earlier, is ignored. */
  adopt(next: ShardTable, nextRev: number): void {
    if (next.version <= this.current.version) return;
    const before = this.current;
    this.current = next;
    this.revision = nextRev;
    const changed = next.shards.flatMap(({ owner, epoch }, i) => {
      const was = before.shards[i]!;
      return was.owner === owner && was.epoch === epoch ? [] : [i];
    });
    if (before.version > 0) this.reportMoved(changed);
    if (this.node === null) return;
    const lost: number[] = [];
    const gained = new Map<number, number[]>();
    for (const i of changed) {
      const was = before.shards[i]!;
      const { owner, since } = next.shards[i]!;
      this.draining.delete(i);
      this.drainedShards.delete(i);
      this.unscanned.delete(i);
      this.scanned.delete(i);
      if (was.owner === this.node && this.stoppedEpochs.get(i) !== was.epoch) lost.push(i);
      if (owner !== this.node) continue;
      this.unscanned.set(i, since);
      gained.set(since, [...(gained.get(since) ?? []), i]);
    }
    void this.drain(lost);
    for (const [since, shards] of gained) this.reportGained(shards, since);
    void this.stopServingPlanned();
  }

  /**
   * Returns the shard's epoch while the table assigns it to this node and the node has not stopped serving
   * it, else 0.
   */
  epochOf(shard: number): number {
    const { epoch } = this.current.shards[shard]!;
    return !this.owns(shard) || (this.stoppedEpochs.get(shard) ?? 0) >= epoch ? 0 : epoch;
  }

  /**
   * Returns the same as `epochOf`, and also the epoch of a shard that is no longer served and not drained
   * yet.
   */
  drainEpochOf(shard: number): number {
    const { epoch } = this.current.shards[shard]!;
    return this.owns(shard) && ((this.stoppedEpochs.get(shard) ?? 0) < epoch || this.draining.has(shard))
      ? epoch
      : 0;
  }

  /**
   * Called when a commit of this epoch was found. If this node's epoch is older, it stops serving the shard;
   * unless the table changes, the shard is released for an owner with an epoch above the one found.
   */
  fenced(shard: number, epoch: number): void {
    const known = this.current.shards[shard]!;
    if (!this.owns(shard) || known.epoch >= epoch) return;
    this.draining.delete(shard);
    if (this.stoppedEpochs.get(shard) === known.epoch) {
      if (this.drainedShards.has(shard))
        this.drainedShards.set(shard, Math.max(epoch, this.drainedShards.get(shard)!));
    } else void this.stopServing([shard], epoch);
  }

  /** Stops serving the shard and releases it. */
  relinquish(shard: number): void {
    const { epoch } = this.current.shards[shard]!;
    if (this.owns(shard) && this.stoppedEpochs.get(shard) !== epoch) void this.stopServing([shard], 0);
  }

  /** Returns the table without the shards that this node has drained for others. */
  withoutDrained(from: ShardTable, since: number): ShardTable {
    return this.drainedShards.size === 0 || this.node === null
      ? from
      : release(from, this.node, this.drainedShards, since);
  }

  /** Called when everything recovered so far is saved too: the start of those scans is no longer reported. */
  saved(): void {
    for (const i of this.scanned) this.unscanned.delete(i);
    this.scanned.clear();
  }

  /**
   * Returns the oldest wall-clock ms from which a shard still needs a recovery scan or the save after it;
   * Infinity when none does.
   */
  recoverySince(): number {
    return Math.min(...this.unscanned.values(), Number.POSITIVE_INFINITY);
  }

  /** Sets this node's identity, with which it owns nothing yet; null means that it has none. */
  setIdentity(node: NodeId | null): void {
    const had = this.mine();
    this.node = node;
    void this.drain(had);
    this.stoppedEpochs = new Map();
    this.draining = new Set();
    this.drainedShards = new Map();
    this.unscanned = new Map();
    this.scanned.clear();
    if (node === null) return;
    // The holds of its former identity belong to the new one from here on.
    if (this.hadIdentity) this.reportMoved([...this.current.shards.keys()]);
    this.hadIdentity = true;
  }

  private reportMoved(shards: readonly number[]): void {
    const moved = shards.flatMap((shard) => {
      const { owner, epoch } = this.current.shards[shard]!;
      return owner === null ? [] : [{ shard, epoch, owner }];
    });
    if (moved.length > 0) for (const handle of this.moveHandlers) handle(moved);
  }

  private reportGained(shards: readonly number[], since: number): void {
    const epochs = new Map(shards.map((i) => [i, this.current.shards[i]!.epoch]));
    const node = this.node;
    this.parts.log("info", "shards_gained", {
      node,
      shards: shards.length,
      since,
      version: this.current.version,
    });
    Promise.all(this.gainHandlers.map((handle) => handle(shards, since))).then(
      () => {
        if (this.node !== node) return;
        for (const [i, epoch] of epochs) if (this.owns(i, epoch)) this.scanned.add(i);
      },
      // The scan has logged its error. Its start stays where it is.
      () => {},
    );
  }

  private async drain(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    this.parts.log("info", "shards_lost", {
      node: this.node,
      shards: shards.length,
      version: this.current.version,
    });
    try {
      await Promise.all(this.loseHandlers.map((handle) => handle(shards)));
    } catch (error) {
      this.parts.log("error", "drain_failed", { error: String(error) });
    }
  }

  /** Stops serving the shards that are planned for other nodes; once drained they can be released. */
  private async stopServingPlanned(): Promise<void> {
    const wanted = this.mine().filter((i) => {
      const { next, epoch } = this.current.shards[i]!;
      return next !== null && this.stoppedEpochs.get(i) !== epoch;
    });
    if (wanted.length === 0) return;
    for (const i of wanted) this.draining.add(i);
    await this.stopServing(wanted, 0);
  }

  /** Stops serving shards in their epoch. When they are drained, or the time is up, they can be released. */
  private async stopServing(shards: readonly number[], met: number): Promise<void> {
    const epochs = new Map(shards.map((i) => [i, this.current.shards[i]!.epoch]));
    for (const [i, epoch] of epochs) this.stoppedEpochs.set(i, epoch);
    const node = this.node;
    await atMost(this.parts.clock, this.parts.drainMs, this.drain(shards));
    if (this.node !== node) return;
    for (const [i, epoch] of epochs) {
      if (!this.owns(i, epoch)) continue;
      this.draining.delete(i);
      this.drainedShards.set(i, Math.max(met, this.drainedShards.get(i) ?? 0));
    }
    this.parts.drained();
  }

  /** As `Placement.onGain`. */
  onGain(handle: (typeof this.gainHandlers)[number]): void {
    this.gainHandlers.push(handle);
  }

  /** As `Placement.onLose`. */
  onLose(handle: (typeof this.loseHandlers)[number]): void {
    this.loseHandlers.push(handle);
  }

  /** As `Placement.onMoved`. */
  onMoved(handle: (typeof this.moveHandlers)[number]): void {
    this.moveHandlers.push(handle);
  }
}
