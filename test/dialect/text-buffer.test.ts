// What is kept of a running answer's text: all of a short one, a sample spread evenly over a long one, and never the text
// that a piece was cut from.

import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { TEXT_CHARS_MAX, TextBuffer } from "../../src/dialect/text-buffer.ts";

test("a text below the bound is kept as it was, however it came", () =>
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 3_000 }), { maxLength: 60 }), (added) => {
      const pieces = new TextBuffer();
      for (const one of added) pieces.add(one);
      const all = added.join("");
      expect(pieces.texts().join("")).toBe(all);
      expect(pieces.texts().length).toBe(all === "" ? 0 : 1);
      expect(pieces.chars).toBe(all.length);
    }),
  ));

test.each([1, 100, 70_000])("of a long text, by pieces of %p, a sample is kept from all of it", (size) => {
  const pieces = new TextBuffer();
  // Ten letters, a tenth of the text each.
  for (const letter of "abcdefghij") {
    const tenth = letter.repeat(300_000);
    for (let at = 0; at < tenth.length; at += size) pieces.add(tenth.slice(at, at + size));
  }
  const kept = pieces.texts().join("");
  expect(pieces.chars).toBe(3_000_000);
  expect(kept.length).toBeWithin(TEXT_CHARS_MAX / 3, TEXT_CHARS_MAX + 5_000);
  for (const letter of "abcdefghij") {
    expect(kept.split(letter).length / kept.length).toBeWithin(0.06, 0.14);
  }
});

test("a piece does not keep alive the text that it was cut from", () => {
  Bun.gc(true);
  const before = heapStats().extraMemorySize;
  const kept = Array.from({ length: 10 }, () => {
    const pieces = new TextBuffer();
    for (let i = 0; i < 200; i++) {
      const event = Buffer.alloc(65_536, 97 + (i % 26)).toString("latin1");
      pieces.add(event.slice(100, 110));
      pieces.add(event.slice(200, 4_000));
    }
    return pieces;
  });
  Bun.gc(true);
  const bytes = heapStats().extraMemorySize - before;
  expect(kept[0]!.chars).toBe(200 * 3_810);
  // The sample, its newest block, and the few pieces that were not joined yet.
  expect(bytes / kept.length).toBeLessThan(1_000_000);
});
