// Operations on this node and on all nodes of the cluster: stats, saves, reloading an actor. Nothing here
// retries for longer than its caller waits, and a node that does not answer is reported, never waited for.

import { atMost, type Clock, inTime, sleep } from "../../base/clock.ts";
import type { ActivationCache } from "../activation/activation-cache.ts";
import type { Committer } from "../activation/committer.ts";
import type { EffectOutbox } from "../activation/effect-outbox.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";
import { SHARDS, shardOf } from "../shards.ts";
import type { Counters, SystemStats } from "../stats.ts";
import type { ActorRouter } from "./actor-router.ts";
import type { NodeProtocol } from "./node-protocol.ts";

/** How long (ms) `reload` looks for the actor's owner. */
const RELOAD_MS = 5_000;

/** The operations; each is documented at `ActorSystem`. */
export interface NodeOperations {
  stats(): SystemStats;
  save(ms: number): Promise<boolean>;
  owns(actor: ActorRef): boolean;
  /** Reloads an actor of this node for another node. Returns false when this node does not own it. */
  reloadHere(actor: ActorRef): Promise<boolean>;
  reload(actor: ActorRef): Promise<void>;
  overview(ms: number): Promise<readonly { readonly node: string; readonly stats: SystemStats | null }[]>;
  saveEverywhere(ms: number): Promise<boolean>;
}

/** Creates the operations of a node. Requests to other nodes go through `protocol`. */
export function createNodeOperations(parts: {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly placement: Placement;
  readonly committer: Committer;
  readonly activations: ActivationCache;
  readonly outbox: EffectOutbox;
  readonly router: () => ActorRouter;
  readonly protocol: () => NodeProtocol;
  readonly version: string;
  readonly figures: () => Readonly<Record<string, number>>;
}): NodeOperations {
  const { clock, limits, placement, activations } = parts;

  const owns = (actor: ActorRef): boolean => placement.epochOf(shardOf(actorName(actor))) > 0;

  function stats(): SystemStats {
    const shards = Array.from({ length: SHARDS }, (_, shard) => placement.epochOf(shard));
    return {
      counters: parts.counters,
      actors: activations.size(),
      turnsWaiting: parts.router().waiting(),
      lagMs: parts.committer.lagMs(),
      effects: parts.outbox.size(),
      mailboxMost: activations.mailboxMost(),
      node: placement.node(),
      version: parts.version,
      shards: shards.filter((epoch) => epoch > 0).length,
      figures: parts.figures(),
    };
  }

  async function save(ms: number): Promise<boolean> {
    let isAllSaved = false;
    const saving = activations.save().then((done) => {
      isAllSaved = done;
    });
    await atMost(clock, ms, saving);
    return isAllSaved;
  }

  /** Returns null when the node failed or did not answer in time. */
  const answerOf = <T>(ms: number, call: Promise<T>): Promise<T | null> =>
    inTime(clock, ms, call).catch(() => null);

  return {
    stats,
    save,
    owns,
    async reloadHere(actor) {
      if (!owns(actor)) return false;
      await activations.reload(actorName(actor));
      return true;
    },
    async reload(actor) {
      const until = clock.mono() + RELOAD_MS;
      while (clock.mono() < until) {
        if (owns(actor)) return activations.reload(actorName(actor));
        const owner = placement.ownerOf(shardOf(actorName(actor)));
        if (owner !== null && owner.node !== placement.node()) {
          const call = parts.protocol().call(owner.node, "reload", { actor }, limits.tryMs);
          if (await answerOf(limits.tryMs, call)) return;
        }
        await placement.refresh();
        await sleep(clock, 20);
      }
    },
    async overview(ms) {
      const others = placement.others().map(async (node) => {
        return { node, stats: await answerOf(ms, parts.protocol().call(node, "stats", {}, ms)) };
      });
      return [{ node: placement.node(), stats: stats() }, ...(await Promise.all(others))];
    },
    async saveEverywhere(ms) {
      const others = placement
        .others()
        .map((node) => answerOf(ms, parts.protocol().call(node, "save", { ms }, ms)));
      return (await Promise.all([save(ms), ...others])).every((saved) => saved === true);
    },
  };
}
