// Delivers what actors owe each other (effects), at least once, until the owing actor's state no longer lists them.
//
//   commit with the owing event -> deliver to the other actor (same id on every try) -> its reply or refusal comes back
//   to the owing actor as `effectDone` (own id) -> its event ends the debt.
//
// Whoever is asked may be on any node. When the owing actor gets another owner, its debts are forgotten here: the new owner
// finds them in its state.
//
// A crash anywhere leaves the debt in the owing actor's state; its next activation lists it again. The outbox itself
// keeps nothing that matters: it only remembers what is under way, so that a debt is not sent twice at once.

import type { Clock, Random } from "../../base/clock.ts";
import type { ActorRef, Effect, EffectDone, Reply } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";

export interface EffectOutbox {
  owes(from: ActorRef, effects: readonly Effect[]): void;
  /** These actors are another's: what they owe is not delivered from here any more. */
  forget(concerns: (from: ActorRef) => boolean): void;
  /** These actors are to be found elsewhere: who waits to try them again does so now. */
  hasten(concerns: (to: ActorRef) => boolean): void;
  /** Debts under way or waiting. */
  size(): number;
  stop(): void;
}

interface Debt {
  readonly from: ActorRef;
  readonly effect: Effect;
  forgotten: boolean;
  /** Waiting to try this actor again. */
  asleep: { readonly to: ActorRef; readonly wake: () => void } | null;
}

export function createEffectOutbox(parts: {
  clock: Clock;
  random: Random;
  limits: RuntimeLimits;
  /** Sends once; `unavailable`, `overloaded` and `not_owner` are tried again here. */
  deliver(to: ActorRef, command: object, id: string, bornAt: number): Promise<Reply>;
}): EffectOutbox {
  const { clock, random, limits, deliver } = parts;
  const under = new Map<string, Debt>();
  const waiting: Debt[] = [];
  let running = 0;
  let stopped = false;

  async function settle(debt: Debt): Promise<void> {
    const { from, effect } = debt;
    const reply = await persist(debt, effect.to, effect.command, effect.id);
    if (reply === null) return;
    const done: EffectDone = {
      type: "effectDone",
      effect: effect.id,
      refused: !reply.ok && reply.code === "refused" ? reply.refusal : null,
    };
    await persist(debt, from, done, `${effect.id}:done`);
  }

  /** Tries until somebody decides. Null: it is not this node's to deliver any more, the debt stays where it is written. */
  async function persist(debt: Debt, to: ActorRef, command: object, id: string): Promise<Reply | null> {
    for (
      let pauseMs = 20;
      !stopped && !debt.forgotten;
      pauseMs = Math.min(pauseMs * 2, limits.effectBackoffMs)
    ) {
      const reply = await deliver(to, command, id, debt.effect.bornAt);
      if (reply.ok || reply.code === "refused") return reply;
      if (await pause(debt, to, pauseMs + random.below(pauseMs))) pauseMs = 20;
    }
    return null;
  }

  /** True: it was woken. */
  function pause(debt: Debt, to: ActorRef, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (stopped || debt.forgotten) return resolve(true);
      const cancel = clock.after(ms, () => end(false));
      const end = (woken: boolean) => {
        debt.asleep = null;
        cancel();
        resolve(woken);
      };
      debt.asleep = { to, wake: () => end(true) };
    });
  }

  function next(): void {
    while (running < limits.effects && waiting.length > 0) {
      const debt = waiting.shift()!;
      running++;
      void settle(debt).finally(() => {
        running--;
        if (under.get(debt.effect.id) === debt) under.delete(debt.effect.id);
        next();
      });
    }
  }

  return {
    owes(from, effects) {
      for (const effect of effects) {
        const known = under.get(effect.id);
        if (stopped || (known !== undefined && !known.forgotten)) continue;
        const debt: Debt = { from, effect, forgotten: false, asleep: null };
        under.set(effect.id, debt);
        waiting.push(debt);
      }
      next();
    },
    forget(concerns) {
      for (const debt of under.values()) {
        if (!concerns(debt.from)) continue;
        debt.forgotten = true;
        debt.asleep?.wake();
      }
    },
    hasten(concerns) {
      for (const { asleep } of under.values()) if (asleep !== null && concerns(asleep.to)) asleep.wake();
    },
    size: () => under.size,
    stop() {
      stopped = true;
      for (const { asleep } of under.values()) asleep?.wake();
    },
  };
}
