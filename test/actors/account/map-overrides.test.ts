// An account's own maps under the cascades of its Owner and of Root: each rule of an edit, and that any sequence of edits
// and cascades ends as if every cascade had been written into every account.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AncestorConfigs,
  editOwnMap,
  effectiveMap,
  type MapName,
  type SharedMaps,
} from "../../../actors/account/map-overrides.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { addCascade } from "../../../actors/owner/cascade.ts";
import { DEFAULT_CONFIG } from "../../../actors/owner/config.ts";
import { applyEdits, type MapEdits } from "../../../actors/owner/map-edits.ts";
import { profileOf } from "../account-samples.ts";

const id = (value: number) => value as AccountId;

/** A tree of Root, the Owner 2 and the accounts below, in which edits are made one after another. */
function tree() {
  const configs = { owner: { ...DEFAULT_CONFIG }, root: { ...DEFAULT_CONFIG } };
  const profiles = new Map<number, Profile>([
    [1, profileOf({ id: id(1), parent: null, dna: "." })],
    [2, profileOf({ id: id(2), parent: id(1), dna: ".1." })],
    [7, profileOf({ id: id(7), parent: id(2), dna: ".1.2." })],
    [8, profileOf({ id: id(8), parent: id(7), dna: ".1.2.7." })],
  ]);
  const above = (account: number): AncestorConfigs => ({
    ...configs,
    ...(account === 1 && { owner: configs.root }),
  });
  return {
    profiles,
    cascade<F extends MapName>(by: "owner" | "root", name: F, edits: MapEdits<SharedMaps[F]>) {
      const before = configs[by];
      const at = before.version + 1;
      const laid = { at, root: by === "root" ? at : configs.root.version };
      const cascades = {
        ...before.cascades,
        [name]: addCascade(before.cascades[name] as never, edits, laid),
      };
      configs[by] = { ...before, version: at, cascades };
    },
    /** The configuration changes without a cascade. */
    configure(by: "owner" | "root") {
      configs[by] = { ...configs[by], version: configs[by].version + 1 };
    },
    edit<F extends MapName>(account: number, name: F, edits: MapEdits<SharedMaps[F]>) {
      const profile = profiles.get(account)!;
      const { entries, stamps } = editOwnMap(profile, above(account), name, edits);
      profiles.set(account, { ...profile, [name]: entries, stamps });
    },
    now<F extends MapName>(account: number, name: F) {
      const found = Object.entries(effectiveMap(profiles.get(account)!, above(account), name));
      return Object.fromEntries(found.map(([pattern, { value }]) => [pattern, value]));
    },
    /** Whose each entry is. */
    whose: (account: number, name: MapName) =>
      Object.fromEntries(
        Object.entries(effectiveMap(profiles.get(account)!, above(account), name)).map(
          ([pattern, { from }]) => [pattern, from],
        ),
      ),
  };
}

const set = <T>(pattern: string, value: T): MapEdits<T> => ({ clear: false, changes: [{ pattern, value }] });
const without = (...patterns: string[]): MapEdits<never> => ({
  clear: false,
  changes: patterns.map((pattern) => ({ pattern, value: null })),
});
const CLEAR: MapEdits<never> = { clear: true, changes: [] };

