// Delivers what actors owe each other (effects), at least once, until the owing actor's state no longer lists them.
//
//   commit with the owing event -> deliver to the other actor (same id on every try) -> its reply or refusal comes back
//   to the owing actor as `effectDone` (own id) -> its event ends the debt.
//
// A crash anywhere leaves the debt in the owing actor's state; its next activation lists it again. The outbox itself
// keeps nothing that matters: it only remembers what is under way, so that a debt is not sent twice at once.

import type { ActorRef, Effect, EffectDone, Reply } from "./actor.ts";
import { type Clock, type Random, sleep } from "./clock.ts";
import type { Limits } from "./limits.ts";

export interface Outbox {
  owes(from: ActorRef, effects: readonly Effect[]): void;
  /** Debts under way or waiting. */
  size(): number;
  stop(): void;
}

export function createOutbox(parts: {
  clock: Clock;
  random: Random;
  limits: Limits;
  /** Sends once; `unavailable`, `overloaded` and `not_owner` are tried again here. */
  deliver(to: ActorRef, command: object, id: string, bornAt: number): Promise<Reply>;
}): Outbox {
  const { clock, random, limits, deliver } = parts;
  const under = new Set<string>();
  const waiting: { from: ActorRef; effect: Effect }[] = [];
  let running = 0;
  let stopped = false;

  async function settle(from: ActorRef, effect: Effect): Promise<void> {
    const reply = await persist(effect.to, effect.command, effect.id, effect.bornAt);
    if (reply === null) return;
    const done: EffectDone = {
      type: "effectDone",
      effect: effect.id,
      refused: !reply.ok && reply.code === "refused" ? reply.refusal : null,
    };
    await persist(from, done, `${effect.id}:done`, effect.bornAt);
  }

  /** Tries until somebody decides. Null: this process is stopping, the debt stays where it is written. */
  async function persist(to: ActorRef, command: object, id: string, bornAt: number): Promise<Reply | null> {
    for (let pauseMs = 20; !stopped; pauseMs = Math.min(pauseMs * 2, limits.effectBackoffMs)) {
      const reply = await deliver(to, command, id, bornAt);
      if (reply.ok || reply.code === "refused") return reply;
      await sleep(clock, pauseMs + random.below(pauseMs));
    }
    return null;
  }

  function next(): void {
    while (running < limits.effects && waiting.length > 0) {
      const { from, effect } = waiting.shift()!;
      running++;
      void settle(from, effect).finally(() => {
        running--;
        under.delete(effect.id);
        next();
      });
    }
  }

  return {
    owes(from, effects) {
      for (const effect of effects) {
        if (stopped || under.has(effect.id)) continue;
        under.add(effect.id);
        waiting.push({ from, effect });
      }
      next();
    },
    size: () => under.size,
    stop() {
      stopped = true;
    },
  };
}
