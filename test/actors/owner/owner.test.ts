// An Owner's configuration: whole versions, published after the commit; edits that merge into it as it is, what of
// them is laid on the accounts below, and what is refused; Levels completed only where none is set.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import { NO_CASCADE } from "../../../actors/owner/cascade.ts";
import { DEFAULT_CONFIG, defaultsOf } from "../../../actors/owner/config.ts";
import type { MapEdits } from "../../../actors/owner/map-edits.ts";
import {
  type OwnerCommand,
  type OwnerConfig,
  owner,
  ownerTopic,
  STALE_CONFIG,
} from "../../../actors/owner/owner.ts";

const BY = 2 as AccountId;

function living(id = "2") {
  let state = owner.empty(id);
  return {
    ask(command: OwnerCommand) {
      const decision = owner.decide(state, command, { id: "t", from: "", now: 1, epoch: 1, done: false });
      for (const event of decision.events ?? []) owner.evolve(state, event, 1);
      return decision;
    },
    restart() {
      state = owner.thaw(id, JSON.parse(JSON.stringify(owner.freeze(state))));
    },
    evolve: (event: Parameters<typeof owner.evolve>[1]) => owner.evolve(state, event, 1),
  };
}

const read = (one: ReturnType<typeof living>) => one.ask({ type: "read" }).reply as OwnerConfig;

describe("an Owner's configuration", () => {
  test("starts with the built-in defaults, as version 0", () => {
    expect(read(living())).toMatchObject({
      version: 0,
      modelMapper: {},
      levelMapper: {},
      pricing: null,
      resources: [],
    });
  });

  test("changes as a whole: each change is one version more, and what it does not name stays", () => {
    const one = living();
    one.ask({ type: "configure", change: { modelMapper: { a: "b" } }, by: BY });
    const { reply, events, save } = one.ask({ type: "configure", change: { resources: ["/v1/*"] }, by: BY });
    expect(reply).toEqual({ version: 2 });
    expect(events).toEqual([{ type: "configured", version: 2, change: { resources: ["/v1/*"] }, by: BY }]);
    expect(save).toBe(true);
    expect(read(one)).toMatchObject({ version: 2, modelMapper: { a: "b" }, resources: ["/v1/*"] });
  });

  test("is published with each version", () => {
    const one = living();
    const { publish } = one.ask({ type: "configure", change: { switchOver: { "1": 2 } }, by: BY });
    expect(publish).toEqual([{ topic: ownerTopic("2"), body: read(one) }]);
    expect(ownerTopic("2")).toBe("owner.2");
  });

  test("survives a restart", () => {
    const one = living();
    one.ask({ type: "configure", change: { levelMapper: { "gpt*": 1 } }, by: BY });
    const before = read(one);
    one.restart();
    expect(read(one)).toEqual(before);
    expect(one.ask({ type: "configure", change: {}, by: BY }).reply).toMatchObject({ version: 2 });
  });

  test("refuses a version that skips one", () => {
    expect(() => living().evolve({ type: "configured", version: 2, change: {}, by: BY })).toThrow("skips");
  });
});

type Configure = Omit<Extract<OwnerCommand, { type: "configure" }>, "type" | "by">;
const configure = (one: ReturnType<typeof living>, given: Partial<Configure>) =>
  one.ask({ type: "configure", change: {}, by: BY, ...given });

const set = <T>(map: Readonly<Record<string, T | null>>, clear = false): MapEdits<T> => ({
  clear,
  changes: Object.entries(map).map(([pattern, value]) => ({ pattern, value })),
});

describe("edits", () => {
  test("merge into the maps as they are, whatever else edited them meanwhile", () => {
    const one = living();
    configure(one, { edits: { modelMapper: set({ a: "x" }), levelMapper: set({ a: 1 }) } });
    configure(one, { edits: { modelMapper: set({ b: "y" }) } });
    configure(one, { edits: { modelMapper: set<string>({ a: null, c: "z" }) } });
    expect(read(one)).toMatchObject({
      version: 3,
      modelMapper: { b: "y", c: "z" },
      levelMapper: { a: 1 },
    });
    expect(read(one).modelMapper).not.toHaveProperty("a");
  });

  test.each<[string, Partial<Configure>, object]>([
    ["switchOver", { edits: { switchOver: set({ 1: 2 }) } }, { switchOver: { 1: 2 } }],
    ["modelFailover", { edits: { modelFailover: set({ a: ["b"] }) } }, { modelFailover: { a: ["b"] } }],
    ["modelLimits", { edits: { modelLimits: set({ a: { rpm: 1 } }) } }, { modelLimits: { a: { rpm: 1 } } }],
  ])("of %s", (_, given, then) => {
    const one = living();
    configure(one, given);
    expect(read(one)).toMatchObject(then);
  });

  test("come after the settings beside them, in one version and one event that has what came out", () => {
    const one = living();
    const { events } = configure(one, {
      change: { modelMapper: { a: "x" }, resources: ["/v1/*"] },
      edits: { modelMapper: set({ b: "y" }) },
    });
    const change = { modelMapper: { a: "x", b: "y" }, resources: ["/v1/*"] };
    expect(events).toEqual([{ type: "configured", version: 1, change, by: BY }]);
  });

  test("lay nothing on others unless that is asked for", () => {
    const one = living();
    configure(one, { edits: { modelMapper: set({ a: "x" }), modelLimits: set({ a: { rpm: 1 } }) } });
    expect(read(one).cascades).toEqual({ modelMapper: NO_CASCADE, modelLimits: NO_CASCADE });
  });
});

