// Asks an actor on the caller's stack. A command whose reply does not wait for a commit (an admission, a renewal)
// is answered at once, without a promise, a timer, an envelope copy or a retry.
//
// situation                                        what happens
// another node owns the shard                      one message to it, without the wrapping of `ask`
// its reply says that it could not execute it      `ask` as a retry after a pause, within what is left of the
//                                                  budget; UnavailableError when nothing is left
// its reply is `too_old` or `too_large`            UnavailableError
// no node is known to own the shard, or this one   `ask` with the same id
// owns it and drains
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

import { type Clock, type Random, sleep } from "../../base/clock.ts";
import { RefusedError, UnavailableError } from "../../base/errors.ts";
import { type ActorRef, actorName, type Command, type Reply } from "../actor.ts";
import type { ActorRouter, PendingTurn } from "./actor-router.ts";
import { type Ask, type AskOptions, BUDGET_MS, FIRST_PAUSE_MS, isFinal } from "./retry-client.ts";

/**
 * Asks an actor at once if possible. Throws RefusedError when a refusal is decided at once; otherwise the
 * promise rejects as that of `ask` does.
 */
export type AskNow = (to: ActorRef, command: Command, options: AskOptions) => unknown | Promise<unknown>;

/** Creates the function. It draws an id for a command that comes without one. */
export function createAskNow(parts: {
  readonly clock: Clock;
  readonly random: Random;
  readonly router: Pick<ActorRouter, "attemptNow" | "attemptElsewhere" | "endTurn">;
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

  /** Waits for the reply of another node, and goes on as `ask` within what is left of the budget. */
  function afterReply(
    reply: Promise<Reply>,
    to: ActorRef,
    command: Command,
    id: string,
    bornAt: number,
    budgetMs: number,
  ): Promise<unknown> {
    const until = clock.mono() + budgetMs;
    return reply.then((replied) => {
      if (replied.ok) return replied.body;
      if (replied.code === "refused") throw new RefusedError(replied.refusal);
      const pauseMs = FIRST_PAUSE_MS + random.below(FIRST_PAUSE_MS);
      const leftMs = until - clock.mono() - pauseMs;
      if (isFinal(replied) || leftMs < 0) throw new UnavailableError(actorName(to), replied.code);
      return sleep(clock, pauseMs).then(() => ask(to, command, { id, bornAt, budgetMs: leftMs }, true));
    });
  }

  return (to, command, options) => {
    const id = options.id ?? random.id();
    const bornAt = options.bornAt ?? clock.wall();
    const retry = options.bornAt !== undefined;
    const turn = router.attemptNow(to, id, bornAt, retry, command);
    if (turn === null) {
      const message = retry ? { id, bornAt, command, retry } : { id, bornAt, command };
      const budgetMs = options.budgetMs ?? BUDGET_MS;
      const reply = router.attemptElsewhere(to, message, budgetMs);
      if (reply !== null) return afterReply(reply, to, command, id, bornAt, budgetMs);
      return ask(to, command, { ...options, id });
    }
    if ("batch" in turn) return afterCommit(turn, to, command, options, id, bornAt);
    if (turn.ok) return turn.body;
    if (turn.code === "refused") throw new RefusedError(turn.refusal);
    return ask(to, command, { ...options, id, bornAt }, true);
  };
}
