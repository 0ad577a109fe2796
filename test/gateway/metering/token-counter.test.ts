// Estimates never too low for plain text, counts that agree with the tokenizer, and a loop that nobody stalls.

import { beforeAll, describe, expect, test } from "bun:test";
import { realClock } from "../../../src/base/clock.ts";
import { createCounter, estimateTokens } from "../../../src/gateway/metering/token-counter.ts";
import { WorkCounter, workOf } from "../../work-counter/work-counter.ts";

const counter = createCounter({ clock: realClock() });
beforeAll(() => counter.count(["warm"]));

const ENGLISH = "The quick brown fox jumps over the lazy dog, and then it reads a book. ";

describe("an estimate", () => {
  test("is a third of the bytes, rounded up", () => expect(estimateTokens({ bytes: 10 })).toBe(4));
  test("has fixed sums for images and files", () => {
    expect(estimateTokens({ bytes: 0, images: 2, files: 1 })).toBe(13_200);
  });
  test("is not below the count of plain text", async () => {
    const text = ENGLISH.repeat(20);
    expect(estimateTokens({ bytes: text.length })).toBeGreaterThanOrEqual(await counter.count([text]));
  });
});

describe("a count", () => {
  test("of short texts is the tokenizer's, and the texts add up", async () => {
    expect(await counter.count(["hello world"])).toBe(2);
    expect(await counter.count(["hello world", "", "hello"])).toBe(3);
    expect(await counter.count([])).toBe(0);
  });
  test("of long prose is the tokenizer's, since it is cut before spaces", async () => {
    const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
    const text = ENGLISH.repeat(200);
    expect(await counter.count([text])).toBe(countTokens(text));
  });
  test("takes special tokens as text", async () => {
    expect(await counter.count(["<|endoftext|>"])).toBeGreaterThan(1);
  });
  test("takes half characters and mixed scripts", async () => {
    expect(await counter.count(["\ud83d", "👍🏽".repeat(300), `a${"👍".repeat(300)}`])).toBeGreaterThan(0);
  });
  test("beyond two million characters is extrapolated from slices of the whole", async () => {
    let asked = 0;
    const sampling = createCounter({
      clock: realClock(),
      load: async () => (slice) => {
        asked += slice.length;
        return slice.startsWith("a") ? slice.length : slice.length / 10;
      },
    });
    const tokens = await sampling.count(["a".repeat(4_000_000), "b".repeat(4_000_000)]);
    expect(asked).toBeLessThan(2_010_000);
    expect(Math.abs(tokens / 4_400_000 - 1)).toBeLessThan(0.01);
  });
  test("goes once over a text that stands in it many times", async () => {
    let asked = 0;
    const counting = createCounter({
      clock: realClock(),
      load: async () => (slice) => {
        asked += slice.length;
        return slice.length;
      },
    });
    const text = "a".repeat(1_000);
    expect(await counting.count([text, "bc", ...new Array(10_000).fill(text)])).toBe(10_001_002);
    expect(asked).toBe(1_002);
  });
  test("that fails does not stop those after it", async () => {
    let failing = true;
    const shaky = createCounter({
      clock: realClock(),
      load: async () => () => {
        if (failing) throw new Error("broken");
        return 1;
      },
    });
    await expect(shaky.count(["a"])).rejects.toThrow("broken");
    failing = false;
    expect(await shaky.count(["a"])).toBe(1);
  });
});

/** The tokenizer's own work on one slice: elements that its merging moves. A slice of spaces alone takes most. */
const SLICE_MOVES_MAX = 1_000 ** 2;
/** What the counter may do between two pauses: its 2 ms, as the clock below has them, and the slice that it is at. */
const TURN_MOVES_MAX = 100_000 + SLICE_MOVES_MAX;

/** The most that the tokenizer did between two pauses, by a clock on which 50,000 moves take a millisecond. */
async function longestTurn(texts: readonly string[], times = 1): Promise<number> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const asText = { disallowedSpecial: new Set<string>() };
  let all = 0;
  let turn = 0;
  let moves = 0;
  const counting = createCounter({
    clock: { ...realClock(), mono: () => all / 50_000 },
    load: async () => (slice) => {
      let tokens = 0;
      const { moved, lookups } = workOf(() => {
        tokens = countTokens(slice, asText);
      });
      all += moved + lookups;
      turn += moved + lookups;
      moves = Math.max(moves, turn);
      return tokens;
    },
    pause: async () => {
      turn = 0;
    },
  });
  await Promise.all(Array.from({ length: times }, () => counting.count(texts)));
  return moves;
}

describe("the loop is never held for long by", () => {
  // biome-ignore format: a table
  const TEXTS: readonly (readonly [string, string])[] = [
    ["100 KB of one letter", "a".repeat(100_000)],
    ["100 KB of Thai without spaces", Array.from({ length: 33_000 }, (_, i) => String.fromCharCode(0xe01 + ((i * 7) % 46))).join("")],
    ["100 KB of Chinese without spaces", Array.from({ length: 33_000 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 37) % 9_000))).join("")],
    ["100 KB of random letters", Array.from({ length: 100_000 }, (_, i) => String.fromCharCode(97 + ((i * i * 31 + i * 7) % 26))).join("")],
    ["100 KB of line feeds", "\n".repeat(100_000)],
    ["100 KB of spaces", " ".repeat(100_000)],
    ["200 KB of prose", ENGLISH.repeat(2_800)],
  ];
  test.each(TEXTS)("%s", async (_what, text) => {
    expect(await longestTurn([text])).toBeLessThan(TURN_MOVES_MAX);
  });

  test("fifty counts at once", async () => {
    expect(await longestTurn(["b".repeat(5_000)], 50)).toBeLessThan(TURN_MOVES_MAX);
  });

  test("the cutting of a text without spaces, whose rest is not searched for each slice", async () => {
    const counter = createCounter({ clock: realClock(), load: async () => () => 1, pause: async () => {} });
    const text = "a".repeat(1_000_000);
    const searching = new WorkCounter();
    searching.begin();
    try {
      await counter.count([text]);
    } finally {
      searching.end();
    }
    expect(searching.work.text).toBeLessThan(12 * text.length);
  });
});
