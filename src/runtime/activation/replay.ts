// The fold of one actor's ledger: its state, and how far in the ledger it stands. Loading is a snapshot and the commits
// after it; the assertions say that nothing is missing, doubled or out of order. A gap refuses the whole actor.

import { assert } from "../../base/errors.ts";
import type { Commit, Snapshot, Store } from "../../store/store.ts";
import type { ActorRef, AnyBehavior, Reply } from "../actor.ts";
import type { DedupTable } from "./dedup-table.ts";

/** How far a fold stands. `at` and `epoch` never fall, `seq` has no gap, `linesTo` counts the ledger lines. */
export interface Position {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly linesTo: number;
}

export interface LoadedState {
  // biome-ignore lint/suspicious/noExplicitAny: each behaviour knows its own state; the runtime only carries it
  readonly state: any;
  position: Position;
  /** Commits that no snapshot covers, and the `at` of the first of them. */
  readonly uncovered: { readonly commits: number; readonly since: number | null };
}

export async function loadState(parts: {
  store: Store;
  behavior: AnyBehavior;
  ref: ActorRef;
  name: string;
  ids: DedupTable;
  page: number;
}): Promise<LoadedState> {
  const { store, behavior, ref, name, ids, page } = parts;
  const snapshot = await store.loadSnapshot(name);
  const usable = snapshot !== null && snapshot.v === behavior.version ? snapshot : null;
  const state = usable === null ? behavior.empty(ref.id) : behavior.thaw(ref.id, usable.state);
  let position: Position = usable ?? { seq: 0, at: 0, epoch: 0, linesTo: 0 };
  let commits = 0;
  let since: number | null = null;
  for (const { id, at, reply } of usable?.done ?? []) ids.remember(id, reply as Reply, at, false);

  for (;;) {
    const found = await store.readCommits(name, position.seq, page);
    for (const commit of found) {
      assertFollows(name, position, commit);
      for (const { at, e } of commit.events) behavior.evolve(state, e, at);
      for (const { id, reply } of commit.done) ids.remember(id, reply as Reply, commit.at, false);
      position = commit;
      commits++;
      since ??= commit.at;
    }
    if (found.length < page) break;
  }
  return { state, position: positionOf(position), uncovered: { commits, since } };
}

export const positionOf = ({ seq, at, epoch, linesTo }: Position): Position => ({ seq, at, epoch, linesTo });

function assertFollows(name: string, before: Position, commit: Commit): void {
  assert(commit.seq === before.seq + 1, `${name}: commit ${commit.seq} follows ${before.seq}`);
  assert(commit.epoch >= before.epoch, `${name}: the epoch falls at commit ${commit.seq}`);
  assert(commit.at >= before.at, `${name}: time falls at commit ${commit.seq}`);
  assert(
    commit.linesTo === before.linesTo + commit.lines,
    `${name}: ledger lines are missing at commit ${commit.seq}`,
  );
}

/** The snapshot of a state that stands exactly at `position`. */
export function snapshotOf(
  behavior: AnyBehavior,
  actor: { name: string; shard: number },
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
    done: ids.durable(),
    pending: behavior.pendingEffects(state).length > 0,
  };
}
