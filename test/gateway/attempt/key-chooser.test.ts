// Choosing a key for a request without conversation: the usable one with the fewest requests in flight on this node, ties in
// turn; a waking one is probed.

import { describe, expect, test } from "bun:test";
import type { LevelView } from "../../../actors/level/view.ts";
import { createKeyChooser, type KeyChooser, type Wish } from "../../../src/gateway/attempt/key-chooser.ts";
import { manualClock, NOON } from "../../runtime/manual-clock.ts";
import { type KeyGiven, keyId, resting, sleeping, viewOf, WAKING, without } from "../level-samples.ts";
import { servesIn } from "../request-samples.ts";

const newChooser = (): KeyChooser => createKeyChooser(manualClock());

const wish = (over: Partial<Wish> = {}): Wish => ({
  model: "m",
  serves: servesIn("chat"),
  conversation: null,
  isLaterTurn: false,
  now: NOON,
  tried: new Set(),
  probing: new Set(),
  ...over,
});
const idsOf = (...ids: number[]) => new Set(ids.map(keyId));

const chosen = (chooser: KeyChooser, view: LevelView, over: Partial<Wish> = {}): number | null =>
  chooser.choose(view, wish(over))?.key.id ?? null;

function take(chooser: KeyChooser, view: LevelView): number {
  const { key } = chooser.choose(view, wish())!;
  chooser.take(key.id);
  return key.id;
}

/** How often each key is taken by requests that end before the next comes. */
function taken(chooser: KeyChooser, view: LevelView, times: number): Record<number, number> {
  const counts: Record<number, number> = {};
  for (let i = 0; i < times; i++) {
    const id = take(chooser, view);
    counts[id] = (counts[id] ?? 0) + 1;
    chooser.done(keyId(id));
  }
  return counts;
}

describe("a key", () => {
  test("with fewer requests in flight goes first", () => {
    const chooser = newChooser();
    const view = viewOf(0, [1, 2, 3]);
    expect([1, 2, 3].map(() => take(chooser, view)).sort()).toEqual([1, 2, 3]);
    chooser.done(keyId(2));
    expect(chosen(chooser, view)).toBe(2);
    expect([1, 2, 3].map((id) => chooser.inFlight(keyId(id)))).toEqual([1, 0, 1]);
  });

  test("that was tried is passed over; null when none is left", () => {
    const chooser = newChooser();
    expect(chosen(chooser, viewOf(0, [1, 2]), { tried: idsOf(1) })).toBe(2);
    expect(chosen(chooser, viewOf(0, [1, 2]), { tried: idsOf(1, 2) })).toBeNull();
    expect(chosen(chooser, viewOf(0, []))).toBeNull();
  });

  test("is free again once its request ended, and never below nothing", () => {
    const chooser = newChooser();
    chooser.take(keyId(1));
    for (let i = 0; i < 3; i++) chooser.done(keyId(1));
    expect(chooser.inFlight(keyId(1))).toBe(0);
    chooser.take(keyId(1));
    expect(chooser.inFlight(keyId(1))).toBe(1);
  });
});

describe("how a key fares decides whether it is used", () => {
  const ROWS: readonly [what: string, key: Omit<KeyGiven, "id">, used: boolean][] = [
    ["well", {}, true],
    ["failed twice, which is borne", { health: { failures: 2 } }, true],
    ["slept once, answered since", { health: { sleepTimes: 1 } }, true],
    ["disabled", { disabled: true }, false],
    ["asleep", { health: sleeping(1) }, false],
    ["resting", { health: resting(1) }, false],
    ["asleep until this very moment", { health: { ...sleeping(0), waking: false } }, true],
    ["resting until this very moment", { health: resting(0) }, true],
    ["without this model", { health: without("m") }, false],
    ["without another model", { health: without("other") }, true],
    ["without this model until a moment ago", { health: without("m", -1) }, true],
    ["of the other style", { style: "messages" }, false],
    ["of this style by its Config", { style: "chat" }, true],
  ];
  test.each(ROWS)("%s", (_, given, used) => {
    expect(chosen(newChooser(), viewOf(0, [{ id: 1, ...given }]))).toBe(used ? 1 : null);
  });

  test("a key of the other style serves the other style", () => {
    const view = viewOf(0, [1, { id: 2, style: "messages" }]);
    expect(chosen(newChooser(), view, { serves: servesIn("messages") })).toBe(2);
  });
});

describe("a waking key", () => {
  const view = viewOf(0, [1, { id: 2, health: WAKING }]);

  test("goes before all others while nobody is known to probe it", () => {
    expect(newChooser().choose(view, wish())).toMatchObject({ key: { id: keyId(2) }, probe: true });
  });

  test("comes after all others while its probe is out", () => {
    const chooser = newChooser();
    for (let i = 0; i < 3; i++) chooser.take(keyId(1));
    const choice = chooser.choose(view, wish({ probing: idsOf(2) }));
    expect(choice).toMatchObject({ key: { id: keyId(1) }, probe: false });
  });

  test("is used beside its probe when there is nobody else", () => {
    const choice = newChooser().choose(view, wish({ probing: idsOf(2), tried: idsOf(1) }));
    expect(choice).toMatchObject({ key: { id: keyId(2) }, probe: false });
  });

  test("is not tried twice by one request", () => {
    expect(chosen(newChooser(), view, { tried: idsOf(1, 2) })).toBeNull();
  });
});

describe("a shunned key", () => {
  const view = (version: number) => viewOf(0, [1], { version });

  test("is passed over as long as its Level has said nothing new", () => {
    const chooser = newChooser();
    chooser.avoidUntil(keyId(1), 4, NOON + 1_000);
    expect(chosen(chooser, view(4), { now: NOON + 999 })).toBeNull();
  });

  test("is used again once a newer view does not speak against it", () => {
    const chooser = newChooser();
    chooser.avoidUntil(keyId(1), 4, NOON + 1_000);
    expect(chosen(chooser, view(5))).toBe(1);
    expect(chosen(chooser, view(4))).toBe(1);
  });

  test("is used again when its time is over, in case the Level never got a report", () => {
    const chooser = newChooser();
    chooser.avoidUntil(keyId(1), 4, NOON + 1_000);
    expect(chosen(chooser, view(4), { now: NOON + 1_000 })).toBe(1);
  });

  test("leaves the others alone", () => {
    const chooser = newChooser();
    chooser.avoidUntil(keyId(1), 4, NOON + 1_000);
    expect(chosen(chooser, viewOf(0, [1, 2], { version: 4 }))).toBe(2);
  });
});

describe("ties are taken in turn", () => {
  test("by all keys alike", () => {
    expect(taken(newChooser(), viewOf(0, [1, 2, 3]), 30)).toEqual({ 1: 10, 2: 10, 3: 10 });
  });

  test("also beside a key that is out: its neighbour gets no double share", () => {
    const view = viewOf(0, [1, { id: 2, disabled: true }, 3, { id: 4, health: sleeping(9) }]);
    expect(taken(newChooser(), view, 30)).toEqual({ 1: 15, 3: 15 });
  });

  test("in each Level by itself, however requests to several of them alternate", () => {
    const chooser = newChooser();
    const counts: Record<number, number> = {};
    for (let i = 0; i < 40; i++) {
      const id = take(chooser, i % 2 === 0 ? viewOf(0, [1, 2]) : viewOf(1, [3, 4]));
      counts[id] = (counts[id] ?? 0) + 1;
      chooser.done(keyId(id));
    }
    expect(counts).toEqual({ 1: 10, 2: 10, 3: 10, 4: 10 });
  });
});
