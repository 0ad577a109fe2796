// Moves an account below another parent, for Root. The account asks the new parent, and the answer waits for
// the result. A crash in between loses nothing: see the steps in actors/account/move.ts.

import type { MovedTerms } from "../../actors/account/lifecycle.ts";
import { type AccountId, dnaBelow } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { parseRefusal, RefusedError, UnavailableError } from "../base/errors.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";

/** A move to carry out. `id` is its dedup id; `by` is the account that requests it. */
export interface MoveOrder {
  readonly id: string;
  /** Wall-clock milliseconds at which the id was minted; the same on every repeat. */
  readonly bornAt: number;
  readonly account: AccountId;
  readonly parent: AccountId;
  /** The DNA that the caller expects below `parent`; null when not given. */
  readonly dna: string | null;
  readonly by: AccountId;
  /** Changes of the account's Rates and Resources that take effect with the move. */
  readonly brings?: MovedTerms;
}

const MOVE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * Moves an account and resolves when both parents have committed. Throws `RefusedError`: has_subaccounts,
 * invalid_parameter (an impossible parent or another DNA), user_limit_reached, rate_below_parent,
 * resources_not_subset, user_not_found (no such parent). Throws `UnavailableError` after `MOVE_MS`; the move
 * may still complete.
 */
export async function moveAccount(
  { system, clock }: { readonly system: ActorSystem<Protocol>; readonly clock: Clock },
  { id, bornAt, account, parent, dna: given, by, brings }: MoveOrder,
): Promise<void> {
  const above = await system.ask(actorRef.account(parent), "read", {});
  const dna = dnaBelow(above.profile.dna, parent);
  if (given !== null && given !== dna) {
    const message = `"DNA": below account ${parent} it is ${dna}, not ${given}.`;
    throw new RefusedError({ code: "invalid_parameter", message });
  }
  const until = clock.mono() + MOVE_MS;
  const asked = { id, bornAt, to: parent, dna, by, ...(brings && { brings }) };
  await system.ask(actorRef.account(account), "move", asked, { id, bornAt });
  for (;;) {
    const { move, leaving } = await system.ask(actorRef.account(account), "affairs", {});
    // A later move has replaced this one, so this one has ended.
    const stage = move?.id === id ? move.stage : "moved";
    if (stage === "refused") throw new RefusedError(parseRefusal(move!.refusal!));
    if (stage === "moved" && !leaving.some((one) => one.id === `${id}:left`)) return;
    if (clock.mono() > until)
      throw new UnavailableError(actorName(actorRef.account(parent)), "the move is under way");
    await sleep(clock, PAUSE_MS);
  }
}
