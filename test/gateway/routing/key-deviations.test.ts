// What a node remembers of conversations that were not answered by their first choice: for ten minutes after the last use, and
// the 50,000 that were used last.

import { describe, expect, test } from "bun:test";
import { DEVIATION_MS, DEVIATIONS_MAX, KeyDeviations } from "../../../src/gateway/routing/key-deviations.ts";
import type { ConversationHash } from "../../../src/gateway/routing/rendezvous.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { keyId } from "../level-samples.ts";

const ONE = 1 as ConversationHash;
const [HOME, OTHER] = [keyId(1), keyId(2)];

function rig() {
  const clock = manualClock();
  return { clock, deviations: new KeyDeviations(clock) };
}

describe("a deviation", () => {
  test("is remembered, and the first choice is not", () => {
    const { deviations } = rig();
    deviations.answered(ONE, HOME, HOME);
    expect([deviations.keyOf(ONE), deviations.size]).toEqual([null, 0]);
    deviations.answered(ONE, OTHER, HOME);
    expect([deviations.keyOf(ONE), deviations.size]).toEqual([OTHER, 1]);
  });

  test("ends when the first choice answers again", () => {
    const { deviations } = rig();
    deviations.answered(ONE, OTHER, HOME);
    deviations.answered(ONE, HOME, HOME);
    expect([deviations.keyOf(ONE), deviations.size]).toEqual([null, 0]);
  });

  test("ends ten minutes after its last use", async () => {
    const { clock, deviations } = rig();
    expect(DEVIATION_MS).toBe(600_000);
    for (let turn = 0; turn < 3; turn++) {
      deviations.answered(ONE, OTHER, HOME);
      await clock.advance(DEVIATION_MS);
      expect(deviations.keyOf(ONE)).toBe(OTHER);
    }
    await clock.advance(1);
    expect([deviations.keyOf(ONE), deviations.size]).toEqual([null, 0]);
  });

  test("makes room when 50,000 others were used later", () => {
    const { deviations } = rig();
    expect(DEVIATIONS_MAX).toBe(50_000);
    for (let nth = 0; nth < DEVIATIONS_MAX; nth++) {
      deviations.answered(nth as ConversationHash, OTHER, HOME);
    }
    deviations.answered(0 as ConversationHash, OTHER, HOME);
    for (let nth = 0; nth < 10; nth++) {
      deviations.answered((DEVIATIONS_MAX + nth) as ConversationHash, OTHER, HOME);
    }
    expect(deviations.size).toBe(DEVIATIONS_MAX);
    expect(deviations.keyOf(0 as ConversationHash)).toBe(OTHER);
    expect(deviations.keyOf(10 as ConversationHash)).toBeNull();
    expect(deviations.keyOf(11 as ConversationHash)).toBe(OTHER);
  });
});
