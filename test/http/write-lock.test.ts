// One at a time in the whole cluster: a turn is one node's until it is given back or its process is gone; and a write that
// two nodes get at once is done once.

import { describe, expect, test } from "bun:test";
import { type AccountId, MAIN_API_KEY } from "../../actors/ids.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { createAdminIdempotency } from "../../src/http/idempotency.ts";
import { createWriteLocks, type WriteLock } from "../../src/http/write-lock.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import { countingRandom, manualClock, settled } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { withOnce } from "./once.ts";

const ACCOUNT = 7 as AccountId;

/** Two nodes and more on one store. */
function rig() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const random = countingRandom();
  const up = new Set(["a", "b"]);
  const nodes = (node: string) => ({ node: () => node, isUp: async (other: string) => up.has(other) });
  const turnsOf = (node: string) => createWriteLocks({ store, clock, random, ...nodes(node) });
  const vault = createSecretVault(Buffer.alloc(32, 1).toString("base64"), null);
  const repeatsOf = (node: string) =>
    withOnce(createAdminIdempotency({ store, vault, clock, random, log: () => {}, nodes: nodes(node) }));
  return { clock, store, up, turnsOf, repeatsOf };
}

const isTurn = (taken: WriteLock | { readonly heldFor: string }): taken is WriteLock => "release" in taken;

describe("a turn", () => {
  test("is one node's until it is given back; meanwhile the others hear what it is about", async () => {
    const { turnsOf } = rig();
    const [a, b] = [turnsOf("a"), turnsOf("b")];
    const first = await a.acquire("place", ACCOUNT, "one");
    expect(await b.acquire("place", ACCOUNT, "two")).toEqual({ heldFor: "one" });
    expect(await a.acquire("place", ACCOUNT, "two")).toEqual({ heldFor: "one" });
    await (first as WriteLock).release();
    expect(isTurn(await b.acquire("place", ACCOUNT, "two"))).toBe(true);
  });

  test("is waited for on another node, until it is given back; a wait of a minute is refused", async () => {
    const { clock, turnsOf } = rig();
    const [a, b] = [turnsOf("a"), turnsOf("b")];
    const first = await a.acquire("place", ACCOUNT, "one");
    const heard: string[] = [];
    let lock: WriteLock | null = null;
    const waiting = { busy: "busy", onHeld: (heldFor: string) => void heard.push(heldFor) };
    const waited = b.wait("place", ACCOUNT, "two", waiting).then((taken) => {
      lock = taken;
    });
    await clock.advance(1_000);
    expect([lock, new Set(heard)]).toEqual([null, new Set(["one"])]);
    await (first as WriteLock).release();
    await clock.advance(1_000);
    await waited;

    const inVain = a.wait("place", ACCOUNT, "three", { busy: "busy" }).catch((error) => error.refusal);
    for (let i = 0; i < 62; i++) await clock.advance(1_000);
    expect(await inVain).toEqual({ code: "service_unavailable", message: "busy", retryAfterS: 1 });
  });

  test("at another place is another turn", async () => {
    const { turnsOf } = rig();
    const a = turnsOf("a");
    await a.acquire("place", ACCOUNT, "one");
    expect(isTurn(await a.acquire("elsewhere", ACCOUNT, "one"))).toBe(true);
  });

  test("of a node that is dead is anybody's", async () => {
    const { up, turnsOf } = rig();
    await turnsOf("a").acquire("place", ACCOUNT, "one");
    const b = turnsOf("b");
    expect(isTurn(await b.acquire("place", ACCOUNT, "one"))).toBe(false);
    up.delete("a");
    expect(isTurn(await b.acquire("place", ACCOUNT, "one"))).toBe(true);
  });

  test("is its process's while it works, also once the process has another name", async () => {
    const { clock, store } = rig();
    let name = "a#1";
    const nodes = { node: () => name, isUp: async () => false };
    const a = createWriteLocks({ store, clock, random: countingRandom(), ...nodes });
    await a.acquire("place", ACCOUNT, "one");
    name = "a#2";
    expect(await a.acquire("place", ACCOUNT, "one")).toEqual({ heldFor: "one" });
  });

  test("of an earlier process of this node is anybody's", async () => {
    const { turnsOf } = rig();
    await turnsOf("a").acquire("place", ACCOUNT, "one");
    expect(isTurn(await turnsOf("a").acquire("place", ACCOUNT, "one"))).toBe(true);
  });

  test("that the store took without saying so is given back", async () => {
    const { clock, store } = rig();
    const claim: typeof store.claim = async (...given) => {
      await store.claim(...given);
      throw new Error("no answer");
    };
    const nodes = { node: () => "a", isUp: async () => true };
    const turns = createWriteLocks({ store: { ...store, claim }, clock, random: countingRandom(), ...nodes });
    await expect(turns.acquire("place", ACCOUNT, "one")).rejects.toThrow("no answer");
    expect(await store.unconfirmed(clock.wall() + 1, 10)).toEqual([]);
  });
});

