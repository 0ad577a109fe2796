// One charged request, found by the id that its client saw or by the service's own: from the ledger, where it stands for
// ever.

import type { AccountId } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import { actorName } from "../runtime/actor.ts";
import type { Store } from "../store/store.ts";
import type { LineEvent } from "./lines.ts";

export interface ChargedRequest {
  readonly at: number;
  readonly event: Extract<LineEvent, { readonly type: "charge" }>;
}

/** A client may give one id to many requests; so many commits are looked through, newest first. */
const COMMITS_MOST = 100;

/** The newest request of this account with that id; null: none was charged. */
export async function chargedRequest(
  store: Store,
  account: AccountId,
  request: string,
): Promise<ChargedRequest | null> {
  const actor = actorName(to.account(account));
  for (const mark of [`request:${request}`, request]) {
    const commits = await store.byMark(mark, COMMITS_MOST);
    for (const commit of commits.filter((one) => one.actor === actor)) {
      for (const { at, line, e } of commit.events.toReversed()) {
        const event = e as LineEvent;
        if (line && event.type === "charge" && (event.request === request || event.id === request))
          return { at, event };
      }
    }
  }
  return null;
}