describe("an account's own word", () => {
  test("is newer than a cascade that it knew", () => {
    const { cascade, edit, now } = tree();
    cascade("owner", "modelMapper", set("a", "cascaded"));
    edit(7, "modelMapper", set("a", "own"));
    expect(now(7, "modelMapper")).toEqual({ a: "own" });
  });

  test("is older than a cascade that comes later", () => {
    const { cascade, edit, now, whose } = tree();
    edit(7, "modelMapper", set("a", "own"));
    cascade("owner", "modelMapper", set("a", "cascaded"));
    expect([now(7, "modelMapper"), whose(7, "modelMapper")]).toEqual([{ a: "cascaded" }, { a: "owner" }]);
  });

  test("on another pattern stays beside a cascade", () => {
    const { cascade, edit, now, whose } = tree();
    edit(7, "modelMapper", set("a", "own"));
    cascade("root", "modelMapper", set("b", "cascaded"));
    expect(now(7, "modelMapper")).toEqual({ a: "own", b: "cascaded" });
    expect(whose(7, "modelMapper")).toEqual({ a: "own", b: "root" });
  });

  test("without a stamp, as old data has it, is older than every cascade", () => {
    const { cascade, profiles, now } = tree();
    profiles.set(7, profileOf({ modelMapper: { a: "old", b: "old" } }));
    cascade("owner", "modelMapper", set("a", "cascaded"));
    expect(now(7, "modelMapper")).toEqual({ a: "cascaded", b: "old" });
  });

  test("is stamped with the Owner and both versions, of the patterns that the edit names and of no others", () => {
    const { cascade, configure, edit, profiles } = tree();
    edit(7, "modelMapper", set("b", "own"));
    cascade("root", "modelMapper", set("x", "y"));
    configure("owner");
    configure("owner");
    edit(7, "modelMapper", set("a", "own"));
    expect(profiles.get(7)!.stamps).toEqual({
      modelMapper: { b: { owner: id(2), config: 0, root: 0 }, a: { owner: id(2), config: 2, root: 1 } },
      modelLimits: {},
    });
  });

  test("on one map leaves the stamps of the other", () => {
    const { edit, profiles } = tree();
    edit(7, "modelMapper", set("a", "own"));
    edit(7, "modelLimits", set("b", { rpm: 1 }));
    expect(Object.keys(profiles.get(7)!.stamps!.modelMapper)).toEqual(["a"]);
    expect(Object.keys(profiles.get(7)!.stamps!.modelLimits)).toEqual(["b"]);
  });

  test("on limits is merged, figure by figure, with what is in effect", () => {
    const { cascade, edit, now } = tree();
    cascade("owner", "modelLimits", set("m", { rpm: 5, tpm: 9 }));
    edit(7, "modelLimits", set("m", { rpm: 7 }));
    expect(now(7, "modelLimits")).toEqual({ m: { rpm: 7, tpm: 9 } });
  });
});

describe("a deletion", () => {
  test("of what only a cascade gives leaves a stamp without an entry", () => {
    const { cascade, edit, now, profiles } = tree();
    cascade("owner", "modelMapper", set("a", "cascaded"));
    edit(7, "modelMapper", without("a"));
    expect(now(7, "modelMapper")).toEqual({});
    expect(profiles.get(7)!.stamps!.modelMapper).toEqual({ a: { owner: id(2), config: 1, root: 0 } });
    expect(now(8, "modelMapper")).toEqual({ a: "cascaded" });
  });

  test("of an entry on which no cascade has a word leaves nothing", () => {
    const { edit, profiles } = tree();
    edit(7, "modelMapper", set("a", "own"));
    edit(7, "modelMapper", without("a", "never there"));
    expect([profiles.get(7)!.modelMapper, profiles.get(7)!.stamps!.modelMapper]).toEqual([{}, {}]);
  });

  test("is forgotten with the next edit once no cascade has a word on the pattern any more", () => {
    const { cascade, edit, profiles } = tree();
    cascade("owner", "modelMapper", set("a", "cascaded"));
    edit(7, "modelMapper", without("a"));
    cascade("owner", "modelMapper", CLEAR);
    edit(7, "modelMapper", set("b", "own"));
    expect(Object.keys(profiles.get(7)!.stamps!.modelMapper)).toEqual(["b"]);
  });

  test("gives way to a cascade that comes later", () => {
    const { cascade, edit, now } = tree();
    cascade("owner", "modelMapper", set("a", "first"));
    edit(7, "modelMapper", without("a"));
    cascade("root", "modelMapper", set("a", "second"));
    expect(now(7, "modelMapper")).toEqual({ a: "second" });
  });

  test("of all takes away what is in effect, from wherever it is", () => {
    const { cascade, edit, now } = tree();
    cascade("root", "modelLimits", set("r", { rpm: 1 }));
    cascade("owner", "modelLimits", set("o", { rpm: 2 }));
    edit(7, "modelLimits", set("own", { rpm: 3 }));
    edit(7, "modelLimits", CLEAR);
    expect(now(7, "modelLimits")).toEqual({});
    cascade("owner", "modelLimits", set("new", { rpm: 4 }));
    expect(now(7, "modelLimits")).toEqual({ new: { rpm: 4 } });
  });
});

