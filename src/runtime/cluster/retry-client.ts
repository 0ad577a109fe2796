// Asking an actor until it answers or the budget is over. A caller may repeat a command with the same id as often as it
// likes, so this does it too; it never says that something did not happen when it only does not know.
//
// answer of one try                        what follows
// a reply, or a refusal                    it is the caller's
// not_owner, overloaded                    not executed: again after a pause
// unavailable, or no answer                executed or not: again after a pause, with the same id
// too_old, too_large                       never to be executed, or never to be answered: the caller hears it

import { type Clock, type Random, sleep } from "../../base/clock.ts";
import { RefusedError, UnavailableError } from "../../base/errors.ts";
import { type ActorRef, actorName, type Reply, UNAVAILABLE } from "../actor.ts";

export interface AskOptions {
  /** Idempotency key; a fresh one when absent. The same on every repeat. */
  readonly id?: string;
  /** Wall ms at which the id was minted; now when absent. */
  readonly bornAt?: number;
  /** How long to try. Default 5,000 ms. */
  readonly budgetMs?: number;
}

/** A command, with what stays the same on every try. */
export interface CommandMessage {
  readonly id: string;
  readonly bornAt: number;
  readonly command: { readonly type: string };
  readonly owed?: true;
  readonly again?: true;
}

export type Ask = (to: ActorRef, command: { type: string }, options: AskOptions) => Promise<unknown>;

/** `attempt` tries once; its work may go on after `ms`. */
export function createRetryClient(parts: {
  readonly clock: Clock;
  readonly random: Random;
  readonly attempt: (to: ActorRef, message: CommandMessage, ms: number) => Promise<Reply>;
}): Ask {
  const { clock, random, attempt } = parts;

  /** The reply; or `unavailable` when it takes longer, while the work goes on. */
  function within(ms: number, reply: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, () => resolve(UNAVAILABLE));
      reply.then(
        (value) => {
          cancel();
          resolve(value);
        },
        (error) => {
          cancel();
          reject(error);
        },
      );
    });
  }

  return async (to, command, options) => {
    const id = options.id ?? random.id();
    const bornAt = options.bornAt ?? clock.wall();
    const until = clock.mono() + (options.budgetMs ?? 5_000);
    let again = bornAt !== clock.wall();
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      const leftMs = Math.max(1, until - clock.mono());
      const reply = await within(
        leftMs,
        attempt(to, { id, bornAt, command, ...(again && { again }) }, leftMs),
      );
      again = true;
      if (reply.ok) return reply.body;
      if (reply.code === "refused") throw new RefusedError(reply.refusal);
      const final = reply.code === "too_old" || reply.code === "too_large";
      if (final || clock.mono() + pauseMs > until) throw new UnavailableError(actorName(to), reply.code);
      await sleep(clock, pauseMs + random.below(pauseMs));
    }
  };
}
