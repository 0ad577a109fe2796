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
import { Semaphore } from "../../base/semaphore.ts";
import type { ActorRef, Command, Effect, EffectDone, Reply } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";

export interface EffectOutbox {
  /** Starts the delivery of effects that are not in delivery yet. */
  enqueue(from: ActorRef, effects: readonly Effect[]): void;
  /** Stops delivering the effects of these actors, because this node lost their shards. */
  forget(concerns: (from: ActorRef) => boolean): void;
  /** Retries all waiting deliveries to these actors at once, because their shards have new owners. */
  retryNow(concerns: (to: ActorRef) => boolean): void;
  /** Returns the number of effects that wait or are in delivery. */
  size(): number;
  stop(): void;
}

interface Delivery {
  readonly from: ActorRef;
  readonly effect: Effect;
  forgotten: boolean;
  /** Set during the pause before the next attempt at this actor. */
  asleep: { readonly to: ActorRef; readonly wake: () => void } | null;
}

/** Creates the outbox of a node, with at most `limits.effects` attempts under way at once. */
export function createEffectOutbox(parts: {
  clock: Clock;
  random: Random;
  limits: RuntimeLimits;
  /** Makes one attempt. The outbox repeats it after `unavailable`, `overloaded` and `not_owner`. */
  deliver(to: ActorRef, command: Command, id: string, bornAt: number): Promise<Reply>;
}): EffectOutbox {
  const { clock, random, limits, deliver } = parts;
  const inDelivery = new Map<string, Delivery>();
  // A pause takes no permit, so that an actor that cannot be reached delays no effect to another one.
  const attempts = new Semaphore(limits.effects);
  let stopped = false;

  async function settle(delivery: Delivery): Promise<void> {
    const { from, effect } = delivery;
    const reply = await deliverUntilAnswered(delivery, effect.to, effect.command, effect.id);
    if (reply === null) return;
    const done: EffectDone = {
      type: "effectDone",
      effect: effect.id,
      refused: !reply.ok && reply.code === "refused" ? reply.refusal : null,
    };
    await deliverUntilAnswered(delivery, from, done, `${effect.id}:done`);
  }

  /**
   * Repeats the delivery until the actor replies or refuses. Returns null when this node must stop; the
   * effect stays in its actor's state.
   */
  async function deliverUntilAnswered(
    delivery: Delivery,
    to: ActorRef,
    command: Command,
    id: string,
  ): Promise<Reply | null> {
    const attempt = async () =>
      stopped || delivery.forgotten ? null : deliver(to, command, id, delivery.effect.bornAt);
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, limits.effectBackoffMs)) {
      const reply = await attempts.run(attempt);
      if (reply === null) return null;
      if (reply.ok || reply.code === "refused") return reply;
      if (!stopped && (await pause(clock, delivery, to, pauseMs + random.below(pauseMs)))) pauseMs = 20;
    }
  }

  return {
    enqueue(from, effects) {
      for (const effect of effects) {
        const known = inDelivery.get(effect.id);
        if (stopped || (known !== undefined && !known.forgotten)) continue;
        const delivery: Delivery = { from, effect, forgotten: false, asleep: null };
        inDelivery.set(effect.id, delivery);
        void settle(delivery).finally(() => {
          if (inDelivery.get(effect.id) === delivery) inDelivery.delete(effect.id);
        });
      }
    },
    forget(concerns) {
      for (const delivery of inDelivery.values()) {
        if (!concerns(delivery.from)) continue;
        delivery.forgotten = true;
        delivery.asleep?.wake();
      }
    },
    retryNow(concerns) {
      for (const { asleep } of inDelivery.values()) if (asleep !== null && concerns(asleep.to)) asleep.wake();
    },
    size: () => inDelivery.size,
    stop() {
      stopped = true;
      for (const { asleep } of inDelivery.values()) asleep?.wake();
    },
  };
}

/** Pauses a delivery to `to` for `ms` milliseconds. Resolves to true when the pause was cut short. */
function pause(clock: Clock, delivery: Delivery, to: ActorRef, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    if (delivery.forgotten) return resolve(true);
    const cancel = clock.after(ms, () => end(false));
    const end = (woken: boolean) => {
      delivery.asleep = null;
      cancel();
      resolve(woken);
    };
    delivery.asleep = { to, wake: () => end(true) };
  });
}
