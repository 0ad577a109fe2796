// The Levels whose actors this node owns, and the states of their provider keys: for figures, never for routing. A Level is
// known from when its actor was loaded here, which any request for it on any node does, until its shard is lost: so each is
// known to one node, and sums over nodes are exact. It holds the states that the actors hold; `figures` gives out numbers
// only. The number of Levels is bounded: further ones are left out.

import type { Level, LevelFold } from "../../../actors/level/state.ts";
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
  /** Levels whose requests go to their backup Level. */
  readonly switchedOver: number;
}

/** The Levels of a node. */
export class LevelStates implements ActorObserver {
  /** By the id of the actor. An actor that left memory had its last state then, and has it again when it is loaded. */
  private readonly states = new Map<string, Level>();

  loaded({ kind, id }: ActorRef, state: unknown): void {
    if (kind !== "level") return;
    if (this.states.size >= KNOWN_LEVELS_MAX && !this.states.has(id)) this.dropEmpty();
    if (this.states.size < KNOWN_LEVELS_MAX || this.states.has(id)) this.states.set(id, state as Level);
  }

  /** The states change by themselves. */
  committed(): void {}
  gained(): void {}

  lost(shards: readonly number[]): void {
    const these = new Set(shards);
    for (const id of this.states.keys()) {
      if (these.has(shardOf(actorName({ kind: "level", id })))) this.states.delete(id);
    }
  }

  /** Returns the figures by number of the Level, at `now` in wall-clock ms. */
  figures(now: number): readonly LevelFigures[] {
    const found = new Map<string, Mutable>();
    for (const [id, { fold }] of this.states) {
      if (fold.keys.length > 0) addLevel(seriesOfLevel(found, levelNumberOf(id), none), fold, now);
    }
    return [...found.values()];
  }

  private dropEmpty(): void {
    for (const [id, { fold }] of this.states) if (fold.keys.length === 0) this.states.delete(id);
  }
}

type Mutable = { -readonly [K in keyof LevelFigures]: LevelFigures[K] } & { keys: Record<KeyState, number> };

const none = (level: string): Mutable => ({
  level,
  keys: { active: 0, waking: 0, sleeping: 0, resting: 0, disabled: 0 },
  down: 0,
  switchedOver: 0,
});

function addLevel(figures: Mutable, { keys, health, switchedUntil }: LevelFold, now: number): void {
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
  if (switchedUntil > now) figures.switchedOver++;
}
