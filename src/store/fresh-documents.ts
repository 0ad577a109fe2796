// A store as those see it who show lists and bills. On a store whose documents may wait for the next snapshot
// (`Behavior.mayTrail`), the actors save what is newer before accounts or usage are read: however long nobody reads them, nothing
// is written for it. Whatever writes, and what is read of other tables, is the store's own.
//
// bound                                  outcome
// a save began FRESH_MS ago, or later    a read does without another one, so that frequent reads cost one save in that time
// a save takes longer than SAVE_MS       the read shows what is stored by then
// an actor is not loaded after a crash   its documents are those of before the crash, until the recovery scan has loaded it

import type { Clock } from "../base/clock.ts";
import { SingleFlight } from "../base/coalesce.ts";
import type { Store, Table } from "./store.ts";

/** Milliseconds by which what is read may trail at the beginning of a read; lists may trail by two seconds when they are sent. */
const FRESH_MS = 1_500;
/** Milliseconds that a read waits for a save at most. */
const SAVE_MS = 5_000;

interface FreshParts {
  readonly clock: Pick<Clock, "mono">;
  /** Saves the documents of everything that is committed by now, within `ms`. Never rejects. */
  save(ms: number): Promise<unknown>;
}

const TRAILING: ReadonlySet<Table> = new Set(["accounts", "usage"]);

/** Returns a view of the store whose accounts and usage are fresh. */
export function withFreshDocuments(store: Store, { clock, save }: FreshParts): Store {
  // Its documents are written with each snapshot, and by other nodes too.
  if (store.followsSnapshots) return store;
  /** When the newest save began that has ended; monotonic milliseconds. */
  let savedAt = Number.NEGATIVE_INFINITY;
  const saving = new SingleFlight<"save", void>();

  async function saveNow(): Promise<void> {
    const began = clock.mono();
    try {
      await save(SAVE_MS);
    } finally {
      savedAt = began;
    }
  }

  /** Resolves when everything that was committed FRESH_MS before the call is stored. */
  async function fresh(): Promise<void> {
    const from = clock.mono() - FRESH_MS;
    while (savedAt < from) await saving.run("save", saveNow);
  }

  const freshOf = (table: Table): Promise<void> | undefined => (TRAILING.has(table) ? fresh() : undefined);

  return {
    ...store,
    async find(find) {
      await freshOf(find.table);
      return store.find(find);
    },
    async count(conditions) {
      await freshOf(conditions.table);
      return store.count(conditions);
    },
    async *scan(walk) {
      await freshOf(walk.table);
      yield* store.scan(walk);
    },
    async rankAccounts(query) {
      await fresh();
      return store.rankAccounts(query);
    },
    async usageTotals(query, signal) {
      await fresh();
      return store.usageTotals(query, signal);
    },
    async usageReport(query, signal) {
      await fresh();
      return store.usageReport(query, signal);
    },
  };
}
