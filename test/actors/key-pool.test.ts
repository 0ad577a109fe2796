// An Owner's upstream keys: every change is owed to its Level until that Level has told so, as a whole membership.

import { describe, expect, test } from "bun:test";
import type { KeyId } from "../../actors/ids.ts";
import { type KeyPoolCommand, keyPool, levelId, type ProviderKey } from "../../actors/key-pool/key-pool.ts";

const NOW = 5_000;

const keyOf = (id: number, level = 0): Omit<ProviderKey, "createdAt" | "updatedAt"> => ({
  id: id as KeyId,
  name: `key ${id}`,
  level,
  provider: "https://api.example.com/v1",
  secret: { keyId: "k", box: "sealed" },
  mask: "sk-…abcd",
  status: true,
  config: {},
});

function living() {
  const one = {
    state: keyPool.empty("2"),
    ask(command: KeyPoolCommand) {
      const decision = keyPool.decide(one.state, command, { id: "t", now: NOW, epoch: 1, done: false });
      for (const event of decision.events ?? []) keyPool.evolve(one.state, event, NOW);
      return decision;
    },
    add: (id: number, level = 0) => one.ask({ type: "add", key: keyOf(id, level) }),
    told: (effect: string) => one.ask({ type: "effectDone", effect, refused: null }),
    debts: () => keyPool.pending(one.state),
  };
  return one;
}

describe("a pool of keys", () => {
  test("lists its keys by id", () => {
    const one = living();
    for (const id of [3, 1, 2]) one.add(id);
    const keys = one.ask({ type: "list" }).reply as ProviderKey[];
    expect(keys.map(({ id }) => id)).toEqual([1, 2, 3] as KeyId[]);
    expect(keys[0]).toEqual({ ...keyOf(1), createdAt: NOW, updatedAt: NOW });
  });

  test("owes each Level its whole membership after a change, as of the newest version", () => {
    const one = living();
    one.add(1, 4);
    one.add(2, 5);
    one.add(3, 4);
    expect(one.debts()).toMatchObject([
      {
        id: "members-2:4:3",
        to: { kind: "level", id: "2.4" },
        bornAt: NOW,
        command: { type: "members", version: 3 },
      },
      { id: "members-2:5:2", to: { kind: "level", id: "2.5" } },
    ]);
    const told = one.debts()[0]!.command as unknown as { keys: ProviderKey[] };
    expect(told.keys.map(({ id }) => id)).toEqual([1, 3] as KeyId[]);
  });

  test("goes on owing what changed after the telling had left", () => {
    const one = living();
    one.add(1);
    const [first] = one.debts();
    one.add(2);
    expect(one.told(first!.id)).toEqual({ reply: {} });
    expect(one.debts()).toHaveLength(1);
    const [second] = one.debts();
    expect(one.told(second!.id).events).toEqual([{ type: "level_told", level: 0, version: 2 }]);
    expect(one.debts()).toEqual([]);
    expect(one.told(second!.id)).toEqual({ reply: {} });
  });

  test("knows negative Levels too", () => {
    const one = living();
    one.add(1, -3);
    one.told(one.debts()[0]!.id);
    expect(one.debts()).toEqual([]);
    expect(levelId("2", -3)).toBe("2.-3");
  });

  test("refuses more keys than an Owner may have", () => {
    const one = living();
    for (let id = 1; id <= 10_000; id++)
      one.state.keys.set(id as KeyId, { ...keyOf(id), createdAt: 0, updatedAt: 0 });
    expect(one.add(10_001).refused?.code).toBe("invalid_parameter");
  });

  test("takes no id twice", () => {
    const one = living();
    one.add(1);
    expect(() => one.add(1)).toThrow("added twice");
  });

  test("survives a restart with its debts", () => {
    const one = living();
    one.add(1, 4);
    one.add(2, 5);
    one.told(one.debts()[0]!.id);
    const before = [one.debts(), one.ask({ type: "list" }).reply];
    one.state = keyPool.thaw("2", JSON.parse(JSON.stringify(keyPool.freeze(one.state))));
    expect([one.debts(), one.ask({ type: "list" }).reply]).toEqual(before);
  });
});
