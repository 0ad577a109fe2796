// The token counter in its own thread: same counts, the loop stays free, and an answer comes whatever happens there.

import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { silent } from "../../../src/base/log.ts";
import { createTokenWorkerPool } from "../../../src/gateway/metering/token-worker-pool.ts";
import { WorkCounter } from "../../work-counter/work-counter.ts";

const SOURCES = join(import.meta.dir, "../../../src");

const counter = createTokenWorkerPool({ clock: realClock(), log: silent });
afterAll(() => counter.stop());

test("the first count is made elsewhere: the tokenizer is never loaded in the thread that asks", async () => {
  // In a process of its own: other tests of this one count for themselves.
  const program = `
    const { createTokenWorkerPool } = await import(${JSON.stringify(join(SOURCES, "gateway/metering/token-worker-pool.ts"))});
    const { realClock } = await import(${JSON.stringify(join(SOURCES, "base/clock.ts"))});
    const counter = createTokenWorkerPool({ clock: realClock(), log: () => {} });
    const tokens = await counter.count(["hello world", "a".repeat(100_000)]);
    const loaded = Object.keys(require.cache);
    console.log(JSON.stringify({
      tokens,
      counter: loaded.some((path) => path.endsWith("token-worker-pool.ts")),
      tokenizer: loaded.filter((path) => path.includes("gpt-tokenizer")),
    }));
    counter.stop();`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(JSON.parse(`${stdout}` || `{"error":${JSON.stringify(`${stderr}`)}}`)).toEqual({
    tokens: 12_802,
    counter: true,
    tokenizer: [],
  });
});

test("the loop of the thread that asks only hands the texts over", async () => {
  const text = "a".repeat(100_000);
  await counter.count(["warm"]);
  const asking = new WorkCounter();
  asking.begin();
  let tokens: number;
  try {
    tokens = await counter.count([text]);
  } finally {
    asking.end();
  }
  expect(tokens).toBe(12_800);
  const { text: characters, bytes, matching, moved } = asking.work;
  expect(characters + bytes + matching + moved).toBeLessThan(1_000);
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
  const after = (_ms: number, fn: () => void) => {
    // Before anything that another thread says.
    queueMicrotask(fn);
    return () => {};
  };
  const late = createTokenWorkerPool({ clock: { ...clock, after }, log: silent });
  expect(await late.count(["hello world hello world"])).toBe(8);
  late.stop();
});

test("once stopped, what waits is settled by bytes, and so is what comes after", async () => {
  const ending = createTokenWorkerPool({ clock: realClock(), log: silent });
  const waiting = ending.count(["hello world hello world"]);
  ending.stop();
  expect(await waiting).toBe(8);
  expect(await ending.count(["hello world hello world"])).toBe(8);
});
