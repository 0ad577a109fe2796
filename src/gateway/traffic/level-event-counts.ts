// Counts what happens to the Levels whose actors this node owns, as their commits say it: so each event is counted once in
// a cluster. Plain numbers by the number of the Level; numbers beyond a bound count as one.

import type { LevelEvent } from "../../../actors/level/state.ts";
import type { ActorRef } from "../../runtime/actor.ts";
import type { ActorObserver } from "../../runtime/actor-observer.ts";
import { levelNumberOf, seriesOfLevel } from "./level-series.ts";

/** The counts of Levels with one number, over all Owners. */
export interface LevelEventCount {
  switchOvers: number;
  sleeps: number;
}

const noEvents = (): LevelEventCount => ({ switchOvers: 0, sleeps: 0 });

/** The counts of a node. */
export class LevelEventCounts implements ActorObserver {
  /** By the number of the Level, or `other`. */
  readonly byLevel = new Map<string, LevelEventCount>();

  committed({ kind, id }: ActorRef, { events }: Parameters<ActorObserver["committed"]>[1]): void {
    if (kind !== "level") return;
    for (const { e } of events) {
      const event = e as LevelEvent;
      // Without a backup Level a switch-over moves no request.
      if (event.type === "switched_over" && event.to !== undefined) this.countsOf(id).switchOvers++;
      else if (event.type === "slept") this.countsOf(id).sleeps++;
    }
  }

  loaded(): void {}
  /** What was counted stays counted. */
  gained(): void {}
  lost(): void {}

  private countsOf(id: string): LevelEventCount {
    return seriesOfLevel(this.byLevel, levelNumberOf(id), noEvents);
  }
}
