// A rotation that dies anywhere is ended by the sweep or by the next rotation: one key lives, one claim stands for it.

import { beforeEach, describe, expect, test } from "bun:test";
import { ROOT } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { createRootAccount } from "../../src/admin/create-root.ts";
import { sweepClaims } from "../../src/admin/periodic-sweeps.ts";
import { rotateKey } from "../../src/admin/rotate-key.ts";
import { type Clock, realClock, realRandom } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../src/runtime/system.ts";
import type { Store } from "../../src/store/store.ts";
import { memoryStore } from "../store/memory/memory.ts";

const FIRST = "the-first-key-of-root-0123456789abcdef";

async function start(store: Store, clock: Clock) {
  const random = realRandom(clock);
  const placement = createSingleNodePlacement({ registry: store, node: "test" });
  const parts = { store, bus: memoryBus(), clock, random, placement, behaviors, log: silent };
  const system = createSystem<Protocol>(parts);
  await system.start();
  return { system, store, clock, random, log: silent };
}

let store: Store;
let parts: Awaited<ReturnType<typeof start>>;
let offsetMs = 0;
beforeEach(async () => {
  const clock = realClock(() => offsetMs);
  store = memoryStore({ clock });
  parts = await start(store, clock);
});

/** The parts with a store that fails at one call, as if the process died there. */
const dyingAt = (call: "confirm" | "release") => {
  const died = async (): Promise<never> => {
    throw new Error("died");
  };
  return { ...parts, store: { ...store, [call]: died } };
};

const claimed = async (key: string) => (await store.findClaim(`key:${hashKey(key)}`))?.confirmed ?? null;
const keyHash = async () => (await parts.system.ask(actorRef.account(ROOT), "profile", {})).profile.keyHash;

/** A minute and more later, when the sweep looks at claims that nobody confirmed. */
async function sweep(): Promise<void> {
  offsetMs += 120_000;
  await sweepClaims(parts);
}

describe("rotating a key", () => {
  beforeEach(async () => {
    await createRootAccount({ ...parts, chosen: FIRST });
  });

  test("the new key is claimed and confirmed, the old one free", async () => {
    const key = await rotateKey(parts, ROOT);
    expect(await keyHash()).toBe(hashKey(key));
    expect([await claimed(key), await claimed(FIRST)]).toEqual([true, null]);
  });

  test("a key that is in use is refused and nothing changes", async () => {
    await expect(rotateKey(parts, ROOT, FIRST)).rejects.toThrow("in use");
    expect(await keyHash()).toBe(hashKey(FIRST));
    expect(await claimed(FIRST)).toBe(true);
  });

  test("a key that is not the account's any more replaces nothing, and leaves no claim", async () => {
    const rotation = rotateKey(parts, ROOT, SECOND, hashKey("a former key"));
    await expect(rotation).rejects.toMatchObject({ refusal: { code: "invalid_api_key" } });
    expect([await keyHash(), await claimed(SECOND)]).toEqual([hashKey(FIRST), null]);
    await rotateKey(parts, ROOT, SECOND, hashKey(FIRST));
    expect([await claimed(SECOND), await claimed(FIRST)]).toEqual([true, null]);
  });

  const SECOND = "the-second-key-of-root-0123456789abcde";
  test.each(["release", "confirm"] as const)("a %s that fails is left to the sweep", async (call) => {
    expect(await rotateKey(dyingAt(call), ROOT, SECOND)).toBe(SECOND);
    expect(await keyHash()).toBe(hashKey(SECOND));
    await sweep();
    expect([await claimed(SECOND), await claimed(FIRST)]).toEqual([true, null]);
  });

  test("a release that fails is ended by the next rotation too", async () => {
    await rotateKey(dyingAt("release"), ROOT, SECOND);
    const third = await rotateKey(parts, ROOT);
    expect([await claimed(third), await claimed(SECOND), await claimed(FIRST)]).toEqual([true, null, null]);
  });

  test("dead before the account switched: the old key lives on, the sweep frees the new one", async () => {
    const system = {
      ...parts.system,
      ask: (async (_to: never, type: string) => {
        if (type === "rotate") throw new Error("died");
        return parts.system.ask(actorRef.account(ROOT), "profile", {});
      }) as unknown as typeof parts.system.ask,
    };
    await expect(rotateKey({ ...parts, system }, ROOT, SECOND)).rejects.toThrow("died");
    await sweep();
    expect([await claimed(SECOND), await claimed(FIRST)]).toEqual([null, true]);
  });
});

test("a first start that died before it showed Root's key: the next one gives another and shows it", async () => {
  await expect(createRootAccount({ ...dyingAt("confirm"), chosen: null })).rejects.toThrow("died");
  const unseen = await keyHash();
  const key = await createRootAccount({ ...parts, chosen: null });
  expect(await keyHash()).toBe(hashKey(key!));
  expect(await claimed(key!)).toBe(true);
  expect(await store.findClaim(`key:${unseen}`)).toBeNull();
  expect(await createRootAccount({ ...parts, chosen: null })).toBeNull();
});