describe("a write with an Idempotency-Key that two nodes get at once", () => {
  const call = (body = "{}") => ({
    account: ACCOUNT,
    apiKey: MAIN_API_KEY,
    body,
    request: new Request("http://x.example/x-keys", {
      method: "POST",
      headers: { "idempotency-key": "one" },
      body,
    }),
  });

  /** Work that takes until the test says so. */
  function work() {
    const { promise, resolve } = Promise.withResolvers<void>();
    const made = { times: 0, end: resolve };
    const does = async () => {
      made.times++;
      await promise;
      return { id: made.times };
    };
    return { made, does };
  }

  test("is done once, and both are answered alike", async () => {
    const { clock, repeatsOf } = rig();
    const { made, does } = work();
    const answers = ["a", "b"].map((node) => repeatsOf(node).once(call(), does));
    await clock.advance(5_000);
    expect(made.times).toBe(1);
    made.end();
    await clock.advance(2_000);
    const both = await Promise.all(answers);
    expect(both.map(({ value }) => value)).toEqual([{ id: 1 }, { id: 1 }]);
    expect(both.map(({ repeated }) => repeated).sort()).toEqual([false, true]);
  });

  test("but with another body is a mismatch at once", async () => {
    const { repeatsOf } = rig();
    void repeatsOf("a").once(call(), work().does);
    await settled();
    const other = await repeatsOf("b")
      .once(call('{"x":1}'), work().does)
      .catch((error) => error.refusal.code);
    expect(other).toBe("idempotency_mismatch");
  });

  test("is done by the second when the first failed, or its node died", async () => {
    const { clock, up, repeatsOf } = rig();
    const failing = repeatsOf("a").once(call(), async () => {
      throw new RefusedError({ code: "duplicate_name", message: "" });
    });
    await expect(failing).rejects.toThrow(RefusedError);
    const hanging = work();
    void repeatsOf("a").once(call(), hanging.does);
    await settled();
    const { made, does } = work();
    const second = repeatsOf("b").once(call(), does);
    made.end();
    await clock.advance(5_000);
    expect([hanging.made.times, made.times]).toEqual([1, 0]);
    up.delete("a");
    await clock.advance(2_000);
    expect((await second).value).toEqual({ id: 1 });
  });

  test("that takes longer than any write may is left to ask for again", async () => {
    const { clock, repeatsOf } = rig();
    void repeatsOf("a").once(call(), work().does);
    await settled();
    const second = repeatsOf("b")
      .once(call(), work().does)
      .catch((error) => error.refusal.code);
    await clock.advance(62_000);
    expect(await second).toBe("service_unavailable");
  });

  test("leaves no turn behind", async () => {
    const { clock, store, repeatsOf } = rig();
    await repeatsOf("a").once(call(), async () => 1);
    expect(await store.unconfirmed(clock.wall() + 1, 10)).toEqual([]);
  });
});
