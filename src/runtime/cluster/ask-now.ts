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
import type { ActorRef, Command, Reply } from "../actor.ts";
import type { ActorRouter } from "./actor-router.ts";
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
  readonly router: Pick<ActorRouter, "attemptNow">;
  readonly ask: Ask;
}): AskNow {
  const { clock, random, router, ask } = parts;

  async function afterCommit(
    pending: Promise<Reply>,
    to: ActorRef,
    command: Command,
    options: AskOptions,
  ): Promise<unknown> {
    const reply = await pending;
    if (reply.ok) return reply.body;
    if (reply.code === "refused") throw new RefusedError(reply.refusal);
    return ask(to, command, options, true);
  }

  return (to, command, options) => {
    const id = options.id ?? random.id();
    const now = clock.wall();
    const bornAt = options.bornAt ?? now;
    const reply = router.attemptNow(to, id, bornAt, bornAt !== now, command);
    if (reply === null) return ask(to, command, { ...options, id, bornAt });
    if (reply instanceof Promise) return afterCommit(reply, to, command, { ...options, id, bornAt });
    if (reply.ok) return reply.body;
    if (reply.code === "refused") throw new RefusedError(reply.refusal);
    return ask(to, command, { ...options, id, bornAt }, true);
  };
}
