// Who stands in a Level: it takes the newest membership that was sent, once, publishes what it is now, and keeps the
// health of those who stay what they were.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import { level } from "../../../actors/level/level.ts";
import type { LevelEvent } from "../../../actors/level/state.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { keyId, keyOf, living, NOON } from "../level-samples.ts";

const idsOf = (view: LevelView) => view.keys.map(({ id }) => id as number);

describe("a Level", () => {
  test("starts empty", () => {
    const { reply } = level.decide(
      level.empty("2.4"),
      { type: "view" },
      { id: "t", from: "", now: NOON, epoch: 1, done: false },
    );
    expect(reply).toEqual({ id: "2.4", version: 0, members: 0, keys: [], health: [], switchedUntil: 0 });
  });

  test("shows its keys as the gateway needs them: no name, no mask, disabled ones as such", () => {
    expect(living(keyOf(1), keyOf(2, { status: false })).view().keys).toEqual([
      {
        id: keyId(1),
        level: 4,
        provider: "https://api.example.com/v1",
        secret: { keyId: "k", box: "sealed 1" },
        config: { Weight: 1 },
        state: "normal",
      },
      expect.objectContaining({ id: 2, state: "disabled" }),
    ]);
  });

  test("shows the private key of a service account, sealed", () => {
    const [key] = living(keyOf(1, { privateKey: PRIVATE })).view().keys;
    expect(key?.privateKey).toEqual(PRIVATE.secret);
  });

  test("publishes the very view that a reader then gets", () => {
    const one = living();
    const { publish, save } = one.members(7, keyOf(1));
    expect(publish).toEqual([{ topic: "level.2.4", body: one.view() }]);
    expect(save).toBe(true);
  });

  test("publishes no keys when only their health changed", () => {
    const one = living();
    const { publish } = one.fail({ what: "long" });
    const { keys: _keys, ...news } = one.view();
    expect(publish).toEqual([{ topic: "level.2.4", body: news }]);
    expect(news.version).toBe(3);
  });

  test("sent twice changes nothing the second time", () => {
    const one = living();
    one.members(3, keyOf(1));
    const before = one.view();
    expect(one.members(3, keyOf(9))).toEqual({ reply: {} });
    expect(one.view()).toEqual(before);
  });

  test("keeps the newest membership, in whatever order and however often it is sent", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1, maxLength: 30 }), (versions) => {
        const one = living();
        let shown = 0;
        for (const version of versions) {
          one.members(version, keyOf(version));
          expect(one.view().version).toBeGreaterThanOrEqual(shown);
          shown = one.view().version;
        }
        expect(idsOf(one.view())).toEqual([Math.max(...versions)]);
        expect(one.view().members).toBe(Math.max(...versions));
      }),
      { numRuns: 100 },
    );
  });

  test("survives a restart", () => {
    const one = living(keyOf(1), keyOf(2, { status: false }));
    const before = one.view();
    one.restart();
    expect(one.view()).toEqual(before);
    expect(one.members(1, keyOf(9))).toEqual({ reply: {} });
  });

  test("reads the memberships that its first version stored", () => {
    const { masks, ...old } = living().events[0]!.e as Extract<LevelEvent, { type: "members_changed" }>;
    expect(masks).toEqual([
      [keyId(1), "sk-…abc1"],
      [keyId(2), "sk-…abc2"],
    ]);
    const one = living();
    one.state = level.empty("2.4");
    level.evolve(one.state, old, one.now());
    expect(idsOf(one.view())).toEqual([1, 2]);
    one.fail();
    one.members(2, keyOf(1));
    expect(one.health()?.failures).toBe(1);
    one.state = level.empty("2.4");
    level.evolve(one.state, old, one.now());
    one.fail();
    one.members(2, keyOf(1, { secret: { keyId: "k", box: "another" } }));
    expect(one.health()).toBeUndefined();
  });
});

const PRIVATE = { secret: { keyId: "k", box: "sealed pem" }, mask: "---…----" };

describe("the health of a key", () => {
  test.each<[string, Partial<ProviderKey>, Partial<ProviderKey>, boolean]>([
    ["stays with another name", {}, { name: "new", updatedAt: 9 }, true],
    ["stays with another Config", {}, { config: { Weight: 2 } }, true],
    ["is cleared with another deployment", {}, { config: { Weight: 1, model_mapping: { "*": "d" } } }, false],
    ["is cleared with another account", {}, { config: { Weight: 1, client_email: "a@b.example" } }, false],
    [
      "stays when its private key lies in another box",
      { privateKey: PRIVATE },
      { privateKey: { ...PRIVATE, secret: { keyId: "k2", box: "other" } } },
      true,
    ],
    ["stays when its secret lies in another box", {}, { secret: { keyId: "k2", box: "other" } }, true],
    ["stays when it is disabled", {}, { status: false }, true],
    ["is cleared when it is enabled again", { status: false }, { status: true }, false],
    ["is cleared with another provider", {}, { provider: "https://other.example.com/v1" }, false],
    ["is cleared with another secret", {}, { mask: "sk-…wxyz" }, false],
  ])("%s", (_what, was, is, stays) => {
    const one = living(keyOf(1, was));
    one.fail();
    one.members(2, keyOf(1, is), keyOf(2));
    expect(one.health() !== undefined).toBe(stays);
  });

  test("goes with a key that leaves, and does not come back with it", () => {
    const one = living();
    one.fail({ what: "long" });
    one.members(2, keyOf(2));
    expect(one.view().health).toEqual([]);
    expect(one.state.fold.health.size).toBe(0);
    one.members(3, keyOf(1), keyOf(2));
    expect(one.is()).toBe("normal");
  });

  test("is not spoilt by attempts with the secret it had before", () => {
    const one = living();
    one.at = 10;
    one.members(2, keyOf(1, { mask: "sk-…wxyz" }));
    one.at = 11;
    for (const what of ["long", "fail", "rest", "pass_over"] as const)
      one.fail({ what, started: 9, limit: 1 });
    expect(one.is()).toBe("normal");
    one.fail({ what: "long", started: 10 });
    expect(one.is()).toBe("sleeping 1800");
  });
});
