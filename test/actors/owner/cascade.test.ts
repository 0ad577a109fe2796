// Cascades: what is laid, and which of three words on a pattern is the newest. The model that they must agree with does
// what they save: it writes every change into the map of every account.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AccountId } from "../../../actors/ids.ts";
import {
  addCascade,
  type Cascade,
  type CascadedMap,
  effective,
  NO_CASCADE,
  type OwnEntry,
  type Seen,
} from "../../../actors/owner/cascade.ts";
import type { Edit, MapEdits } from "../../../actors/owner/map-edits.ts";

const OWNER = 2 as AccountId;
const OTHER = 9 as AccountId;

const edits = (changes: Readonly<Record<string, string | null>>, clear = false): MapEdits<string> => ({
  clear,
  changes: Object.entries(changes).map(([pattern, value]) => ({ pattern, value })),
});
const CLEAR = edits({}, true);

/** Cascades laid one after another; the versions of the Owner's and of Root's configuration stand beside each. */
const laid = (
  ...steps: readonly (readonly [MapEdits<string>, at: number, root: number])[]
): Cascade<string> =>
  steps.reduce<Cascade<string>>(
    (cascade, [step, at, root]) => addCascade(cascade, step, { at, root }),
    NO_CASCADE,
  );

describe("laying a cascade", () => {
  const LAID: CascadedMap = { at: 3, root: 1 };

  test("stamps what it names, deletions too, and leaves the rest", () => {
    const before = laid([edits({ a: "1", b: "2" }), 1, 0]);
    expect(addCascade(before, edits({ b: null, c: "3" }), LAID)).toEqual({
      entries: {
        a: { value: "1", at: 1, root: 0 },
        b: { value: null, at: 3, root: 1 },
        c: { value: "3", at: 3, root: 1 },
      },
      cleared: null,
    });
  });

  test("a clear drops all entries and is remembered, with what comes beside it", () => {
    const before = laid([edits({ a: "1" }), 1, 0]);
    expect(addCascade(before, edits({ b: "2" }, true), LAID)).toEqual({
      entries: { b: { value: "2", at: 3, root: 1 } },
      cleared: LAID,
    });
  });

  test("a clear stays remembered when more is laid later", () => {
    expect(laid([CLEAR, 1, 0], [edits({ a: "1" }), 2, 0]).cleared).toEqual({ at: 1, root: 0 });
  });

  test("limits merge with those that this cascade gave before, and with none that it deleted", () => {
    const limits = (value: object | null): MapEdits<object> => ({
      clear: false,
      changes: [{ pattern: "m", value }],
    });
    const first = addCascade<object>(NO_CASCADE, limits({ rpm: 1 }), { at: 1, root: 0 });
    expect(addCascade(first, limits({ tpm: 2 }), LAID).entries.m).toEqual({
      value: { rpm: 1, tpm: 2 },
      ...LAID,
    });
    const deleted = addCascade(first, limits(null), { at: 2, root: 0 });
    expect(addCascade(deleted, limits({ tpm: 2 }), LAID).entries.m).toEqual({ value: { tpm: 2 }, ...LAID });
  });
});

const seen = (config: number, root: number, owner = OWNER): Seen => ({ owner, config, root });
const own = (value: string | null, stamp?: Seen): OwnEntry<string> => ({
  entries: value === null ? {} : { p: value },
  stamps: stamp === undefined ? {} : { p: stamp },
});

describe("in force is", () => {
  const set = edits({ p: "laid" });
  const deleted = edits({ p: null });
  type Case = readonly [
    string,
    OwnEntry<string>,
    owners: Cascade<string> | null,
    roots: Cascade<string> | null,
    string | null,
  ];
  test.each<Case>([
    ["one's own where nothing is laid", own("x"), NO_CASCADE, NO_CASCADE, "own x"],
    ["one's own that knew both", own("x", seen(5, 3)), laid([set, 5, 0]), laid([set, 3, 3]), "own x"],
    ["the Owner's that one's own did not know", own("x", seen(4, 0)), laid([set, 5, 0]), null, "owner laid"],
    ["Root's that one's own did not know", own("x", seen(9, 2)), null, laid([set, 3, 3]), "root laid"],
    ["any cascade before an entry without a stamp", own("x"), laid([set, 1, 0]), null, "owner laid"],
    ["what is laid where there is nothing of one's own", own(null), laid([set, 1, 0]), null, "owner laid"],
    ["the Owner's that knew Root's", own(null), laid([set, 1, 3]), laid([set, 3, 3]), "owner laid"],
    ["Root's that the Owner's did not know", own(null), laid([set, 7, 2]), laid([set, 3, 3]), "root laid"],
    ["nothing where the newest word deletes", own("x"), laid([deleted, 1, 0]), null, null],
    ["nothing where one's own deletion is the newest", own(null, seen(5, 0)), laid([set, 5, 0]), null, null],
    ["what is laid after one's own deletion", own(null, seen(4, 0)), laid([set, 5, 0]), null, "owner laid"],
    ["nothing older than a clear", own("x", seen(4, 0)), laid([CLEAR, 5, 0]), null, null],
    ["one's own set after a clear", own("x", seen(5, 0)), laid([CLEAR, 5, 0]), null, "own x"],
    ["what is laid after a clear", own("x"), laid([CLEAR, 5, 0], [set, 6, 0]), null, "owner laid"],
    ["nothing of the Owner's after Root's clear", own(null), laid([set, 1, 0]), laid([CLEAR, 1, 1]), null],
    [
      "what the Owner lays after Root's clear",
      own(null),
      laid([set, 2, 1]),
      laid([CLEAR, 1, 1]),
      "owner laid",
    ],
    [
      "nothing of Root's after the Owner's deletion",
      own(null),
      laid([deleted, 2, 1]),
      laid([set, 1, 1]),
      null,
    ],
    [
      "the Owner's of the tree that an account was moved to, whatever it knew of its former one",
      own("x", seen(99, 0, OTHER)),
      laid([set, 1, 0]),
      null,
      "owner laid",
    ],
    [
      "one's own that knew Root's newest, though the Owner's, which did not, came after it",
      own("x", seen(4, 3)),
      laid([set, 5, 2]),
      laid([set, 3, 3]),
      "own x",
    ],
    [
      "one's own that knew the Owner's, though Root's, which the Owner's knew, had not reached it",
      own("x", seen(5, 2)),
      laid([set, 5, 3]),
      laid([set, 3, 3]),
      "own x",
    ],
  ])("%s", (_, map, owners, roots, expected) => {
    const found = effective(map, owners && { owner: OWNER, cascade: owners }, roots).p;
    expect(found ? `${found.from} ${found.value}` : null).toBe(expected);
  });

  test("each pattern for itself, also one that is called like what every object has", () => {
    const owners = laid([edits({ constructor: "a", b: "1" }), 1, 0]);
    const map: OwnEntry<string> = { entries: { valueOf: "t", b: "2" }, stamps: { b: seen(1, 0) } };
    const found = effective(map, { owner: OWNER, cascade: owners }, NO_CASCADE);
    expect(Object.entries(found).toSorted()).toEqual([
      ["b", { value: "2", from: "own" }],
      ["constructor", { value: "a", from: "owner" }],
      ["valueOf", { value: "t", from: "own" }],
    ]);
  });
});

