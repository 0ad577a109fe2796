// Choosing a key: the usable one with the fewest requests in flight on this node, ties in turn.

import { describe, expect, test } from "bun:test";
import type { KeyId } from "../../actors/ids.ts";
import type { LevelView } from "../../actors/level/view.ts";
import { createKeyChooser, type KeyChooser } from "../../src/gateway/keys.ts";

const key = (id: number) => id as KeyId;
const viewOf = (level: number, ...ids: number[]): LevelView => ({
  id: `2.${level}`,
  version: 1,
  members: 1,
  health: [],
  switchedUntil: 0,
  // A negative id stands for a disabled key.
  keys: ids.map((id) => ({
    id: key(Math.abs(id)),
    level,
    provider: "https://api.example.com/v1",
    secret: { keyId: "k", box: "" },
    config: {},
    state: id < 0 ? "disabled" : "normal",
  })),
});

const NONE: ReadonlySet<KeyId> = new Set();
/** How often each key is taken by requests that end before the next comes. */
function taken(chooser: KeyChooser, view: LevelView, times: number): Record<number, number> {
  const counts: Record<number, number> = {};
  for (let i = 0; i < times; i++) {
    const { id } = chooser.take(view, NONE)!;
    counts[id] = (counts[id] ?? 0) + 1;
    chooser.done(id);
  }
  return counts;
}

describe("a key", () => {
  test("with fewer requests in flight goes first", () => {
    const chooser = createKeyChooser();
    const view = viewOf(0, 1, 2, 3);
    const first = [1, 2, 3].map(() => chooser.take(view, NONE)!.id).sort();
    expect(first).toEqual([1, 2, 3].map(key));
    chooser.done(key(2));
    expect(chooser.take(view, NONE)?.id).toBe(key(2));
    expect([1, 2, 3].map((id) => chooser.inFlight(key(id)))).toEqual([1, 1, 1]);
  });

  test("that is disabled or was tried is passed over; null when none is left", () => {
    const chooser = createKeyChooser();
    expect(chooser.take(viewOf(0, -1, 2), NONE)?.id).toBe(key(2));
    expect(chooser.take(viewOf(0, 1, 2), new Set([key(2)]))?.id).toBe(key(1));
    expect(chooser.take(viewOf(0, 1, -2), new Set([key(1)]))).toBeNull();
    expect(chooser.take(viewOf(0), NONE)).toBeNull();
  });

  test("is free again once its request ended, and never below nothing", () => {
    const chooser = createKeyChooser();
    chooser.take(viewOf(0, 1), NONE);
    for (let i = 0; i < 3; i++) chooser.done(key(1));
    expect(chooser.inFlight(key(1))).toBe(0);
    chooser.take(viewOf(0, 1), NONE);
    expect(chooser.inFlight(key(1))).toBe(1);
  });
});

describe("ties are taken in turn", () => {
  test("by all keys alike", () => {
    expect(taken(createKeyChooser(), viewOf(0, 1, 2, 3), 30)).toEqual({ 1: 10, 2: 10, 3: 10 });
  });

  test("also beside a disabled key: its neighbour gets no double share", () => {
    expect(taken(createKeyChooser(), viewOf(0, 1, -2, 3), 30)).toEqual({ 1: 15, 3: 15 });
  });

  test("in each Level by itself, however requests to several of them alternate", () => {
    const chooser = createKeyChooser();
    const counts: Record<number, number> = {};
    for (let i = 0; i < 40; i++) {
      const { id } = chooser.take(i % 2 === 0 ? viewOf(0, 1, 2) : viewOf(1, 3, 4), NONE)!;
      counts[id] = (counts[id] ?? 0) + 1;
      chooser.done(id);
    }
    expect(counts).toEqual({ 1: 10, 2: 10, 3: 10, 4: 10 });
  });
});
