// What the chooser keeps per provider key is bounded, however many keys come and go.

import { describe, expect, test } from "bun:test";
import { AVOIDED_MAX, AvoidedKeys } from "../../../src/gateway/attempt/avoided-keys.ts";
import { KeyLoads, TURNS_MAX } from "../../../src/gateway/attempt/key-loads.ts";
import { keyId } from "../level-samples.ts";

describe("the loads of keys", () => {
  test("of those that were taken long ago are forgotten; these come before all others again", () => {
    const loads = new KeyLoads();
    for (let id = 1; id <= 3 * TURNS_MAX; id++) {
      loads.take(keyId(id));
      loads.done(keyId(id));
      expect(loads.size).toBeLessThanOrEqual(TURNS_MAX);
    }
    expect(loads.isBefore(keyId(1), keyId(3 * TURNS_MAX))).toBe(true);
    expect(loads.isBefore(keyId(3 * TURNS_MAX - 1), keyId(3 * TURNS_MAX))).toBe(true);
    expect(loads.isBefore(keyId(3 * TURNS_MAX), keyId(3 * TURNS_MAX - 1))).toBe(false);
  });

  test("count requests in flight however many keys were taken since", () => {
    const loads = new KeyLoads();
    loads.take(keyId(1));
    for (let id = 2; id <= 2 * TURNS_MAX; id++) {
      loads.take(keyId(id));
      loads.done(keyId(id));
    }
    expect([loads.of(keyId(1)), loads.ofAll()]).toEqual([1, 1]);
  });
});

describe("avoided keys", () => {
  test("are bounded: the one that was added first is used again", () => {
    const avoided = new AvoidedKeys();
    for (let id = 1; id <= AVOIDED_MAX; id++) avoided.add(keyId(id), 1, 1_000);
    avoided.add(keyId(1), 1, 1_000);
    avoided.add(keyId(AVOIDED_MAX + 1), 1, 1_000);
    expect(avoided.size).toBe(AVOIDED_MAX);
    expect([1, 2, 3].map((id) => avoided.has(keyId(id), 1, 999))).toEqual([true, false, true]);
  });
});