describe("who is touched", () => {
  test("an Owner by Root's cascades, not by its own", () => {
    const { cascade, now } = tree();
    cascade("owner", "modelMapper", set("a", "b"));
    cascade("root", "modelMapper", set("c", "d"));
    expect(now(2, "modelMapper")).toEqual({ c: "d" });
  });

  test("Root by none", () => {
    const { cascade, edit, now } = tree();
    edit(1, "modelMapper", set("a", "own"));
    cascade("root", "modelMapper", set("a", "b"));
    expect(now(1, "modelMapper")).toEqual({ a: "own" });
  });
});

describe("any edits and cascades, one after another", () => {
  const ACCOUNTS = [2, 7, 8];
  const pattern = fc.constantFrom("a", "b", "constructor", "*");
  const editsOf = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<MapEdits<T>> =>
    fc.record({
      clear: fc.boolean(),
      changes: fc.array(fc.record({ pattern, value: fc.option(value, { nil: null }) }), { maxLength: 3 }),
    });
  const sequence = <T>(value: fc.Arbitrary<T>) =>
    fc.array(
      fc.record({
        by: fc.constantFrom("owner" as const, "root" as const, ...ACCOUNTS),
        edits: editsOf(value),
        idle: fc.boolean(),
      }),
      { maxLength: 14 },
    );

  /** Every cascade is written into the map of every account below; nothing else is known. */
  function asIfWritten<F extends MapName>(
    name: F,
    steps: readonly { by: "owner" | "root" | number; edits: MapEdits<SharedMaps[F]>; idle: boolean }[],
  ) {
    type Map = Readonly<Record<string, SharedMaps[F]>>;
    const real = tree();
    const naive = new Map<number | string, Map>();
    const of = (who: number | string): Map => naive.get(who) ?? {};
    for (const { by, edits, idle } of steps) {
      if (typeof by === "number") {
        real.edit(by, name, edits);
        naive.set(by, applyEdits(of(by), edits));
      } else {
        if (idle) real.configure(by);
        real.cascade(by, name, edits);
        const laid = applyEdits(of(by), edits);
        naive.set(by, laid);
        for (const account of by === "root" ? ACCOUNTS : [7, 8]) {
          const map = { ...(edits.clear ? {} : of(account)) };
          for (const change of edits.changes) delete map[change.pattern];
          const touched = edits.changes.filter((one) => Object.hasOwn(laid, one.pattern));
          naive.set(account, {
            ...map,
            ...Object.fromEntries(touched.map((one) => [one.pattern, laid[one.pattern]!])),
          });
        }
      }
      for (const account of ACCOUNTS) expect(real.now(account, name)).toEqual(of(account));
    }
  }

  test("end as if each cascade were written into every account: mappers", () => {
    const target = fc.constantFrom("x", "y", "z");
    fc.assert(
      fc.property(sequence(target), (steps) => asIfWritten("modelMapper", steps)),
      { numRuns: 500 },
    );
  });

  test("end as if each cascade were written into every account: limits", () => {
    const figure = fc.nat(3);
    const limits = fc.record({ rpm: figure, tpd: figure }, { requiredKeys: [] });
    fc.assert(
      fc.property(sequence(limits), (steps) => asIfWritten("modelLimits", steps)),
      { numRuns: 500 },
    );
  });
});