// ---- against the model

type Place = "root" | "owner" | "child" | "born";
const PLACES: readonly Place[] = ["root", "owner", "child", "born"];

const patterns = fc.constantFrom("a", "b", "c");
const change: fc.Arbitrary<Edit<string>> = fc.record({
  pattern: patterns,
  value: fc.option(fc.constantFrom("x", "y", "z"), { nil: null }),
});
const someEdits: fc.Arbitrary<MapEdits<string>> = fc.record({
  clear: fc.boolean(),
  changes: fc.array(change, { maxLength: 3 }),
});

type Step =
  | { readonly type: "own"; readonly who: Place; readonly edit: Edit<string> }
  | { readonly type: "cascade"; readonly by: "root" | "owner"; readonly edits: MapEdits<string> }
  /** A version that lays nothing. */
  | { readonly type: "other"; readonly by: "root" | "owner" }
  | { readonly type: "birth" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("own" as const),
      who: fc.constantFrom(...PLACES),
      edit: change,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("cascade" as const),
      by: fc.constantFrom("root" as const, "owner" as const),
      edits: someEdits,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("other" as const), by: fc.constantFrom("root", "owner") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("birth" as const) }) },
);

/** Whom each cascade lies on. */
const BELOW: Readonly<Record<"root" | "owner", readonly Place[]>> = {
  root: ["owner", "child", "born"],
  owner: ["child", "born"],
};

function write(map: Map<string, string>, { clear, changes }: MapEdits<string>): void {
  if (clear) map.clear();
  for (const { pattern, value } of changes) {
    if (value === null) map.delete(pattern);
    else map.set(pattern, value);
  }
}

/** Both worlds at once: maps that everything is written into, and stamps that are compared when they are read. */
function world() {
  const plain = new Map(PLACES.map((place) => [place, new Map<string, string>()]));
  // Who is born later has what a sibling without a map of its own would have by then.
  const sibling = new Map<string, string>();
  const stamped = new Map<Place, { entries: Record<string, string>; stamps: Record<string, Seen> }>(
    PLACES.map((place) => [place, { entries: {}, stamps: {} }]),
  );
  const config = { root: 0, owner: 0 };
  let roots: Cascade<string> = NO_CASCADE;
  let owners: Cascade<string> = NO_CASCADE;
  let isBorn = false;

  function cascade(by: "root" | "owner", given: MapEdits<string>): void {
    config[by]++;
    const stamp = { at: config[by], root: config.root };
    if (by === "root") roots = addCascade(roots, given, stamp);
    else owners = addCascade(owners, given, stamp);
    for (const place of BELOW[by]) write(plain.get(place)!, given);
    write(sibling, given);
  }

  function set(who: Place, { pattern, value }: Edit<string>): void {
    const map = stamped.get(who)!;
    map.stamps[pattern] = { owner: OWNER, config: config.owner, root: config.root };
    if (value === null) delete map.entries[pattern];
    else map.entries[pattern] = value;
    write(plain.get(who)!, { clear: false, changes: [{ pattern, value }] });
  }

  return {
    take(one: Step): void {
      if (one.type === "cascade") cascade(one.by, one.edits);
      else if (one.type === "other") config[one.by]++;
      else if (one.type === "own" && (one.who !== "born" || isBorn)) set(one.who, one.edit);
      else if (one.type === "birth" && !isBorn) {
        isBorn = true;
        plain.set("born", new Map(sibling));
      }
    },
    places: () => PLACES.filter((place) => place !== "born" || isBorn),
    plain: (place: Place) => Object.fromEntries(plain.get(place)!),
    read(place: Place) {
      const owner = place === "root" || place === "owner" ? null : { owner: OWNER, cascade: owners };
      const found = effective(stamped.get(place)!, owner, place === "root" ? null : roots);
      return Object.fromEntries(Object.entries(found).map(([pattern, { value }]) => [pattern, value]));
    },
  };
}

test("whatever is set and laid in whatever order, each account reads what would have been written into its map", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const one = world();
      for (const each of steps) {
        one.take(each);
        for (const place of one.places()) expect(one.read(place)).toEqual(one.plain(place));
      }
    }),
    { numRuns: 500 },
  );
});
