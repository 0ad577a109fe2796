// Clients that leave while keys fail, and very many that leave at any moment: no call, no count of a key, no hold and no
// object is left of them.

import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { type Account, charged, charges, fresh, nano, type Owner, until } from "./harness.ts";
import { fares, fateOf, watch } from "./harness-keys.ts";
import { leave } from "./leaving.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1" } });

/** Requests under way at keys, as the service counts them. */
async function keysInFlight(): Promise<number> {
  const { text } = await bench.call(bench.rootKey, "GET", "/metrics");
  const found = /^arborgate_upstream_requests (\d+)$/m.exec(text);
  if (found === null) throw new Error("the metric is missing");
  return Number(found[1]);
}

async function allIsFree(owner: Owner, users: readonly Account[]): Promise<void> {
  await until("the provider is alone", () => bench.provider.inFlight() === 0);
  await until("no key is busy", async () => (await keysInFlight()) === 0);
  for (const { secret } of owner.keys) bench.provider.behave(secret, null);
  await bench.level(owner, 1, 1);
  for (const user of users) await until("nothing is held", () => bench.nothingHeld(user.key));
}

describe("a client that leaves while the second key is asked", () => {
  test.each([false, true])("is free, and only the first key has failed (streamed: %p)", async (stream) => {
    const owner = await bench.owner({ keys: 3 });
    const user = await bench.subaccount(owner);
    const [first, second, third] = owner.keys as [
      (typeof owner.keys)[0],
      (typeof owner.keys)[0],
      (typeof owner.keys)[0],
    ];
    bench.provider.behave(first.secret, "fault=500");
    bench.provider.behave(second.secret, "head_ms=5000");
    const seen = watch(bench);
    await leave(bench, user.key, "hi", stream, () => seen.order(...owner.keys) === "1 2");
    await until("the call is aborted", () => seen.calls()[1]!.aborted);
    await fares(bench, owner, first, "sleeping 5 min");
    expect(await fateOf(bench, owner, second)).toBe("normal");
    expect(await fateOf(bench, owner, third)).toBe("normal");
    expect(seen.order(...owner.keys)).toBe("1 2");
    expect(charges(await bench.ledger(user.key))).toEqual([]);
    expect(await bench.balance(user.key)).toBe(10);
    await allIsFree(owner, [user]);
  });
});

describe("two hundred clients that leave", () => {
  /** When they leave: the script, streamed or not, and after how many bytes. */
  const MOMENTS: readonly (readonly [script: string, stream: boolean, bytes: number])[] = [
    ["head_ms=5000", false, 0],
    ["head_ms=5000", true, 0],
    ["first_ms=5000", false, 0],
    ["first_ms=5000", true, 0],
    ["fault=stall after=1", true, 0],
    ["output=300 chunk_ms=5", true, 1],
    ["output=300 chunk_ms=5", true, 3_000],
    ["output=300 chunk_ms=5 fault=comments events=2", true, 500],
    ["output=2", false, 0],
    ["output=2", true, 0],
  ];

  const COUNTED = ["ReadableStream", "AbortController", "AbortSignal", "Response", "Request"] as const;
  function objects(): Record<string, number> {
    Bun.gc(true);
    const { objectTypeCounts } = heapStats();
    return Object.fromEntries(COUNTED.map((name) => [name, objectTypeCounts[name] ?? 0]));
  }

  async function crowd(users: readonly Account[]): Promise<void> {
    for (const [script, stream, bytes] of MOMENTS) {
      await Promise.all(
        users.map((user) => {
          const mark = `gone-${fresh()}.`;
          const called = () => bench.provider.calls().some(({ body }) => JSON.stringify(body).includes(mark));
          return leave(bench, user.key, `${mark} [[${script}]]`, stream, (got) => called() && got >= bytes);
        }),
      );
    }
  }

  test("leave nothing behind", async () => {
    const owner = await bench.owner({ keys: 2 });
    const users = await Promise.all(Array.from({ length: 10 }, () => bench.subaccount(owner)));
    await crowd(users);
    await until("the provider is alone", () => bench.provider.inFlight() === 0);
    const before = objects();
    await crowd(users);
    await until("the provider is alone", () => bench.provider.inFlight() === 0);
    await until("no key is busy", async () => (await keysInFlight()) === 0);
    await Bun.sleep(50);
    const after = objects();
    // A hundred requests came between: one object of each would be seen.
    const grown = COUNTED.filter((name) => after[name]! - before[name]! >= 50);
    expect([grown, before, after]).toEqual([[], before, after]);
    await allIsFree(owner, users);
    for (const user of users) {
      const lines = await bench.ledger(user.key);
      expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
      const partial = charges(lines).filter(({ basis }) => basis === "partial");
      expect(partial.length).toBeGreaterThanOrEqual(4);
      expect(new Set(charges(lines).map(({ id }) => id)).size).toBe(charges(lines).length);
    }
    for (const key of owner.keys) expect(await fateOf(bench, owner, key)).toBe("normal");
  });
});

test("none of them was logged as a failure of the service", () => {
  expect(bench.log.filter(({ level }) => level === "error")).toEqual([]);
});
