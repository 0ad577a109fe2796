// Finds a charged request in the ledger by the id that its client saw or by the service's own id.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { actorName } from "../runtime/actor.ts";
import type { Commit, Store } from "../store/store.ts";
import type { ChargeEvent, LineEvent } from "./ledger-lines.ts";

/** A charge, and its time in wall-clock milliseconds. */
export interface ChargedRequest {
  readonly at: number;
  readonly event: ChargeEvent;
}

/**
 * Numbers of commits that are searched in turn, newest first: clients may use one id for many requests, and
 * other accounts may use the same id.
 */
const COMMITS = [10, 100, 1_000, 10_000] as const;

/** Returns the account's newest charged request with that id; null when none is found. */
export async function chargedRequest(
  store: Store,
  account: AccountId,
  request: string,
): Promise<ChargedRequest | null> {
  const actor = actorName(actorRef.account(account));
  for (const mark of [`request:${request}`, request]) {
    if (!(await store.hasDedupId(actor, mark))) continue;
    for (const most of COMMITS) {
      const commits = await store.commitsByDedupId(mark, most);
      const found = newestIn(
        commits.filter((one) => one.actor === actor),
        request,
      );
      if (found !== null) return found;
      if (commits.length < most) break;
    }
  }
  return null;
}

function newestIn(commits: readonly Commit[], request: string): ChargedRequest | null {
  for (const commit of commits) {
    for (const { at, line, e } of commit.events.toReversed()) {
      const event = e as LineEvent;
      if (!line || (event.type !== "charge" && event.type !== "late_charge")) continue;
      if (event.request === request || event.id === request) return { at, event };
    }
  }
  return null;
}
