// Spellings of a name: one for most, those of older accounts for the others, and never more than a few.

import { describe, expect, test } from "bun:test";
import { composed, spellingsOf } from "../../actors/account-name.ts";

describe("spellings", () => {
  test("of a name without marks there is one, in lower case", () => {
    expect(spellingsOf("Team Blue & Co.")).toEqual(["team blue & co."]);
    expect(spellingsOf("\u65e5\u672c")).toEqual(["\u65e5\u672c"]);
  });

  test("the one that is given goes first, then NFC", () => {
    expect(spellingsOf("JOSE\u0301")).toEqual(["jose\u0301", "jos\u00e9"]);
    expect(spellingsOf("Jos\u00e9")).toEqual(["jos\u00e9", "jose\u0301"]);
  });

  test("each character may be composed or not", () => {
    expect([...spellingsOf("\u00e4\u00f6")].sort()).toEqual(
      ["\u00e4\u00f6", "\u00e4o\u0308", "a\u0308\u00f6", "a\u0308o\u0308"].sort(),
    );
  });

  test("of very many marks only the whole forms are tried", () => {
    const name = "\u00e4".repeat(63);
    expect(spellingsOf(name)).toEqual([name, "a\u0308".repeat(63)]);
  });

  test("of syllables that are composed of letters", () => {
    expect(spellingsOf("\ud55c\uae00")).toEqual(["\ud55c\uae00", "\ud55c\uae00".normalize("NFD")]);
  });

  test("all are the same name", () => {
    for (const name of [
      "\u1ebf \u1ea5 o\u0308",
      "\u0130stanbul",
      "\u212bngstr\u00f6m",
      "\u03a3\u03af\u03c3",
    ]) {
      const names = spellingsOf(name).map((one) => composed(one).toLowerCase());
      expect(new Set(names)).toEqual(new Set([composed(name).toLowerCase()]));
    }
  });
});
