// How long charges wait: each for the same time, whatever the others do, and none once the process ends.

import { describe, expect, test } from "bun:test";
import type { AccountId } from "../../../actors/ids.ts";
import { type ChargeWait, ChargeWaits } from "../../../src/gateway/admission/charge-waits.ts";
import { factsOf } from "../../actors/account-samples.ts";
import { manualClock } from "../../runtime/manual-clock.ts";

function rig() {
  const clock = manualClock();
  const late: string[] = [];
  const waits = new ChargeWaits(clock, 1_000, ({ facts }, { message }) => {
    late.push(`${facts.id}: ${message}`);
  });
  const add = (id: string): ChargeWait => waits.add(7 as AccountId, factsOf({ id }));
  return { clock, late, waits, add };
}

const TOO_SLOW = "not stored within 1000 ms";

describe("a charge", () => {
  test("is late after its own time, beside others that are not", async () => {
    const { clock, late, waits, add } = rig();
    const a = add("a");
    await clock.advance(400);
    add("b");
    await clock.advance(500);
    const c = add("c");
    expect(waits.end(a)).toBe(true);
    await clock.advance(499);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual([`b: ${TOO_SLOW}`]);
    expect(waits.end(c)).toBe(true);
    await clock.advance(5_000);
    expect(late).toEqual([`b: ${TOO_SLOW}`]);
  });

  test("ends its wait once", async () => {
    const { clock, late, waits, add } = rig();
    const a = add("a");
    await clock.advance(1_000);
    expect([late, !a.isQueued, waits.end(a)]).toEqual([[`a: ${TOO_SLOW}`], true, false]);
    const b = add("b");
    expect([waits.end(b), waits.end(b)]).toEqual([true, false]);
  });

  test("that comes after a pause waits for its whole time", async () => {
    const { clock, late, waits, add } = rig();
    waits.end(add("a"));
    await clock.advance(999);
    add("b");
    await clock.advance(999);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual([`b: ${TOO_SLOW}`]);
  });
});

test("at the end of the process all are late at once, oldest first, and later ones sooner", async () => {
  const { clock, late, waits, add } = rig();
  const [, b] = [add("a"), add("b"), add("c")];
  waits.end(b);
  waits.endAll(100, new Error("the end"));
  expect(late).toEqual(["a: the end", "c: the end"]);
  await clock.advance(50);
  add("d");
  await clock.advance(99);
  expect(late).toHaveLength(2);
  await clock.advance(1);
  expect(late).toEqual(["a: the end", "c: the end", "d: not stored within 100 ms"]);
});
