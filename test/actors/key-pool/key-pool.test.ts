// An Owner's upstream keys: every change is owed to its Level until that Level has acknowledged it, as a whole membership.

import { describe, expect, test } from "bun:test";
import type { ProviderKeyId } from "../../../actors/ids.ts";
import {
  type KeyChange,
  type KeyPoolCommand,
  keyPool,
  levelId,
  type ProviderKey,
} from "../../../actors/key-pool/key-pool.ts";

const NOW = 5_000;

const keyOf = (id: number, level = 0): Omit<ProviderKey, "createdAt" | "updatedAt"> => ({
  id: id as ProviderKeyId,
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
    ask(command: KeyPoolCommand, now = NOW) {
      const decision = keyPool.decide(one.state, command, { id: "t", from: "", now, epoch: 1, done: false });
      for (const event of decision.events ?? []) keyPool.evolve(one.state, event, now);
      return decision;
    },
    add: (id: number, level = 0) => one.ask({ type: "add", key: keyOf(id, level) }),
    update: (id: number, change: KeyChange) =>
      one.ask({ type: "update", id: id as ProviderKeyId, change }, NOW + 1_000),
    remove: (id: number) => one.ask({ type: "remove", id: id as ProviderKeyId }),
    read: (id: number) => one.ask({ type: "read", id: id as ProviderKeyId }),
    /** What each Level is owed: its version, and the ids of its keys. */
    owed: () =>
      one.debts().map(({ to, command }) => {
        const { version, keys } = command as unknown as { version: number; keys: ProviderKey[] };
        return [to.id, version, keys.map(({ id }) => id as number)];
      }),
    /** Pays every debt. */
    settle() {
      for (const { id } of one.debts()) one.acknowledge(id);
    },
    acknowledge: (effect: string) => one.ask({ type: "effectDone", effect, refused: null }),
    debts: () => keyPool.pendingEffects(one.state),
  };
  return one;
}

describe("a pool of keys", () => {
  test("lists its keys by id", () => {
    const one = living();
    for (const id of [3, 1, 2]) one.add(id);
    const keys = one.ask({ type: "list" }).reply as ProviderKey[];
    expect(keys.map(({ id }) => id)).toEqual([1, 2, 3] as ProviderKeyId[]);
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
    const command = one.debts()[0]!.command as unknown as { keys: ProviderKey[] };
    expect(command.keys.map(({ id }) => id)).toEqual([1, 3] as ProviderKeyId[]);
  });

  test("goes on owing what changed after the telling had left", () => {
    const one = living();
    one.add(1);
    const [first] = one.debts();
    one.add(2);
    expect(one.acknowledge(first!.id)).toEqual({ reply: {} });
    expect(one.debts()).toHaveLength(1);
    const [second] = one.debts();
    expect(one.acknowledge(second!.id).events).toEqual([{ type: "level_told", level: 0, version: 2 }]);
    expect(one.debts()).toEqual([]);
    expect(one.acknowledge(second!.id)).toEqual({ reply: {} });
  });

  test("knows negative Levels too", () => {
    const one = living();
    one.add(1, -3);
    one.acknowledge(one.debts()[0]!.id);
    expect(one.debts()).toEqual([]);
    expect(levelId("2", -3)).toBe("2.-3");
  });

  test("refuses more keys than an Owner may have", () => {
    const one = living();
    for (let id = 1; id <= 10_000; id++)
      one.state.keys.set(id as ProviderKeyId, { ...keyOf(id), createdAt: 0, updatedAt: 0 });
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
    one.acknowledge(one.debts()[0]!.id);
    const before = [one.debts(), one.ask({ type: "list" }).reply];
    one.state = keyPool.thaw("2", JSON.parse(JSON.stringify(keyPool.freeze(one.state))));
    expect([one.debts(), one.ask({ type: "list" }).reply]).toEqual(before);
  });
});

describe("a change of a key", () => {
  test.each<[KeyChange, Partial<ProviderKey>]>([
    [{ name: "new" }, { name: "new" }],
    [{ status: false }, { status: false }],
    [{ provider: "https://other.example" }, { provider: "https://other.example" }],
    [
      { secret: { keyId: "k", box: "another" }, mask: "sk-…wxyz" },
      { secret: { keyId: "k", box: "another" }, mask: "sk-…wxyz" },
    ],
    [{}, {}],
  ])("%j changes that alone, and when it was changed", (change, expected) => {
    const one = living();
    one.add(1, 4);
    const after = { ...keyOf(1, 4), ...expected, createdAt: NOW, updatedAt: NOW + 1_000 };
    expect(one.update(1, change)).toMatchObject({ reply: { key: after, formerLevel: 4 }, save: true });
    expect(one.read(1)).toEqual({ reply: after });
  });

  test("merges Config field by field, and null takes a field away", () => {
    const one = living();
    one.add(1);
    one.update(1, { config: { api_style: "chat", provider_type: "standard" } });
    one.update(1, { config: { api_style: "messages" } });
    expect(one.read(1).reply).toMatchObject({
      config: { api_style: "messages", provider_type: "standard" },
    });
    one.update(1, { config: { provider_type: null, api_style: null } });
    expect((one.read(1).reply as ProviderKey).config).toEqual({});
  });

  test("is owed to its Level", () => {
    const one = living();
    one.add(1, 4);
    one.add(2, 5);
    one.settle();
    one.update(1, { status: false });
    expect(one.owed()).toEqual([["2.4", 3, [1]]]);
  });

  test("of the Level is owed to the one it leaves and the one it enters", () => {
    const one = living();
    one.add(1, 4);
    one.add(2, 4);
    one.add(3, 5);
    one.settle();
    expect(one.update(1, { level: 5 }).reply).toMatchObject({ key: { level: 5 }, formerLevel: 4 });
    expect(one.owed()).toEqual([
      ["2.4", 4, [2]],
      ["2.5", 4, [1, 3]],
    ]);
  });

  test("of a key that is not there is refused, and owed to nobody", () => {
    const one = living();
    one.add(1);
    one.settle();
    for (const decision of [one.update(9, { name: "x" }), one.remove(9), one.read(9)]) {
      expect(decision.refused?.code).toBe("key_not_found");
      expect(decision.events).toBeUndefined();
    }
    expect(one.debts()).toEqual([]);
  });

  test("survives a restart, and means the same when it is replayed", () => {
    const one = living();
    one.add(1, 4);
    one.update(1, { level: 5, name: "moved" });
    const before = [one.debts(), one.ask({ type: "list" }).reply];
    one.state = keyPool.thaw("2", JSON.parse(JSON.stringify(keyPool.freeze(one.state))));
    expect([one.debts(), one.ask({ type: "list" }).reply]).toEqual(before);
  });
});

