// Rebuilds the state of one actor from a snapshot and the commits after it. Assertions check that no commit
// is missing, repeated or out of order; a gap makes the whole actor unavailable.

import { assert } from "../../base/errors.ts";
import type { Commit, Snapshot, Store } from "../../store/store.ts";
import type { ActorRef, AnyBehavior, Reply } from "../actor.ts";
import type { DedupTable } from "./dedup-table.ts";

/**
 * A position in an actor's ledger. `at` and `epoch` never decrease, `seq` has no gap, `linesTo` counts ledger
 * lines.
 */
export interface Position {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly linesTo: number;
}

/** A loaded actor: its state, and the position in the ledger of its last durable commit. */
export interface LoadedState {
  readonly state: unknown;
  /** Wall-clock ms at which it was loaded. */
  readonly loadedAt: number;
  seq: number;
  at: number;
  epoch: number;
  linesTo: number;
}

/** The commits that no snapshot covers, and the `at` of the first of them, which is null when there is none. */
export interface Uncovered {
  readonly commits: number;
  readonly since: number | null;
}

/** What the store has of an actor. */
export interface Replayed {
  readonly state: unknown;
  readonly position: Position;
  readonly uncovered: Uncovered;
}

/**
 * Reads an actor from the store, `page` commits per read, and fills `ids`. Throws when the store fails or the
 * ledger is inconsistent.
 */
export async function loadState(parts: {
  store: Store;
  behavior: AnyBehavior;
  ref: ActorRef;
  name: string;
  ids: DedupTable;
  page: number;
}): Promise<Replayed> {
  const { store, behavior, ref, name, ids, page } = parts;
  const snapshot = await store.loadSnapshot(name);
  const usable = snapshot !== null && snapshot.v === behavior.version ? snapshot : null;
  const state = usable === null ? behavior.empty(ref.id) : behavior.thaw(ref.id, usable.state);
  let position: Position = usable ?? { seq: 0, at: 0, epoch: 0, linesTo: 0 };
  let commits = 0;
  let since: number | null = null;
  for (const { id, at, reply } of usable?.done ?? []) ids.remember(id, reply as Reply, at);

  for (;;) {
    const found = await store.readCommits(name, position.seq, page);
    for (const commit of found) {
      assertFollows(name, position, commit);
      for (const { at, e } of commit.events) behavior.evolve(state, e, at);
      for (const { id, reply } of commit.done) ids.remember(id, reply as Reply, commit.at);
      position = commit;
      commits++;
      since ??= commit.at;
    }
    if (found.length < page) break;
  }
  return { state, position: positionOf(position), uncovered: { commits, since } };
}

/** Moves a loaded actor to the position of a commit that has become durable. */
export function advance(loaded: LoadedState, { seq, at, epoch, linesTo }: Position): void {
  loaded.seq = seq;
  loaded.at = at;
  loaded.epoch = epoch;
  loaded.linesTo = linesTo;
}

/** Returns the position alone, of a commit or anything else that has one. */
const positionOf = ({ seq, at, epoch, linesTo }: Position): Position => ({ seq, at, epoch, linesTo });

function assertFollows(name: string, before: Position, commit: Commit): void {
  assert(commit.seq === before.seq + 1, `${name}: commit ${commit.seq} follows ${before.seq}`);
  assert(commit.epoch >= before.epoch, `${name}: the epoch falls at commit ${commit.seq}`);
  assert(commit.at >= before.at, `${name}: time falls at commit ${commit.seq}`);
  assert(
    commit.linesTo === before.linesTo + commit.lines,
    `${name}: ledger lines are missing at commit ${commit.seq}`,
  );
}

/** Returns the snapshot of a state that is exactly at `position`. */
export function snapshotOf(
  behavior: AnyBehavior,
  actor: { readonly name: string; readonly shard: number },
  state: unknown,
  position: Position,
  ids: DedupTable,
): Snapshot {
  return {
    actor: actor.name,
    shard: actor.shard,
    ...positionOf(position),
    v: behavior.version,
    state: behavior.freeze(state),
    done: ids.durableEntries(),
    pending: behavior.pendingEffects(state).length > 0,
  };
}
