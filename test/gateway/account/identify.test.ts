// Whose key it is: remembered for a minute, unknown ones for moments; guessing is slowed by address, a valid key never.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import { createIdentify, hashKey } from "../../../src/gateway/account/identify.ts";
import { manualClock, settled } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";

async function rig() {
  const clock = manualClock();
  const store = memoryStore({ clock });
  await store.claim(`key:${hashKey("sk-good")}`, 7, "me", 0);
  let lookups = 0;
  const counting = {
    ...store,
    findClaim(key: string) {
      lookups++;
      return store.findClaim(key);
    },
  };
  const identify = createIdentify({ store: counting, clock });
  const from = (ip: string) => async (key: string) => identify(key, { ip: () => ip });
  /** How long the answer took on the clock, at most 10 s. */
  async function tookMs(asked: Promise<unknown>): Promise<number> {
    let done = false;
    asked.then(() => {
      done = true;
    });
    const before = clock.mono();
    await settled();
    for (let waited = 0; !done && waited < 10_000; waited += 50) await clock.advance(50);
    return clock.mono() - before;
  }
  return { clock, store, identify, from, tookMs, lookups: () => lookups };
}

const KNOWN = { account: 7 as AccountId, keyHash: hashKey("sk-good") };

describe("a known key", () => {
  test("is its account's, looked up once a minute", async () => {
    const { from, clock, lookups } = await rig();
    const ask = from("192.0.2.1");
    for (let i = 0; i < 5; i++) expect(await ask("sk-good")).toEqual(KNOWN);
    expect(lookups()).toBe(1);
    await clock.advance(61_000);
    expect(await ask("sk-good")).toEqual(KNOWN);
    expect(lookups()).toBe(2);
  });

  test("never waits, however many were guessed from its address", async () => {
    const { from, clock, tookMs } = await rig();
    const ask = from("192.0.2.1");
    const guesses = Array.from({ length: 30 }, (_, i) => ask(`sk-guess-${i}`));
    await settled();
    expect(await tookMs(ask("sk-good"))).toBe(0);
    await clock.advance(10_000);
    await Promise.all(guesses);
    expect(await tookMs(ask("sk-good"))).toBe(0);
  });

  test("is asked for no address", async () => {
    const { identify } = await rig();
    const never = () => {
      throw new Error("asked for the address");
    };
    expect(await identify("sk-good", { ip: never })).toEqual(KNOWN);
  });

  test("that its account disowned is looked up again", async () => {
    const { from, store, identify } = await rig();
    const ask = from("192.0.2.1");
    await ask("sk-good");
    await store.release(`key:${KNOWN.keyHash}`, "me");
    expect(await ask("sk-good")).toEqual(KNOWN);
    identify.forget(KNOWN.keyHash);
    expect(await ask("sk-good")).toBeNull();
  });
});

describe("an unknown key", () => {
  test("is nobody's, and looked up once a second", async () => {
    const { from, clock, lookups } = await rig();
    const ask = from("192.0.2.1");
    for (let i = 0; i < 4; i++) expect(await ask("sk-bad")).toBeNull();
    expect(lookups()).toBe(1);
    await clock.advance(1_001);
    await ask("sk-bad");
    expect(lookups()).toBe(2);
  });

  test("that somebody got meanwhile is known after that second, or at once when it is forgotten", async () => {
    const { from, clock, store, identify } = await rig();
    const ask = from("192.0.2.1");
    expect(await ask("sk-new")).toBeNull();
    await store.claim(`key:${hashKey("sk-new")}`, 8, "me", 0);
    expect(await ask("sk-new")).toBeNull();
    await clock.advance(1_001);
    expect(await ask("sk-new")).toMatchObject({ account: 8 });

    expect(await ask("sk-newer")).toBeNull();
    await store.claim(`key:${hashKey("sk-newer")}`, 9, "me", 0);
    identify.forget(hashKey("sk-newer"));
    expect(await ask("sk-newer")).toMatchObject({ account: 9 });
  });

  test("waits longer with each guess from its address, and at most two seconds", async () => {
    const { from, tookMs } = await rig();
    const ask = from("192.0.2.1");
    const waits: number[] = [];
    for (let i = 0; i < 14; i++) waits.push(await tookMs(ask(`sk-${i}`)));
    expect(waits.slice(0, 9)).toEqual([0, 0, 0, 0, 0, 100, 200, 400, 800]);
    expect(waits.slice(10)).toEqual([2_000, 2_000, 2_000, 2_000]);
  });

  test("from another address does not wait for the first one's guesses", async () => {
    const { from, tookMs } = await rig();
    for (let i = 0; i < 10; i++) await tookMs(from("192.0.2.1")(`sk-${i}`));
    expect(await tookMs(from("192.0.2.2")("sk-x"))).toBe(0);
  });

  test("does not wait any more once a minute passed without a guess", async () => {
    const { from, clock, tookMs } = await rig();
    const ask = from("192.0.2.1");
    for (let i = 0; i < 10; i++) await tookMs(ask(`sk-${i}`));
    await clock.advance(60_001);
    expect(await tookMs(ask("sk-x"))).toBe(0);
  });
});

test("a key's hash is its SHA-256 in hex", () => {
  expect(hashKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
