// Re-asserted holds. When an account's shard moves or its activation fails, its holds are lost. Each node
// then repeats the holds of its running requests, and they count as before: against the balance, and in the
// windows at their old times. No limit is checked and nothing durable is written.
//
// situation                      recovery
// re-asserted twice              the hold stays; only its expiry is extended
// re-asserted after its end      not opened: the account remembers ended requests, and nodes repeat them in
//                                `ended`. After a charge that was its last message (`isLast`) it is opened
//                                until that report comes, which is while the charge waits for its commit
// re-asserted after its expiry   not opened
// re-asserted after a release    opened as an orphaned hold that was counted; its request is not counted
//                                again
// re-asserted beyond the bound   not opened: the requests run on and are charged, as after a crash of all
//                                nodes

import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { accountNotFound } from "./charge.ts";
import { closeHold, growHold, HOLDS_MAX, hasEnded, openHold, rememberEnded } from "./holds.ts";
import { countedFlagFor } from "./orphaned-holds.ts";
import type { Account, AccountEvent, Hold } from "./state.ts";

/** Input of the command `reassertHolds`. */
export interface ReassertHolds {
  /** The holds as admitted, or as grown since; `expiresAt` is set by the node when it re-asserts them. */
  readonly holds: readonly Readonly<Omit<Hold, "holder" | "counted">>[];
  /** Ids of requests that have ended, even if an earlier message re-asserted them. */
  readonly ended: readonly string[];
}

/** Twice the bound of admission, since late re-assertions add to the requests admitted meanwhile. */
const REASSERTED_HOLDS_MAX = 2 * HOLDS_MAX;

/**
 * Opens or extends the given holds and closes those in `ended`. The reply's `dropped` counts holds beyond the
 * bound.
 */
export function reassertHolds(
  state: Account,
  { holds, ended }: ReassertHolds,
  { now, from }: Turn,
): Decision<AccountEvent> {
  if (state.profile === null) return { refused: accountNotFound(state), ungated: true };
  for (const id of ended) {
    rememberEnded(state, id, now);
    closeHold(state, id, now);
  }
  let dropped = 0;
  for (const reasserted of holds) {
    const open = state.volatile.holds.get(reasserted.id);
    if (open !== undefined) extend(state, open, { ...reasserted, holder: from }, now);
    else if (hasEnded(state, reasserted.id) || reasserted.expiresAt <= now) continue;
    else if (state.volatile.holds.size >= REASSERTED_HOLDS_MAX) dropped++;
    else openHold(state, { ...reasserted, holder: from, ...countedFlagFor(state, reasserted.id) }, now);
  }
  return { reply: { dropped }, ungated: true };
}

/**
 * Grows the open hold if it is the same one; a hold that was taken for another model is newer and keeps its
 * size.
 */
function extend(state: Account, open: Hold, reasserted: Readonly<Hold>, now: number): void {
  open.holder = reasserted.holder;
  open.expiresAt = Math.max(open.expiresAt, reasserted.expiresAt);
  if (open.model === reasserted.model && open.takenAt === reasserted.takenAt) {
    growHold(state, open, reasserted.cost, reasserted.tokens, now);
  }
}
