// The life of one account, lived fast: commands decided and evolved by its own behaviour, in commits as the runtime would
// cut them. What a real account could not have done cannot be written here. Stores nothing itself.

import { account } from "../actors/account/account.ts";
import type { AccountCommand } from "../actors/account/commands.ts";
import type { Account, AccountEvent } from "../actors/account/state.ts";
import type { AccountId } from "../actors/ids.ts";
import { actorRef } from "../actors/index.ts";
import { DedupTable } from "../src/runtime/activation/dedup-table.ts";
import { type Position, type Replayed, snapshotOf } from "../src/runtime/activation/replay.ts";
import { actorName, type Effect } from "../src/runtime/actor.ts";
import { LIMITS } from "../src/runtime/limits.ts";
import { shardOf } from "../src/runtime/shards.ts";
import type { Commit, Save, Snapshot } from "../src/store/store.ts";

export interface Life {
  /** Decides and evolves, in the open commit; throws for a refusal. `at`: wall ms, never before the last. */
  live(command: AccountCommand, id: string, at: number): void;
  /** What it owes to others now. */
  owed(): readonly Effect[];
  /** Ends the open commit; null: nothing happened since the last. */
  cut(): Commit | null;
  /** Its documents and snapshot, at its last commit. */
  save(): Save & { readonly snapshot: Snapshot };
  /** Events of the open commit. */
  readonly open: number;
}

/** `from`: an account that lives in the store already. */
export function lifeOf(id: AccountId, epoch: number, by: string, from: Replayed | null = null): Life {
  const name = actorName(actorRef.account(id));
  const shard = shardOf(name);
  const state: Account = (from?.state as Account | undefined) ?? account.empty(String(id));
  let position: Position = from?.position ?? { seq: 0, at: 0, epoch, linesTo: 0 };
  let events: { at: number; line: boolean; e: AccountEvent }[] = [];

  return {
    get open() {
      return events.length;
    },
    live(command, turn, at) {
      const decision = account.decide(state, command, { id: turn, from: "", now: at, epoch, done: false });
      if (decision.refused) throw new Error(`${name} ${command.type}: ${decision.refused.message}`);
      for (const e of decision.events ?? []) {
        account.evolve(state, e, at);
        events.push({ at, line: account.isLine(e), e });
      }
    },
    owed: () => account.pendingEffects(state),
    cut() {
      const at = events.at(-1)?.at;
      if (at === undefined) return null;
      const lines = events.filter(({ line }) => line).length;
      position = { seq: position.seq + 1, at, epoch, linesTo: position.linesTo + lines };
      const marks = [...new Set(events.flatMap(({ e }) => account.dedupIds(e)))];
      const commit: Commit = { actor: name, shard, by, v: 1, done: [], marks, lines, events, ...position };
      events = [];
      return commit;
    },
    save() {
      const documents = account.materialize(state).map((one) => ({ ...one, seq: position.seq }));
      return {
        documents,
        snapshot: snapshotOf(account, { name, shard }, state, position, new DedupTable(LIMITS)),
      };
    },
  };
}