describe("a deleted key", () => {
  test("is answered as it was, and is gone", () => {
    const one = living();
    one.add(1, 4);
    expect(one.remove(1)).toMatchObject({ reply: { ...keyOf(1, 4) }, save: true });
    expect(one.ask({ type: "list" }).reply).toEqual([]);
    expect(one.remove(1).refused?.code).toBe("key_not_found");
  });

  test("is owed to its Level, also when it was the last one there", () => {
    const one = living();
    one.add(1, 4);
    one.settle();
    one.remove(1);
    expect(one.owed()).toEqual([["2.4", 2, []]]);
  });
});

test("the members of a Level are sent as of the newest version, whatever is owed", () => {
  const one = living();
  one.add(1, 4);
  one.add(2, 5);
  expect(one.ask({ type: "members", level: 4 }).reply).toMatchObject({ version: 2, keys: [{ id: 1 }] });
  one.settle();
  expect(one.ask({ type: "members", level: 5 }).reply).toMatchObject({ version: 2, keys: [{ id: 2 }] });
  expect(one.ask({ type: "members", level: 9 }).reply).toEqual({ version: 2, keys: [] });
});

describe("a change that was judged by a certain state of the key", () => {
  test("is made while the key is in that state, and not once it is in another", () => {
    const one = living();
    one.add(1, 4);
    const change = (name: string, asOf: number) =>
      one.ask({ type: "update", id: 1 as ProviderKeyId, change: { name }, asOf }, NOW + 1_000);
    expect(change("first", NOW).reply).toMatchObject({ key: { name: "first" } });
    const late = change("second", NOW);
    expect([late.reply, late.events]).toEqual([null, undefined]);
    expect(one.read(1).reply).toMatchObject({ name: "first", updatedAt: NOW + 1_000 });
  });

  test("knows two states of the same millisecond apart, and of a clock that went back", () => {
    const one = living();
    one.add(1, 4);
    const times = [NOW, NOW, NOW - 500].map((now) => {
      one.ask({ type: "update", id: 1 as ProviderKeyId, change: { name: "x" } }, now);
      return (one.read(1).reply as ProviderKey).updatedAt;
    });
    expect(times).toEqual([NOW + 1, NOW + 2, NOW + 3]);
  });
});

describe("secrets in other boxes", () => {
  const box = (text: string) => ({ keyId: "new", box: text });
  /** One key with two secrets. */
  function sealed() {
    const one = living();
    const privateKey = { secret: { keyId: "k", box: "private" }, mask: "---…----" };
    one.ask({ type: "add", key: { ...keyOf(1, 4), privateKey } });
    one.settle();
    return one;
  }
  const boxes = (one: ReturnType<typeof living>) => {
    const { secret, privateKey } = one.read(1).reply as ProviderKey;
    return [secret.box, privateKey?.secret.box];
  };
  const reseal = (one: ReturnType<typeof living>, ...was: string[]) =>
    one.ask({
      type: "reseal",
      secrets: was.map((text) => ({ id: 1 as ProviderKeyId, was: text, secret: box(`${text} again`) })),
    });

  test.each([
    [["sealed"], ["sealed again", "private"]],
    [["private"], ["sealed", "private again"]],
    [
      ["sealed", "private"],
      ["sealed again", "private again"],
    ],
    [["neither"], ["sealed", "private"]],
  ])("%j", (was, expected) => {
    const one = sealed();
    const changed = was.includes("neither") ? 0 : was.length;
    expect(reseal(one, ...was).reply).toEqual({ resealed: changed });
    expect(boxes(one)).toEqual(expected);
    expect(one.owed()).toEqual(changed === 0 ? [] : [["2.4", 2, [1]]]);
  });

  test("leave masks and times as they are", () => {
    const one = sealed();
    const before = one.read(1).reply as ProviderKey;
    reseal(one, "sealed", "private");
    const after = one.read(1).reply as ProviderKey;
    expect([after.mask, after.privateKey?.mask, after.updatedAt]).toEqual([
      before.mask,
      before.privateKey?.mask,
      before.updatedAt,
    ]);
  });

  test("as they were written before there were private keys, are those of the SecretKey", () => {
    const one = sealed();
    const secrets = [{ id: 1 as ProviderKeyId, secret: box("sealed again") }];
    keyPool.evolve(one.state, { type: "keys_resealed", secrets }, NOW);
    expect(boxes(one)).toEqual(["sealed again", "private"]);
  });
});
