// The versions of an Owner's configuration that the history keeps, newest first. A row may be as large as two whole
// configurations, so they are read a few at a time, each time behind the last one, and the loop turns in between. Rows
// trail the ledger after a failed save, or while an Owner sleeps whose history an older release did not write.

import type { AccountId } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import type { ConfigRow } from "../../actors/owner/history.ts";
import { RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Pick<Store, "find">;
}

/** How long the store may take for what it does not have yet. */
const SAVE_MS = 4_000;

/** Resolves when the history has this version of an Owner who is awake, refuses service_unavailable when it is late. */
export async function keptUpTo({ system, store }: Parts, owner: AccountId, version: number): Promise<void> {
  for (const save of [() => system.saveEverywhere(SAVE_MS), null]) {
    const { value: newest } = await keptVersions(store, owner, { limit: 1 }).next();
    if ((newest?.version ?? 0) >= version) return;
    await save?.();
  }
  const message = "The history is behind the configuration. Nothing was changed: ask again in a moment.";
  throw new RefusedError({ code: "service_unavailable", message, retryAfterS: 1 });
}

/** Read at once. */
const STEP = 4;

/** `offset` and `limit` make a page; without a limit it is all of them. */
export async function* keptVersions(
  store: Pick<Store, "find">,
  owner: AccountId,
  {
    offset = 0,
    limit = Number.POSITIVE_INFINITY,
  }: { readonly offset?: number; readonly limit?: number } = {},
): AsyncGenerator<ConfigRow> {
  const ofOwner = { field: "owner", is: "=", value: owner } as const;
  /** Where the next step begins. */
  let from: number | null = null;
  for (let left = limit; left > 0; left -= STEP) {
    const rows = (await store.find({
      table: "configs",
      where: from === null ? [ofOwner] : [ofOwner, { field: "version", is: "<=", value: from }],
      order: "version",
      descending: true,
      offset: from === null ? offset : 0,
      limit: Math.min(STEP, left),
    })) as unknown as readonly ConfigRow[];
    for (const row of rows) {
      yield row;
      from = row.version - 1;
    }
    if (rows.length < STEP) return;
    await new Promise(setImmediate);
  }
}
