// Repeats a command until the actor answers or the budget ends. A command with the same id may be repeated at
// will, here and by callers that say when the id was created (`bornAt`). The client never claims that something did
// not happen when it does not know.
//
// result of an attempt                     what follows
// a reply, or a refusal                    the caller gets it
// not_owner, overloaded                    not executed: retry after a pause
// unavailable, or no answer                executed or not: retry after a pause, with the same id
// too_old, too_large                       a retry cannot help: the caller gets UnavailableError

import { type Clock, type Random, sleep, withTimeout } from "../../base/clock.ts";
import { RefusedError, UnavailableError } from "../../base/errors.ts";
import { type ActorRef, actorName, type Command, type Reply, UNAVAILABLE } from "../actor.ts";

/** How long (ms) a command is tried unless its caller says otherwise. */
export const BUDGET_MS = 5_000;
/** The pause (ms) before the second attempt; later ones are longer. A random part as long again is added. */
export const FIRST_PAUSE_MS = 10;

export interface AskOptions {
  /** Idempotency key, the same on every repeat; a new one by default. Without `bornAt` it must not have been sent before. */
  readonly id?: string;
  /** Wall-clock ms at which the id was created; now by default. With it the command counts as one that may have been sent before. */
  readonly bornAt?: number;
  /** How long to try (ms); `BUDGET_MS` by default. */
  readonly budgetMs?: number;
}

/** The part of a command's envelope that is the same on every attempt. */
export interface CommandMessage {
  readonly id: string;
  readonly bornAt: number;
  readonly command: Command;
  readonly effect?: true;
  readonly retry?: true;
}

/**
 * Asks an actor. `isRetry` means that the command may have been executed before. Throws RefusedError, or
 * UnavailableError when the outcome is unknown.
 */
export type Ask = (
  to: ActorRef,
  command: Command,
  options: AskOptions,
  isRetry?: boolean,
) => Promise<unknown>;

/** Returns whether a reply is the same on every attempt. */
export const isFinal = (reply: Reply): boolean =>
  !reply.ok && (reply.code === "too_old" || reply.code === "too_large");

/** Creates the function that asks actors. `attempt` makes one attempt; its work may continue after `ms`. */
export function createRetryClient(parts: {
  readonly clock: Clock;
  readonly random: Random;
  readonly attempt: (to: ActorRef, message: CommandMessage, ms: number) => Promise<Reply>;
}): Ask {
  const { clock, random, attempt } = parts;

  return async (to, command, options, isRetry = false) => {
    const id = options.id ?? random.id();
    const bornAt = options.bornAt ?? clock.wall();
    const until = clock.mono() + (options.budgetMs ?? BUDGET_MS);
    // An id that the caller has kept may have been sent before.
    let retry = isRetry || options.bornAt !== undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      const leftMs = Math.max(1, until - clock.mono());
      const replying = attempt(to, { id, bornAt, command, ...(retry && { retry }) }, leftMs);
      const reply = await withTimeout(clock, leftMs, replying, () => UNAVAILABLE);
      retry = true;
      if (reply.ok) return reply.body;
      if (reply.code === "refused") throw new RefusedError(reply.refusal);
      if (isFinal(reply) || clock.mono() + pauseMs > until)
        throw new UnavailableError(actorName(to), reply.code);
      await sleep(clock, pauseMs + random.below(pauseMs));
    }
  };
}