describe("a cascade", () => {
  test("of an Owner is stamped with its own new version and the one of Root's that it knew", () => {
    const one = living();
    configure(one, {});
    const edits = { modelMapper: set<string>({ a: "x", b: null }), modelLimits: set({ m: { rpm: 1 } }) };
    configure(one, { edits, cascade: { fields: ["modelMapper"], root: 7 } });
    expect(read(one)).toMatchObject({ modelMapper: { a: "x" }, modelLimits: { m: { rpm: 1 } } });
    expect(read(one).cascades).toEqual({
      modelMapper: {
        entries: { a: { value: "x", at: 2, root: 7 }, b: { value: null, at: 2, root: 7 } },
        cleared: null,
      },
      modelLimits: NO_CASCADE,
    });
  });

  test("of Root is stamped with its new version twice, whatever was read", () => {
    const root = living("1");
    configure(root, {
      edits: { modelLimits: set({}, true) },
      cascade: { fields: ["modelLimits"], root: 99 },
    });
    expect(read(root).cascades.modelLimits).toEqual({ entries: {}, cleared: { at: 1, root: 1 } });
  });

  test("of a field without edits is none", () => {
    const one = living();
    const { events } = configure(one, { cascade: { fields: ["modelMapper"], root: 1 } });
    expect(events).toMatchObject([{ change: {} }]);
    expect(read(one).cascades.modelMapper).toEqual(NO_CASCADE);
  });

  test("adds to the former ones, and stays when a setting takes the place of the map", () => {
    const one = living();
    const cascade = { fields: ["modelMapper"], root: 0 } as const;
    configure(one, { edits: { modelMapper: set({ a: "x" }) }, cascade });
    configure(one, { edits: { modelMapper: set({ b: "y" }) }, cascade });
    configure(one, { change: { modelMapper: {} } });
    expect(read(one).modelMapper).toEqual({});
    expect(read(one).cascades.modelMapper.entries).toEqual({
      a: { value: "x", at: 1, root: 0 },
      b: { value: "y", at: 2, root: 0 },
    });
  });

  test("survives a restart", () => {
    const one = living();
    configure(one, {
      edits: { modelMapper: set({ a: "x" }) },
      cascade: { fields: ["modelMapper"], root: 4 },
    });
    const before = read(one);
    one.restart();
    expect(read(one)).toEqual(before);
  });
});

