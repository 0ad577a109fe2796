// The token counter in its own thread: same counts, the loop stays free, and an answer comes whatever happens there.

import { afterAll, expect, test } from "bun:test";
import { counterApart } from "../../../src/gateway/money/tokens-apart.ts";
import { realClock } from "../../../src/runtime/clock.ts";
import { silent } from "../../../src/runtime/log.ts";

const counter = counterApart({ clock: realClock(), log: silent });
afterAll(() => counter.stop());

test("the first count, loading included, leaves the event loop free", async () => {
  let longestMs = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastAt);
    lastAt = performance.now();
  }, 1);
  expect(await counter.count(["hello world", "a".repeat(100_000)])).toBe(12_802);
  clearInterval(timer);
  // Loading the tokenizer alone takes some hundred milliseconds where it runs.
  expect(longestMs).toBeLessThan(150);
});

test("counts under way beyond the bound are settled by bytes at once", async () => {
  const texts = Array.from({ length: 300 }, () => counter.count(["hello world "]));
  const counts = await Promise.all(texts);
  expect(counts.filter((tokens) => tokens === 4).length).toBe(100);
  expect(counts.filter((tokens) => tokens === 3).length).toBe(200);
});

test("no text is no token", async () => {
  expect(await counter.count([])).toBe(0);
});

test("a count that does not come in time is settled by bytes", async () => {
  const clock = realClock();
  const late = counterApart({ clock: { ...clock, after: (_ms, fn) => clock.after(5, fn) }, log: silent });
  // Loading takes longer than these 5 ms: the answer is by bytes.
  expect(await late.count(["hello world hello world"])).toBe(8);
  late.stop();
});

test("once stopped, what waits is settled by bytes, and so is what comes after", async () => {
  const ending = counterApart({ clock: realClock(), log: silent });
  const waiting = ending.count(["hello world hello world"]);
  ending.stop();
  expect(await waiting).toBe(8);
  expect(await ending.count(["hello world hello world"])).toBe(8);
});
