// What one part outside the runtime learns of the actors of this node, for what it keeps beside them in memory.
// Everything is reported synchronously and once. It must not throw, wait or ask an actor, because commits and
// moves of shards go on only when it returns.

import type { Commit } from "../store/store.ts";
import type { ActorRef } from "./actor.ts";

/** Watches commits and shards of one node. */
export interface ActorObserver {
  /**
   * Called when a commit of an actor here is durable, before its replies are released. A commit whose outcome
   * was unknown when it was stored is not reported.
   */
  committed(actor: ActorRef, commit: Pick<Commit, "events">): void;
  /** Called with shards that this node serves from now on. */
  gained(shards: readonly number[]): void;
  /** Called with shards that this node no longer serves. */
  lost(shards: readonly number[]): void;
}
