// What one part outside the runtime learns of the actors of this node, for what it keeps beside them in memory.
// Everything is reported synchronously and once. It must not throw, wait or ask an actor, because loads, commits and
// moves of shards go on only when it returns.

import type { Commit } from "../store/store.ts";
import type { ActorRef } from "./actor.ts";

/** Watches actors, commits and shards of one node. */
export interface ActorObserver {
  /**
   * Called when an actor was loaded into memory here. `state` is that of its behavior, which changes with its turns for as
   * long as it stays loaded: it may be read, and never changed.
   */
  loaded(actor: ActorRef, state: unknown): void;
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

/** Returns an observer that passes everything on to several, in their order. */
export const observeWith = (...observers: readonly ActorObserver[]): ActorObserver => ({
  loaded(actor, state) {
    for (const one of observers) one.loaded(actor, state);
  },
  committed(actor, commit) {
    for (const one of observers) one.committed(actor, commit);
  },
  gained(shards) {
    for (const one of observers) one.gained(shards);
  },
  lost(shards) {
    for (const one of observers) one.lost(shards);
  },
});
