// Delivers the effects of actors, at least once, until the owing actor's state no longer lists them.
//
//   commit that owes the effect -> deliver to the other actor (same id on every attempt) -> its reply or
//   refusal returns to the owing actor as `effectDone` (own id) -> the event of that ends the pending effect
//
// The receiver may be on any node. When the owing actor gets another owner, its effects are forgotten here,
// and the new owner finds them in its state.
//
// A crash anywhere leaves the effect in the owing actor's state, and its next activation lists it again. The
// outbox keeps nothing that must last: it remembers what is in delivery only to not send it twice at once.

import type { Clock, Random } from "../../base/clock.ts";
import type { ActorRef, Command, Effect, EffectDone, Reply } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";

export interface EffectOutbox {
  /** Starts the delivery of effects that are not in delivery yet. */
  owes(from: ActorRef, effects: readonly Effect[]): void;
  /** Stops delivering the effects of these actors, because this node lost their shards. */
  forget(concerns: (from: ActorRef) => boolean): void;
  /** Retries all waiting deliveries to these actors at once, because their shards have new owners. */
  hasten(concerns: (to: ActorRef) => boolean): void;
  /** Returns the number of effects that wait or are in delivery. */
  size(): number;
  stop(): void;
}

interface Debt {
  readonly from: ActorRef;
  readonly effect: Effect;
  forgotten: boolean;
  /** Set during the pause before the next attempt at this actor. */
  asleep: { readonly to: ActorRef; readonly wake: () => void } | null;
}

/** Creates the outbox of a node, with at most `limits.effects` effects in delivery at once. */
export function createEffectOutbox(parts: {
  clock: Clock;
  random: Random;
  limits: RuntimeLimits;
  /** Makes one attempt. The outbox repeats it after `unavailable`, `overloaded` and `not_owner`. */
  deliver(to: ActorRef, command: Command, id: string, bornAt: number): Promise<Reply>;
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

  /**
   * Repeats the delivery until the actor replies or refuses. Returns null when this node must stop; the
   * effect stays in its actor's state.
   */
  async function persist(debt: Debt, to: ActorRef, command: Command, id: string): Promise<Reply | null> {
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

  /** Resolves to true when the pause was cut short. */
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
