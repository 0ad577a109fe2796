// An Owner's configuration: whole versions, told to everybody after the commit; Levels completed only where none is set.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { type OwnerCommand, type OwnerConfig, owner, ownerTopic } from "../../actors/owner/owner.ts";

const BY = 2 as AccountId;

function living() {
  let state = owner.empty("2");
  return {
    ask(command: OwnerCommand) {
      const decision = owner.decide(state, command, { id: "t", now: 1, epoch: 1, done: false });
      for (const event of decision.events ?? []) owner.evolve(state, event, 1);
      return decision;
    },
    restart() {
      state = owner.thaw("2", JSON.parse(JSON.stringify(owner.freeze(state))));
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
    expect(reply).toMatchObject({ version: 2, modelMapper: { a: "b" }, resources: ["/v1/*"] });
    expect(events).toEqual([{ type: "configured", version: 2, change: { resources: ["/v1/*"] }, by: BY }]);
    expect(save).toBe(true);
    expect(read(one)).toEqual(reply as OwnerConfig);
  });

  test("is told to everybody with each version", () => {
    const one = living();
    const { reply, publish } = one.ask({ type: "configure", change: { switchOver: { "1": 2 } }, by: BY });
    expect(publish).toEqual([{ topic: ownerTopic("2"), body: reply }]);
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
});
