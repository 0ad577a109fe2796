// Reads the versions of an Owner's configuration from the history, newest first. A row may be as large as two
// whole configurations, so a few are read at a time and the event loop runs in between. The history lags
// behind the ledger after a failed save, or while an Owner is not loaded whose history an older release did
// not write.

import type { AccountId } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import type { ConfigRow } from "../../actors/owner/history.ts";
import { RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { StoredRow } from "../store/stored-rows.ts";
import type { DocumentBody } from "../store/tables.ts";

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Pick<Store, "find">;
}

/** Milliseconds that saving the missing rows may take. */
const SAVE_MS = 4_000;

/**
 * Resolves when the history has this version of an Owner whose actor is loaded; saves all actors if it lags.
 * Throws `RefusedError` with `service_unavailable` when the history is still behind afterwards.
 */
export async function keptUpTo({ system, store }: Parts, owner: AccountId, version: number): Promise<void> {
  for (const save of [() => system.saveEverywhere(SAVE_MS), null]) {
    const { value: newest } = await keptVersions(store, owner, { limit: 1 }).next();
    if ((newest?.version ?? 0) >= version) return;
    await save?.();
  }
  const message = "The history is behind the configuration. Nothing was changed: ask again in a moment.";
  throw new RefusedError({ code: "service_unavailable", message, retryAfterS: 1 });
}

/** Rows per query. */
const STEP = 4;

/**
 * Yields the Owner's versions, newest first. `offset` and `limit` select a page; without a limit all are
 * yielded.
 */
export async function* keptVersions(
  store: Pick<Store, "find">,
  owner: AccountId,
  {
    offset = 0,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly offset?: number; readonly limit?: number } = {},
): AsyncGenerator<ConfigRow> {
  const ofOwner = { field: "owner", is: "=", value: owner } as const;
  /** Highest version of the next query; null before the first one. */
  let from: number | null = null;
  for (let left = limit; left > 0; left -= STEP) {
    const rows: readonly DocumentBody[] = await store.find({
      table: "configs",
      where: from === null ? [ofOwner] : [ofOwner, { field: "version", is: "<=", value: from }],
      order: "version",
      descending: true,
      offset: from === null ? offset : 0,
      limit: Math.min(STEP, left),
    });
    for (const body of rows) {
      const row = parseConfigRow(body);
      yield row;
      from = row.version - 1;
    }
    if (rows.length < STEP) return;
    await new Promise(setImmediate);
  }
}

function parseConfigRow(body: DocumentBody): ConfigRow {
  const row = new StoredRow("configs", body);
  const changes = Object.entries(row.record("changes")).map(([field, change]) => {
    if (typeof change !== "object" || change === null) return row.fail(`changes of ${field}`, "an object");
    const { before, after } = change as { readonly before?: unknown; readonly after?: unknown };
    return [field, { before, after }] as const;
  });
  return {
    owner: row.integer("owner"),
    version: row.integer("version"),
    at: row.number("at"),
    by: row.integer("by") as AccountId,
    changes: Object.fromEntries(changes),
  };
}
