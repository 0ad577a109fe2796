// A clock that is read once in a turn: it stands still until the turn has ended, and then shows what the machine's clock does.

import { expect, test } from "bun:test";
import type { Clock } from "../../src/base/clock.ts";
import { LruCache } from "../../src/base/lru-cache.ts";
import { TurnClock } from "../../src/base/turn-clock.ts";

/** A machine's clock that is moved by hand, whose turns end by hand, and which counts its readings. */
class Machine implements Clock {
  wallMs = 1_000;
  monoMs = 10;
  readings = 0;
  ends: (() => void)[] = [];

  wall(): number {
    this.readings++;
    return this.wallMs;
  }

  mono(): number {
    this.readings++;
    return this.monoMs;
  }

  after(ms: number, fn: () => void): () => void {
    this.ends.push(() => ms === 7 && fn());
    return () => undefined;
  }

  endOfTurn(fn: () => void): void {
    this.ends.push(fn);
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.monoMs += ms;
  }

  endTurn(): void {
    for (const end of this.ends.splice(0)) end();
  }
}

test("both times stand still until the turn ends, whichever is asked for first", () => {
  const machine = new Machine();
  const clock = new TurnClock(machine);
  expect(clock.wall()).toBe(1_000);
  machine.pass(5);
  expect([clock.mono(), clock.wall()]).toEqual([10, 1_000]);
  machine.endTurn();
  expect([clock.mono(), clock.wall()]).toEqual([15, 1_005]);
  machine.pass(5);
  machine.endTurn();
  machine.pass(5);
  expect([clock.wall(), clock.mono()]).toEqual([1_015, 25]);
});

test("the machine's clock is read once for each time of a turn, and not at all in a turn that asks for none", () => {
  const machine = new Machine();
  const clock = new TurnClock(machine);
  for (let i = 0; i < 50; i++) clock.mono() + clock.wall();
  expect(machine.readings).toBe(2);
  machine.endTurn();
  expect(machine.ends).toEqual([]);
  machine.endTurn();
  expect(machine.readings).toBe(2);
});

test("what expires does so in the first turn that begins after its time", () => {
  const machine = new Machine();
  const kept = new LruCache<string, number>({ clock: new TurnClock(machine), most: 10, ttlMs: 100 });
  kept.set("a", 1);
  machine.endTurn();
  machine.pass(100);
  expect(kept.get("a")).toBe(1);
  machine.pass(1);
  expect(kept.get("a")).toBe(1);
  machine.endTurn();
  expect(kept.get("a")).toBeUndefined();
});

test("waits are those of the machine's clock", () => {
  const machine = new Machine();
  let ended = 0;
  new TurnClock(machine).after(7, () => ended++);
  machine.endTurn();
  expect(ended).toBe(1);
});
