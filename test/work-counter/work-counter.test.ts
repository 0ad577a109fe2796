// The counters of work: steps that grow with the text as the engine's do, the same matches as the engine's, and every native
// as it was afterwards.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Matching } from "./matching.ts";
import { stepsOf, WorkCounter, workOf } from "./work-counter.ts";

const PATTERNS: readonly RegExp[] = [
  /a+b/,
  /^(.+?)\.ft-[\w-]+$/,
  /(?<!\d)(\d{1,2})-(?=\d{1,2}(?:-|$))/g,
  /-(?<y>20\d\d)-(?<m>0[1-9]|1[0-2])$/,
  /\b(?:[a-z0-9-]{1,3}\.){1,2}(?:ab|ba)\b(?:[:/][^\s'"]{0,20})?/gi,
  /^((the|a) )*b\b[\s/:]*([`'"]?[^\s`'"/:][^\s`'"]*[`'"]?,? *)?(was |is )?not (a|b)/i,
  /\p{Cc}+/gu,
  /(a*)*b/,
  /(?:a|ab)(?:c|bcd)?/,
  /\r\n|\n|\r/,
  /x{2,}?y/,
  /(?<=a)b|[^\w.]/u,
  /./su,
];

describe("the counting matcher", () => {
  test.each(PATTERNS.map((pattern) => [String(pattern), pattern] as const))(
    "matches as the engine does: %s",
    (_, pattern) => {
      const piece = fc.constantFrom(
        ..."ab01.-/: '\n\r\u0000xycdé👋",
        "ft-",
        "the ",
        "not ",
        "is ",
        "2024-11",
        "b",
      );
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
          const text = pieces.join("");
          const own = new RegExp(pattern.source, pattern.flags.replace("g", ""));
          const native = own.exec(text);
          const match = native === null ? null : [native.index, native.index + native[0].length];
          expect(new Matching(own).search(text, 0, false).match as unknown).toEqual(match);
        }),
        { numRuns: 300 },
      );
    },
  );

  test.each([/(a)\1/, /[[a-z]&&[aeiou]]/v, /(?i:a)/])("refuses what it does not know: %s", (pattern) => {
    expect(() => new Matching(pattern)).toThrow();
  });

  test("takes ever more steps where the engine goes back and forth, and few where it does not", () => {
    const steps = (pattern: RegExp, count: number) =>
      new Matching(pattern).search("a".repeat(count), 0, false).steps;
    expect(steps(/a*c/, 2_000) / steps(/a*c/, 1_000)).toBeGreaterThan(3.9);
    expect(steps(/(a*)*c/, 18) / steps(/(a*)*c/, 16)).toBeGreaterThan(3.5);
    expect(steps(/^a*c/, 2_000) / steps(/^a*c/, 1_000)).toBeLessThan(2.1);
  });
});

describe("work", () => {
  const A = "a".repeat(1_000);

  test.each<[string, () => void, number]>([
    ["a search in a text", () => A.indexOf("b"), 1_000],
    ["a search that goes back and forth", () => A.indexOf(`${"a".repeat(99)}b`), 90_100],
    ["every character", () => Array.from(A, (_, i) => A.charCodeAt(i)), 1_000],
    ["a copy of bytes", () => new Uint8Array(1_000).slice(10), 990],
    ["a search in bytes", () => new Uint8Array(1_000).indexOf(1, 10), 990],
    ["bytes put elsewhere", () => new Uint8Array(1_000).set(new Uint8Array(10)), 10],
    ["a parse", () => JSON.parse("[1]"), 3],
    ["a table", () => new Map().get(1), 1],
    ["lists that move", () => [1, 2, 3].splice(0, 1), 3],
  ])("of %s is counted", (_, does, steps) => {
    expect(stepsOf(does)).toBe(steps);
  });

  test.each<[string, (pattern: RegExp) => unknown]>([
    ["exec", (pattern) => pattern.exec(A)],
    ["test", (pattern) => pattern.test(A)],
    ["match", (pattern) => A.match(pattern)],
    ["replace", (pattern) => A.replace(pattern, "")],
    ["split", (pattern) => A.slice(0, 100).split(pattern)],
  ])("of a pattern is counted, asked by %s", (_, does) => {
    expect(workOf(() => void does(/a*c/)).matching).toBeGreaterThan(5_000);
  });

  test("is counted in loops that the engine has compiled, too", () => {
    const search = () => A.indexOf("b") + A.charCodeAt(3) + (/ab/.test(A) ? 1 : 0);
    for (let i = 0; i < 100_000; i++) search();
    const { text, matching } = workOf(() => void search());
    expect([text, matching >= 1_000]).toEqual([1_001, true]);
  });

  test("leaves every native as it was, also when it throws", () => {
    const natives = () => [
      ...Object.values(Object.getOwnPropertyDescriptors(String.prototype)).map(({ value }) => value),
      ...[RegExp.prototype.exec, JSON.parse, Map.prototype.get, Array.prototype.splice],
      ...[Uint8Array.prototype.slice, TextDecoder.prototype.decode],
    ];
    const before = natives();
    expect(() =>
      workOf(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    const counter = new WorkCounter();
    counter.begin();
    counter.end();
    expect(natives().every((one, i) => one === before[i])).toBe(true);
  });
});
