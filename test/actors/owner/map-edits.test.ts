// Edits of maps: what the mixed syntax and limits in each of their spellings mean, what is refused and why, and what comes
// of them when they meet a map.

import { describe, expect, test } from "bun:test";
import {
  editLevelMapper,
  editModelFailover,
  editModelLimits,
  editModelMapper,
  editSwitchOver,
  parseModelLimits,
} from "../../../actors/owner/map-edit-parsers.ts";
import { applyEdits, type MapEdits } from "../../../actors/owner/map-edits.ts";
import { faultOfMap } from "../../../actors/owner/map-parsers.ts";
import type { ParseResult } from "../../../actors/pattern.ts";

const TEXTS = {
  ModelMapper: editModelMapper,
  LevelMapper: editLevelMapper,
  SwitchOver: editSwitchOver,
  ModelFailover: editModelFailover,
};
type Name = keyof typeof TEXTS;

const said = (read: ParseResult<unknown>): string => (read.ok ? "" : read.message);
const taken = <T>(read: ParseResult<T>): T => {
  if (!read.ok) throw new Error(read.message);
  return read.value;
};

describe("the mixed syntax", () => {
  test.each<[Name, string, readonly (readonly [string, unknown])[]]>([
    [
      "ModelMapper",
      "a=b, -c, d*=e",
      [
        ["a", "b"],
        ["c", null],
        ["d*", "e"],
      ],
    ],
    ["ModelMapper", "", []],
    ["ModelMapper", " , ", []],
    ["ModelMapper", "-*", [["*", null]]],
    [
      "ModelMapper",
      "a=b,-a",
      [
        ["a", "b"],
        ["a", null],
      ],
    ],
    [
      "LevelMapper",
      "gpt*=-2, -o1",
      [
        ["gpt*", -2],
        ["o1", null],
      ],
    ],
    [
      "SwitchOver",
      "01=2, -3, --4",
      [
        ["1", 2],
        ["3", null],
        ["-4", null],
      ],
    ],
    [
      "ModelFailover",
      "a=b | c, -d",
      [
        ["a", ["b", "c"]],
        ["d", null],
      ],
    ],
  ])("%s %j", (name, text, changes) => {
    expect(TEXTS[name](text) as unknown).toEqual({
      ok: true,
      value: { clear: false, changes: changes.map(([pattern, value]) => ({ pattern, value })) },
    });
  });

  test.each<[Name, string, string]>([
    ["ModelMapper", "a", "neither"],
    ["ModelMapper", "*", "neither"],
    ["ModelMapper", "-", "neither"],
    ["ModelMapper", "a=gpt*", '"a" must lead to one model'],
    ["ModelMapper", "-__proto__", "no name"],
    ["LevelMapper", "a=b", '"a" must lead to a Level'],
    ["SwitchOver", "1=1", "itself"],
    ["SwitchOver", "-gpt", "no Level"],
    ["ModelFailover", "a=b|a", "itself"],
    ["ModelFailover", "a=b|b", "twice"],
    ["ModelMapper", Array.from({ length: 1_025 }, (_, i) => `-m${i}`).join(), "1024"],
    ["ModelMapper", " ".repeat(131_073), "131072"],
  ])("%s %.40j is refused: %s", (name, text, why) => {
    expect(said(TEXTS[name](text))).toContain(why);
  });
});

