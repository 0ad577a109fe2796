// An actor whose activation failed has lost the holds on it. Once it is reloaded, every node is asked to
// re-assert its holds, this node included, and commands that rely on holds wait for that, `handoffMs` at most
// each time.
//
// situation                          recovery
// a node is silent, slow or cut off  commands continue after `handoffMs`; the node is asked again for a while
// a node is dead                     it is not waited for
// the actor fails again meanwhile    all nodes are asked once more, however often it failed
// it fails with every attempt        all nodes are asked once a second, and commands that rely on holds wait
//
// After a move hold-handoff.ts does the same. This file does not look at holds: they go to the actor as
// commands.

import { atMost, type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { Placement } from "../placement/placement.ts";

export interface HoldResync {
  /**
   * Called when the actor is reloaded without its holds. Resolves when all nodes have re-asserted theirs, or
   * their time is up. Never rejects.
   */
  resync(actor: ActorRef): Promise<void>;
  /** Re-asserts this node's holds on the actor. Rejects when it cannot. */
  reassertHere(actor: ActorRef): Promise<void>;
  /** Registers a handler that re-asserts this node's holds on an actor. */
  onResync(handle: (actor: ActorRef) => Promise<void>): void;
}

const ROUND_MS = 1_000;
const PAUSE_MS = 500;
const TRIES_MAX = 20;

/**
 * Creates the resync of a node. A node that fails is asked again every `PAUSE_MS`, `TRIES_MAX` times at
 * most.
 */
export function createHoldResync(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly handoffMs: number;
  readonly placement: Pick<Placement, "node" | "others">;
  /** Resolves when the other node has re-asserted its holds. */
  readonly ask: (node: string, actor: ActorRef) => Promise<unknown>;
}): HoldResync {
  const { clock, log, placement } = parts;
  const handlers: ((actor: ActorRef) => Promise<void>)[] = [];
  /** Rounds that have not begun, by actor. All failures until a round begins share it. */
  const planned = new Map<string, Promise<void>>();
  /** Monotonic ms before which no other round begins, by actor. */
  const nextRoundAt = new Map<string, number>();

  async function reassertHere(actor: ActorRef): Promise<void> {
    await Promise.all(handlers.map((handle) => handle(actor)));
  }

  async function untilReasserted(node: string, actor: ActorRef): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const isOwn = node === placement.node();
      if (!isOwn && !placement.others().includes(node)) return;
      try {
        await (isOwn ? reassertHere(actor) : parts.ask(node, actor));
        return;
      } catch (error) {
        log("debug", "not_told_again", { actor: actorName(actor), node, error: String(error) });
      }
      await sleep(clock, PAUSE_MS);
    }
  }

  function round(actor: ActorRef, name: string): Promise<void> {
    planned.delete(name);
    const until = clock.mono() + ROUND_MS;
    nextRoundAt.set(name, until);
    clock.after(ROUND_MS, () => {
      if (nextRoundAt.get(name) === until) nextRoundAt.delete(name);
    });
    const nodes = [placement.node(), ...placement.others()];
    return atMost(clock, parts.handoffMs, Promise.all(nodes.map((node) => untilReasserted(node, actor))));
  }

  return {
    resync(actor) {
      const name = actorName(actor);
      const soon = planned.get(name);
      if (soon !== undefined) return soon;
      const waitMs = (nextRoundAt.get(name) ?? 0) - clock.mono();
      if (waitMs <= 0) return round(actor, name);
      const next = sleep(clock, waitMs).then(() => round(actor, name));
      planned.set(name, next);
      return next;
    },
    reassertHere,
    onResync: (handle) => void handlers.push(handle),
  };
}
