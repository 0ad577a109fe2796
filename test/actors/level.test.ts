// One Level: it takes the newest membership it was told, once, and tells everybody what it is now.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KeyId } from "../../actors/ids.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { type LevelCommand, type LevelView, level } from "../../actors/level/level.ts";

const keyOf = (id: number, status = true): ProviderKey => ({
  id: id as KeyId,
  name: `key ${id}`,
  level: 4,
  provider: "https://api.example.com/v1",
  secret: { keyId: "k", box: "sealed" },
  mask: "sk-…abcd",
  status,
  config: { Weight: 1 },
  createdAt: 0,
  updatedAt: 0,
});

function living() {
  const one = {
    state: level.empty("2.4"),
    ask(command: LevelCommand) {
      const decision = level.decide(one.state, command, { id: "t", now: 1, epoch: 1, done: false });
      for (const event of decision.events ?? []) level.evolve(one.state, event, 1);
      return decision;
    },
    members: (version: number, ...keys: ProviderKey[]) => one.ask({ type: "members", version, keys }),
    view: () => one.ask({ type: "view" }).reply as LevelView,
  };
  return one;
}

const idsOf = (view: LevelView) => view.keys.map(({ id }) => id as number);

describe("a Level", () => {
  test("starts empty", () => {
    expect(living().view()).toEqual({ id: "2.4", version: 0, keys: [] });
  });

  test("shows its keys as the gateway needs them: no name, no mask, disabled ones as such", () => {
    const one = living();
    one.members(1, keyOf(1), keyOf(2, false));
    expect(one.view().keys).toEqual([
      {
        id: 1 as KeyId,
        level: 4,
        provider: "https://api.example.com/v1",
        secret: { keyId: "k", box: "sealed" },
        config: { Weight: 1 },
        state: "normal",
      },
      expect.objectContaining({ id: 2, state: "disabled" }),
    ]);
  });

  test("publishes the very view that a reader then gets", () => {
    const one = living();
    const { publish, save } = one.members(7, keyOf(1));
    expect(publish).toEqual([{ topic: "level.2.4", body: one.view() }]);
    expect(save).toBe(true);
  });

  test("told twice changes nothing the second time", () => {
    const one = living();
    one.members(3, keyOf(1));
    const before = one.view();
    expect(one.members(3, keyOf(9))).toEqual({ reply: {} });
    expect(one.view()).toEqual(before);
  });

  test("keeps the newest membership, in whatever order and however often it is told", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }), (versions) => {
        const one = living();
        let shown = 0;
        for (const version of versions) {
          one.members(version, keyOf(version));
          expect(one.view().version).toBeGreaterThanOrEqual(shown);
          shown = one.view().version;
        }
        expect(idsOf(one.view())).toEqual([Math.max(...versions)]);
      }),
      { numRuns: 100 },
    );
  });

  test("survives a restart", () => {
    const one = living();
    one.members(3, keyOf(1), keyOf(2, false));
    const before = one.view();
    one.state = level.thaw("2.4", JSON.parse(JSON.stringify(level.freeze(one.state))));
    expect(one.view()).toEqual(before);
    expect(one.members(3, keyOf(9))).toEqual({ reply: {} });
  });
});