describe("refused, with nothing changed:", () => {
  const many = <T>(count: number, value: T, prefix = "m") =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, value]));

  function expectRefused(one: ReturnType<typeof living>, given: Partial<Configure>, says: string) {
    const before = read(one);
    const decision = configure(one, given);
    expect(decision.refused).toMatchObject({ code: "invalid_parameter" });
    expect(decision.refused?.message).toContain(says);
    expect(decision.events).toBeUndefined();
    expect(read(one)).toEqual(before);
  }

  test.each<[string, Partial<Configure>]>([
    ["ModelMapper", { edits: { modelMapper: set({ one: "x" }) } }],
    ["LevelMapper", { edits: { levelMapper: set({ one: 1 }) } }],
    ["SwitchOver", { edits: { switchOver: set({ "-1": 1 }) } }],
    ["ModelFailover", { edits: { modelFailover: set({ one: ["x"] }) } }],
    ["ModelLimits", { edits: { modelLimits: set({ one: { rpm: 1 } }) } }],
  ])("one entry more than 1024 of %s", (name, given) => {
    const one = living();
    configure(one, {
      change: {
        modelMapper: many(1_024, "x"),
        levelMapper: many(1_024, 1),
        switchOver: many(1_024, 1, ""),
        modelFailover: many(1_024, ["x"]),
        modelLimits: many(1_024, {}),
      },
    });
    expectRefused(one, given, `"${name}" would have more than 1024 entries: delete some first`);
  });

  test("a map of more than 131072 characters", () => {
    const one = living();
    configure(one, { edits: { modelMapper: set({ ["a".repeat(131_000)]: "x" }) } });
    expectRefused(one, { edits: { modelMapper: set({ ["b".repeat(72)]: "x" }) } }, "131072 characters");
  });

  /** Four times as many patterns as a map may have, of which the map keeps none. */
  function full(field: "modelMapper" | "modelLimits") {
    const one = living();
    for (let i = 0; i < 4; i++) {
      const edits = { [field]: set(many(1_024, null, `p${i}-`)) };
      expect(configure(one, { edits, cascade: { fields: [field], root: 0 } }).refused).toBeUndefined();
    }
    return one;
  }

  test.each<["modelMapper" | "modelLimits", string, unknown]>([
    ["modelMapper", "go back to a version before it was full", "x"],
    ["modelLimits", 'empty it with "*"', { rpm: 1 }],
  ])("one pattern more than 4096 in the cascade of %s, deleted ones included", (field, says, value) => {
    const one = full(field);
    const cascade = { fields: [field], root: 0 };
    expectRefused(one, { edits: { [field]: set({ one: value }) }, cascade }, says);
    expectRefused(
      one,
      { edits: { [field]: set({ one: value }) }, cascade },
      "4096 entries, deleted ones included",
    );
    expect(configure(one, { edits: { [field]: set({ "p0-0": value }) }, cascade }).refused).toBeUndefined();
  });

  test('"*" makes room in a full cascade', () => {
    const one = full("modelLimits");
    const cascade = { fields: ["modelLimits"], root: 0 } as const;
    configure(one, { edits: { modelLimits: set({ m: { rpm: 1 } }, true) }, cascade });
    expect(read(one).cascades.modelLimits).toEqual({
      entries: { m: { value: { rpm: 1 }, at: 5, root: 0 } },
      cleared: { at: 5, root: 0 },
    });
  });

  test("a change made from a version that is not the newest", () => {
    const one = living();
    configure(one, { change: { resources: ["/v1/a"] }, version: 0 });
    for (const version of [0, 2]) {
      const decision = configure(one, { change: { resources: ["/v1/b"] }, version });
      expect(decision).toEqual({ refused: { code: STALE_CONFIG, message: expect.any(String) } });
    }
    expect(configure(one, { change: { resources: ["/v1/b"] }, version: 1 }).reply).toMatchObject({
      version: 2,
    });
  });
});

test("defaults are those of the fields that are named", () => {
  expect(defaultsOf(["modelMapper", "logEnable", "emailPass"])).toEqual({
    modelMapper: {},
    logEnable: true,
    emailPass: null,
  });
  expect(defaultsOf([])).toEqual({});
});

test("events of before there were cascades are replayed", () => {
  const one = living();
  one.evolve({ type: "configured", version: 1, change: { modelMapper: { a: "b" } }, by: BY });
  expect(read(one)).toEqual({ ...DEFAULT_CONFIG, version: 1, modelMapper: { a: "b" } });
});

describe("completing Levels", () => {
  const complete = (patterns: readonly string[]) =>
    ({ type: "completeLevels", patterns, level: 3, by: BY }) as const;

  test("adds patterns that are not mapped yet, and says which", () => {
    const one = living();
    one.ask({ type: "configure", change: { levelMapper: { "gpt-*": 1 } }, by: BY });
    expect(one.ask(complete(["gpt-*", "o1*"])).reply).toEqual({ "o1*": 3 });
    expect(read(one)).toMatchObject({ version: 2, levelMapper: { "gpt-*": 1, "o1*": 3 } });
  });

  test("does nothing where all are mapped, or none is known", () => {
    const one = living();
    one.ask(complete(["gpt-*"]));
    for (const patterns of [["gpt-*"], []]) {
      expect(one.ask(complete(patterns))).toEqual({ reply: {} });
    }
    expect(read(one).version).toBe(1);
  });

  test("adds nothing to a map that has no room for it", () => {
    const one = living();
    const levelMapper = Object.fromEntries(Array.from({ length: 1_023 }, (_, i) => [`m${i}`, 1]));
    one.ask({ type: "configure", change: { levelMapper }, by: BY });
    expect(one.ask(complete(["a*", "b*"]))).toEqual({ reply: {} });
    expect(one.ask(complete(["a*"])).reply).toEqual({ "a*": 3 });
  });
});
