// An actor whose activation broke has forgotten what nodes hold of it. Once it is loaded again, every node is asked to tell
// it again, this one included, and commands that rely on holds wait for it, at most `arrivalMs` each time.
//
// what goes wrong                          what follows
// a node is silent, slow, cut off          commands go on after `arrivalMs`; it is asked again for a while all the same
// a node is over                           nobody waits for it
// the actor breaks again meanwhile         all are asked once more, once for however many times it broke
// it breaks with every try                 all are asked once a second, and what relies on holds waits as long
//
// After a move it is not needed: hold-handoff.ts. It never looks at what is told: that goes to the actor as commands.

import { atMost, type Clock, sleep } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { Placement } from "../placement/placement.ts";

export interface HoldResync {
  /** The actor is loaded and knows of no holds. Resolves when all nodes have told theirs, or have had their time. Never rejects. */
  from(actor: ActorRef): Promise<void>;
  /** This node tells what it holds of the actor. Rejects when it cannot. */
  here(actor: ActorRef): Promise<void>;
  onForgot(handle: (actor: ActorRef) => Promise<void>): void;
}

const REST_MS = 1_000;
const PAUSE_MS = 500;
const TRIES_MOST = 20;

export function createHoldResync(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly arrivalMs: number;
  readonly placement: Pick<Placement, "node" | "others">;
  /** Resolves when that other node has told. */
  readonly ask: (node: string, actor: ActorRef) => Promise<unknown>;
}): HoldResync {
  const { clock, log, placement } = parts;
  const handlers: ((actor: ActorRef) => Promise<void>)[] = [];
  /** Rounds that have not begun: whoever forgets before they do has a share in them. By actor. */
  const planned = new Map<string, Promise<void>>();
  /** Until when (mono ms) no other round begins. By actor. */
  const resting = new Map<string, number>();

  async function here(actor: ActorRef): Promise<void> {
    await Promise.all(handlers.map((handle) => handle(actor)));
  }

  async function untilTold(node: string, actor: ActorRef): Promise<void> {
    for (let tries = 0; tries < TRIES_MOST; tries++) {
      const isHere = node === placement.node();
      if (!isHere && !placement.others().includes(node)) return;
      try {
        await (isHere ? here(actor) : parts.ask(node, actor));
        return;
      } catch (error) {
        log("debug", "not_told_again", { actor: actorName(actor), node, error: String(error) });
      }
      await sleep(clock, PAUSE_MS);
    }
  }

  function round(actor: ActorRef, name: string): Promise<void> {
    planned.delete(name);
    const until = clock.mono() + REST_MS;
    resting.set(name, until);
    clock.after(REST_MS, () => {
      if (resting.get(name) === until) resting.delete(name);
    });
    const nodes = [placement.node(), ...placement.others()];
    return atMost(clock, parts.arrivalMs, Promise.all(nodes.map((node) => untilTold(node, actor))));
  }

  return {
    from(actor) {
      const name = actorName(actor);
      const soon = planned.get(name);
      if (soon !== undefined) return soon;
      const restMs = (resting.get(name) ?? 0) - clock.mono();
      if (restMs <= 0) return round(actor, name);
      const next = sleep(clock, restMs).then(() => round(actor, name));
      planned.set(name, next);
      return next;
    },
    here,
    onForgot: (handle) => void handlers.push(handle),
  };
}