describe("limits of models", () => {
  const SET = { pattern: "gpt-4o", value: { rpm: 5, tpd: 0 } };

  test.each<[unknown, MapEdits<object>]>([
    [{ " gpt-4o ": { rpm: 5, tpd: 0 } }, { clear: false, changes: [SET] }],
    ['{"gpt-4o":{"rpm":5,"tpd":0}}', { clear: false, changes: [SET] }],
    ["{}", { clear: false, changes: [] }],
    ["", { clear: false, changes: [] }],
    ["*", { clear: true, changes: [] }],
    [
      "-a, - b* ",
      {
        clear: false,
        changes: [
          { pattern: "a", value: null },
          { pattern: "b*", value: null },
        ],
      },
    ],
    ["-a,*", { clear: true, changes: [] }],
    ["*,-a", { clear: true, changes: [{ pattern: "a", value: null }] }],
  ])("as edits, %j", (given, value) => {
    expect(editModelLimits(given)).toEqual({ ok: true, value });
  });

  test.each<[unknown, MapEdits<object>]>([
    [{ "gpt-4o": { rpm: 5, tpd: 0 } }, { clear: false, changes: [SET] }],
    ['{"gpt-4o":{"rpm":5,"tpd":0}}', { clear: true, changes: [SET] }],
    ["", { clear: true, changes: [] }],
    [" ", { clear: true, changes: [] }],
    ["{}", { clear: true, changes: [] }],
    [{}, { clear: false, changes: [] }],
  ])("as a setting a text replaces and an object merges: %j", (given, value) => {
    expect(parseModelLimits(given)).toEqual({ ok: true, value });
  });

  const BOTH: readonly (readonly [unknown, string])[] = [
    [7, "object of models"],
    [null, "object of models"],
    [[], "object of models"],
    ["{", "object of models"],
    ['{"a":', "object of models"],
    [{ "": { rpm: 1 } }, "empty"],
    ['{"__proto__":{"rpm":1}}', "no name"],
    [{ "a,b": { rpm: 1 } }, "comma"],
    [{ a: null }, '"a" must lead to an object of rpm'],
    [{ a: 5 }, '"a" must lead to an object of rpm'],
    [{ a: [] }, '"a" must lead to an object of rpm'],
    [{ a: { RPM: 1 } }, '"RPM", which is none of rpm'],
    [{ a: { rpm: -1 } }, "rpm, which must be an integer"],
    [{ a: { rpm: 1.5 } }, "rpm, which must be an integer"],
    [{ a: { tpd: "5" } }, "tpd, which must be an integer"],
    [{ a: { rpm: 1e300 } }, "rpm, which must be an integer"],
    [Object.fromEntries(Array.from({ length: 1_025 }, (_, i) => [`m${i}`, {}])), "1024"],
    [" ".repeat(131_073), "131072"],
  ];
  test.each(BOTH)("%.60j is refused: %s", (given, why) => {
    expect(said(editModelLimits(given))).toContain(why);
    expect(said(parseModelLimits(given))).toContain(why);
  });

  test.each([
    ["gpt-4o", "neither * nor -model"],
    ["-", "empty"],
    [Array.from({ length: 1_025 }, (_, i) => `-m${i}`).join(), "1024"],
  ])("%.20j is no edit: %s", (given, why) => {
    expect(said(editModelLimits(given))).toContain(why);
  });

  test.each(["*", "-gpt-4o", "gpt-4o"])("%j is no setting", (given) => {
    expect(said(parseModelLimits(given))).toContain("object of models");
  });
});

describe("applied to a map", () => {
  const MAP = { a: "1", b: "2" };

  test.each<[string, object]>([
    ["c=3", { a: "1", b: "2", c: "3" }],
    ["a=9", { a: "9", b: "2" }],
    ["-a", { b: "2" }],
    ["-x", MAP],
    ["a=5,-a", { b: "2" }],
    ["-a,a=5", { a: "5", b: "2" }],
    ["", MAP],
  ])("%j", (text, map) => {
    expect(applyEdits(MAP, taken(editModelMapper(text)))).toEqual(map as Record<string, string>);
    expect(MAP).toEqual({ a: "1", b: "2" });
  });

  const LIMITS = { a: { rpm: 1, tpm: 2 }, b: { rpm: 3 } };
  test.each<[unknown, object]>([
    [{ a: { rpm: 9 } }, { a: { rpm: 9, tpm: 2 }, b: { rpm: 3 } }],
    [{ c: { rpd: 9 } }, { ...LIMITS, c: { rpd: 9 } }],
    [{ a: {} }, LIMITS],
    ["-a", { b: { rpm: 3 } }],
    ["*", {}],
  ])("limits merge figure by figure: %j", (given, map) => {
    expect(applyEdits<object>(LIMITS, taken(editModelLimits(given)))).toEqual(map as Record<string, object>);
  });

  test("a setting that is a text drops what it does not name", () => {
    expect(applyEdits<object>(LIMITS, taken(parseModelLimits('{"a":{"rpd":4}}')))).toEqual({ a: { rpd: 4 } });
  });

  test("a list of backups takes the place of the former one", () => {
    expect(applyEdits({ a: ["b", "c"] }, taken(editModelFailover("a=d")))).toEqual({ a: ["d"] });
  });

  test("a pattern may be called like what every object has", () => {
    expect(applyEdits({}, taken(editModelMapper("constructor=a,-toString")))).toEqual({ constructor: "a" });
  });
});

describe("a map as a whole", () => {
  const many = (count: number, of: (i: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [of(i), "m"]));

  test("has at most 1024 entries, or so many times more", () => {
    expect(faultOfMap(many(1_024, (i) => `${i}`))).toBeNull();
    expect(faultOfMap(many(1_025, (i) => `${i}`))).toContain("1024 entries");
    expect(
      faultOfMap(
        many(4_096, (i) => `${i}`),
        4,
      ),
    ).toBeNull();
    expect(
      faultOfMap(
        many(4_097, (i) => `${i}`),
        4,
      ),
    ).toContain("4096 entries");
  });

  test("has at most 131072 characters, of names and of what they lead to", () => {
    const of = (length: number) => many(512, (i) => String(i).padStart(length, "p"));
    expect(faultOfMap(of(255))).toBeNull();
    expect(faultOfMap({ ...of(255), x: "" })).toContain("131072 characters");
    expect(faultOfMap({ a: [`${"m".repeat(131_067)}`] })).toBeNull();
    expect(faultOfMap({ a: [`${"m".repeat(131_068)}`] })).toContain("131072 characters");
    expect(faultOfMap({ ...of(255), x: "" }, 4)).toBeNull();
  });
});
