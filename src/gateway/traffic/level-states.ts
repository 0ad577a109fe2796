// The Levels whose actors this node owns, and the states of their provider keys: for figures, never for routing. A Level is
// known from when its actor was loaded here, which any request for it on any node does, until its shard is lost: so each is
// known to one node, and sums over nodes are exact. It holds the states that the actors hold; `figures` gives out numbers
// only. The number of Levels is bounded: further ones are left out.

import type { Level, LevelEvent } from "../../../actors/level/state.ts";
import { usability } from "../../../actors/level/view.ts";
import { type ActorRef, actorName } from "../../runtime/actor.ts";
import type { ActorObserver } from "../../runtime/actor-observer.ts";
import { shardOf } from "../../runtime/shards.ts";
import { levelNumberOf, seriesOfLevel } from "./level-series.ts";

/** Levels that are remembered. */
const KNOWN_LEVELS_MAX = 10_000;

/** The states in which a provider key can be. */
export const KEY_STATES = ["active", "waking", "sleeping", "resting", "disabled"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** The Levels of one number, over all Owners. */
export interface LevelFigures {
  /** The number, or `other`. */
  readonly level: string;
  readonly keys: Readonly<Record<KeyState, number>>;
  /** Levels without a key that can be used, of which at least one sleeps: the others sleep or are disabled too. */
  readonly down: number;
  /** Levels whose requests go to the backup Level that they have. */
  readonly switchedOver: number;
}

/** The Levels of a node. */
export class LevelStates implements ActorObserver {
  /** By the id of the actor. An actor that left memory had its last state then, and has it again when it is loaded. */
  private readonly states = new Map<string, Level>();
  /**
   * The end, in wall-clock ms, of the last switch-over of each of these Levels that has a backup. The actor's state does not
   * say whether there is one. What was decided elsewhere, before the actor came here, is over within a minute.
   */
  private readonly switchedUntil = new Map<string, number>();

  loaded({ kind, id }: ActorRef, state: unknown): void {
    if (kind !== "level") return;
    if (this.states.size >= KNOWN_LEVELS_MAX && !this.states.has(id)) this.dropEmpty();
    if (this.states.size < KNOWN_LEVELS_MAX || this.states.has(id)) this.states.set(id, state as Level);
  }

  /** The states change by themselves. */
  committed({ kind, id }: ActorRef, { events }: Parameters<ActorObserver["committed"]>[1]): void {
    if (kind !== "level" || !this.states.has(id)) return;
    for (const { e } of events) {
      const event = e as LevelEvent;
      if (event.type === "switched_over" && event.to !== undefined) this.switchedUntil.set(id, event.until);
    }
  }

  gained(): void {}

  lost(shards: readonly number[]): void {
    const these = new Set(shards);
    for (const id of this.states.keys()) {
      if (these.has(shardOf(actorName({ kind: "level", id })))) this.drop(id);
    }
  }

  /** Returns the figures by number of the Level, at `now` in wall-clock ms. */
  figures(now: number): readonly LevelFigures[] {
    const found = new Map<string, Mutable>();
    for (const [id, { fold }] of this.states) {
      if (fold.keys.length === 0) continue;
      const figures = seriesOfLevel(found, levelNumberOf(id), none);
      addKeys(figures, fold, now);
      if (fold.switchedUntil > now && this.switchedUntil.get(id) === fold.switchedUntil)
        figures.switchedOver++;
    }
    return [...found.values()];
  }

  private dropEmpty(): void {
    for (const [id, { fold }] of this.states) if (fold.keys.length === 0) this.drop(id);
  }

  private drop(id: string): void {
    this.states.delete(id);
    this.switchedUntil.delete(id);
  }
}

type Mutable = { -readonly [K in keyof LevelFigures]: LevelFigures[K] } & { keys: Record<KeyState, number> };

const none = (level: string): Mutable => ({
  level,
  keys: { active: 0, waking: 0, sleeping: 0, resting: 0, disabled: 0 },
  down: 0,
  switchedOver: 0,
});

function addKeys(figures: Mutable, { keys, health }: Level["fold"], now: number): void {
  let sleeping = 0;
  let usable = 0;
  for (const key of keys) {
    const { state } = usability(key, health.get(key.id), "", now);
    const shown = state === "normal" || state === "passed_over" ? "active" : state;
    figures.keys[shown]++;
    if (shown === "sleeping") sleeping++;
    // A resting key is back within seconds.
    else if (shown !== "disabled") usable++;
  }
  if (sleeping > 0 && usable === 0) figures.down++;
}
