// The one timeout of promises: whichever comes first decides, and no timer stays behind.

import { expect, test } from "bun:test";
import { atMost, inTime, withTimeout } from "../../src/base/clock.ts";
import { manualClock } from "../runtime/manual-clock.ts";

const never = new Promise<never>(() => undefined);

test("work in time gives its own outcome, and its timer is canceled", async () => {
  const clock = manualClock();
  expect(await withTimeout(clock, 10, Promise.resolve("done"), () => "late")).toBe("done");
  await expect(withTimeout(clock, 10, Promise.reject(new Error("broken")), () => "late")).rejects.toThrow(
    "broken",
  );
  expect(clock.waiting).toBe(0);
});

test("work that is late gives what stands for it", async () => {
  const clock = manualClock();
  const found = withTimeout(clock, 10, never, () => "late");
  const bounded = atMost(clock, 10, never);
  const failed = inTime(clock, 10, never).catch((error: Error) => error.message);
  await clock.advance(10);
  expect(await found).toBe("late");
  expect(await bounded).toBeUndefined();
  expect(await failed).toBe("no answer within 10 ms");
  expect(clock.waiting).toBe(0);
});
