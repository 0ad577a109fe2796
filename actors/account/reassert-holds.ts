// Holds told again: this account has moved, or its activation broke, and what it knew of requests in flight went with
// that. Whoever runs them says what each of them holds, and it counts as it did: against the balance, and in the windows
// where it stood. Nothing is judged and nothing is durable.
//
// Told twice             the hold stays as it is, only longer
// told after its end     not opened: the account remembers who ended, and whoever told says so once more (`over`)
// told too late          it would be over by itself: not opened
// told after it was      opened, and its request counts no second time
//   abandoned
// too many               beyond the bound not opened: they run on, and are charged, as after a crash of all nodes

import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { accountNotFound } from "./charge.ts";
import { closeHold, growHold, HOLDS_MAX, hasEnded, openHold, rememberEnded } from "./holds.ts";
import { countedFlagFor } from "./orphaned-holds.ts";
import type { Account, AccountEvent, Hold } from "./state.ts";

export interface ReassertHolds {
  /** As the account gave them, or as they have grown since; `expiresAt` is of the telling. */
  readonly holds: readonly Readonly<Omit<Hold, "holder" | "counted">>[];
  /** Requests that have ended, though something told before may say otherwise. */
  readonly over: readonly string[];
}

/** Twice what is admitted: requests that were told late come beside those admitted meanwhile. */
const TOLD_MAX = 2 * HOLDS_MAX;

/** Answers how many found no room. */
export function reassertHolds(
  state: Account,
  { holds, over }: ReassertHolds,
  { now, from }: Turn,
): Decision<AccountEvent> {
  if (state.profile === null) return { refused: accountNotFound(state), ungated: true };
  for (const id of over) {
    rememberEnded(state, id, now);
    closeHold(state, id, now);
  }
  let dropped = 0;
  for (const told of holds) {
    const open = state.volatile.holds.get(told.id);
    if (open !== undefined) keep(state, open, { ...told, holder: from }, now);
    else if (hasEnded(state, told.id) || told.expiresAt <= now) continue;
    else if (state.volatile.holds.size >= TOLD_MAX) dropped++;
    else openHold(state, { ...told, holder: from, ...countedFlagFor(state, told.id) }, now);
  }
  return { reply: { dropped }, ungated: true };
}

/** The same hold may have grown; another one for another model is newer than what was told. */
function keep(state: Account, open: Hold, told: Readonly<Hold>, now: number): void {
  open.holder = told.holder;
  open.expiresAt = Math.max(open.expiresAt, told.expiresAt);
  if (open.model === told.model && open.takenAt === told.takenAt) {
    growHold(state, open, told.cost, told.tokens, now);
  }
}
