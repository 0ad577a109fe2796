// Asks an actor on the caller's stack. A command whose reply does not wait for a commit (an admission, a renewal)
// is answered at once, without a promise, a timer, an envelope copy or a retry.
//
// situation                                        what happens
// this node does not serve the shard, or drains    `ask` with the same id
// the actor is not loaded here, or loads           the same
// the shard waits for holds after a move, or the   the same
// actor after a failure
// the node or the actor's mailbox is full          the same: `ask` may be refused as `overloaded`, or retry
// the ledger must be searched for the dedup id     the same
// the turn could not be taken or failed            the same
// the reply does not wait for a commit             it is returned; a refusal is thrown
// the reply waits for a commit                     a promise of it; the store's deadline bounds the wait, the
//                                                  budget of the command does not
// that commit was lost or is unknown               `ask` with the same id, as a retry
//
// What falls back was not executed, or is repeated with its id, so that nothing is executed twice.

import type { Clock, Random } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ActorRef, Command } from "../actor.ts";
import type { ActorRouter, PendingTurn } from "./actor-router.ts";
import type { Ask, AskOptions } from "./retry-client.ts";

/**
 * Asks an actor at once if possible. Throws RefusedError when a refusal is decided at once; otherwise the
 * promise rejects as that of `ask` does.
 */
export type AskNow = (to: ActorRef, command: Command, options: AskOptions) => unknown | Promise<unknown>;

/** Creates the function. It draws an id for a command that comes without one. */
export function createAskNow(parts: {
  readonly clock: Clock;
  readonly random: Random;
  readonly router: Pick<ActorRouter, "attemptNow" | "endTurn">;
  readonly ask: Ask;
}): AskNow {
  const { clock, random, router, ask } = parts;

  /** Waits for the commit of a turn. */
  function afterCommit(
    turn: PendingTurn,
    to: ActorRef,
    command: Command,
    options: AskOptions,
    id: string,
    bornAt: number,
  ): Promise<unknown> {
    return turn.batch.durable.then((isDurable) => {
      router.endTurn(turn);
      if (isDurable) {
        const { reply } = turn;
        if (reply.ok) return reply.body;
        if (reply.code === "refused") throw new RefusedError(reply.refusal);
      }
      return ask(to, command, { ...options, id, bornAt }, true);
    });
  }

  return (to, command, options) => {
    const id = options.id ?? random.id();
    const bornAt = options.bornAt ?? clock.wall();
    const turn = router.attemptNow(to, id, bornAt, options.bornAt !== undefined, command);
    if (turn === null) return ask(to, command, { ...options, id });
    if ("batch" in turn) return afterCommit(turn, to, command, options, id, bornAt);
    if (turn.ok) return turn.body;
    if (turn.code === "refused") throw new RefusedError(turn.refusal);
    return ask(to, command, { ...options, id, bornAt }, true);
  };
}
