// The maps of a configuration: what each entry may say, in both spellings, the bounds of the whole, and that hostile
// names and values are refused with a word that helps.

import { describe, expect, test } from "bun:test";
import {
  readLevelMapper,
  readModelFailover,
  readModelMapper,
  readResources,
  readSwitchOver,
} from "../../../actors/owner/map-parsers.ts";
import type { ParseResult } from "../../../actors/pattern.ts";

const READERS = {
  MODEL_MAPPER: readModelMapper,
  LEVEL_MAPPER: readLevelMapper,
  SWITCH_OVER: readSwitchOver,
  MODEL_FAILOVER: readModelFailover,
};
type Name = keyof typeof READERS;

/** Why it is refused; nothing when it is taken. */
const said = (read: ParseResult<unknown>): string => (read.ok ? "" : read.message);

describe("is read, from text or object:", () => {
  test.each<[Name, unknown, object]>([
    ["MODEL_MAPPER", " gpt-4* = gpt-4o , a=b ", { "gpt-4*": "gpt-4o", a: "b" }],
    ["MODEL_MAPPER", { " gpt-4* ": " gpt-4o " }, { "gpt-4*": "gpt-4o" }],
    ["MODEL_MAPPER", "a=b,a=c", { a: "c" }],
    ["MODEL_MAPPER", "a=a", { a: "a" }],
    ["MODEL_MAPPER", "a=b=c", { a: "b=c" }],
    ["MODEL_MAPPER", "", {}],
    ["MODEL_MAPPER", " , ", {}],
    ["MODEL_MAPPER", {}, {}],
    ["MODEL_MAPPER", { constructor: "toString" }, { constructor: "toString" }],
    ["LEVEL_MAPPER", "gpt*=2,o1=-3", { "gpt*": 2, o1: -3 }],
    ["LEVEL_MAPPER", { "gpt*": 2, o1: "-3" }, { "gpt*": 2, o1: -3 }],
    ["LEVEL_MAPPER", "a=007,b=-0", { a: 7, b: 0 }],
    ["SWITCH_OVER", "1=2, 2 = 3", { "1": 2, "2": 3 }],
    ["SWITCH_OVER", { "1": 2, "-2": 3 }, { "1": 2, "-2": 3 }],
    ["SWITCH_OVER", "01=2,-0=1", { "1": 2, "0": 1 }],
    ["SWITCH_OVER", "1=2,2=1", { "1": 2, "2": 1 }],
    ["MODEL_FAILOVER", "a=b|c | d, e*=f", { a: ["b", "c", "d"], "e*": ["f"] }],
    ["MODEL_FAILOVER", { a: ["b", " c "], "e*": ["eggs"] }, { a: ["b", "c"], "e*": ["eggs"] }],
    ["MODEL_FAILOVER", { a: "b|c" }, { a: ["b", "c"] }],
  ])("%s %j", (name, given, value) => {
    expect(READERS[name](given) as unknown).toEqual({ ok: true, value });
  });
});

const words = (count: number, of: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => of(i)).join();

describe("is refused, and the message says why:", () => {
  test.each<[Name, unknown, string]>([
    ["MODEL_MAPPER", "a", "neither"],
    ["MODEL_MAPPER", "-a", "deletes"],
    ["MODEL_MAPPER", "=b", "neither"],
    ["MODEL_MAPPER", "a=gpt*", "one model"],
    ["MODEL_MAPPER", "a=b|c", "one model"],
    ["MODEL_MAPPER", { a: "b,c" }, "one model"],
    ["MODEL_MAPPER", { "a,b": "c" }, "comma"],
    ["MODEL_MAPPER", { "a=b": "c" }, "equals"],
    ["MODEL_MAPPER", { "": "c" }, "empty"],
    ["MODEL_MAPPER", { " ": "c" }, "empty"],
    ["MODEL_MAPPER", { a: "" }, "empty"],
    ["MODEL_MAPPER", { a: 1 }, "name of a model"],
    ["MODEL_MAPPER", { a: null }, "name of a model"],
    ["MODEL_MAPPER", { a: ["b"] }, "name of a model"],
    ["MODEL_MAPPER", "x=__proto__", "no name"],
    ["MODEL_MAPPER", JSON.parse('{"__proto__":"x"}'), "no name"],
    ["MODEL_MAPPER", { "a\ud800": "x" }, "no name"],
    ["MODEL_MAPPER", { a: "\ud800" }, "no name"],
    ["MODEL_MAPPER", { ["x".repeat(257)]: "a" }, "256"],
    ["MODEL_MAPPER", { a: "x".repeat(257) }, "256"],
    ["MODEL_MAPPER", `a=${"x".repeat(257)}`, "256"],
    ["MODEL_MAPPER", ["a=b"], "text or an object"],
    ["MODEL_MAPPER", null, "text or an object"],
    ["MODEL_MAPPER", 7, "text or an object"],
    ["LEVEL_MAPPER", "a=x", "integer"],
    ["LEVEL_MAPPER", "a=1.5", "integer"],
    ["LEVEL_MAPPER", "a=1e3", "integer"],
    ["LEVEL_MAPPER", "a=0x1", "integer"],
    ["LEVEL_MAPPER", "a=9999999999", "integer"],
    ["LEVEL_MAPPER", "a=--1", "integer"],
    ["LEVEL_MAPPER", { a: 1.5 }, "integer"],
    ["LEVEL_MAPPER", { a: 1e300 }, "integer"],
    ["LEVEL_MAPPER", { a: true }, "integer"],
    ["LEVEL_MAPPER", { a: [1] }, "integer"],
    ["SWITCH_OVER", "a=1", "no Level"],
    ["SWITCH_OVER", "*=1", "no Level"],
    ["SWITCH_OVER", { "1.5": 1 }, "no Level"],
    ["SWITCH_OVER", "1=b", "integer"],
    ["SWITCH_OVER", "1=1", "itself"],
    ["SWITCH_OVER", "1=01", "itself"],
    ["SWITCH_OVER", { "-1": -1 }, "itself"],
    ["MODEL_FAILOVER", "a=a", "itself"],
    ["MODEL_FAILOVER", "a=b|a", "itself"],
    ["MODEL_FAILOVER", "a=b|c|b", "twice"],
    ["MODEL_FAILOVER", "a=b||c", "empty"],
    ["MODEL_FAILOVER", "a=b|gpt*", "one model"],
    ["MODEL_FAILOVER", { a: [] }, "list"],
    ["MODEL_FAILOVER", { a: {} }, "list"],
    ["MODEL_FAILOVER", { a: ["b", 1] }, "name of a model"],
    ["MODEL_FAILOVER", { a: ["b|c"] }, "one model"],
    ["MODEL_FAILOVER", { a: Array.from({ length: 17 }, (_, i) => `m${i}`) }, "16"],
  ])("%s %j: %s", (name, given, why) => {
    expect(said(READERS[name](given))).toContain(why);
  });

  test("and it stays short, whatever was given", () => {
    const long = "x".repeat(100_000);
    for (const read of Object.values(READERS)) {
      for (const given of [long, `${long}=1`, `1=${long}`, { [long]: long }, { "1": [long] }]) {
        expect(said(read(given)).length).toBeWithin(10, 400);
      }
    }
  });
});

describe("bounds:", () => {
  test("16 backups of one model are taken", () => {
    const list = Array.from({ length: 16 }, (_, i) => `m${i}`);
    expect(readModelFailover({ a: list })).toEqual({ ok: true, value: { a: list } });
  });

  test("a name may have 256 characters", () => {
    expect(readModelMapper({ ["x".repeat(256)]: "y".repeat(256) }).ok).toBe(true);
  });

  test.each([
    ["text", (count: number) => words(count, (i) => `p${i}=m`)],
    [
      "object",
      (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, "m"])),
    ],
  ])("1024 entries are taken as %s, and not one more", (_spelling, given) => {
    expect(readModelMapper(given(1_024)).ok).toBe(true);
    expect(said(readModelMapper(given(1_025)))).toContain("1024");
  });

  test.each([
    ["text", words(520, (i) => `${"p".repeat(250)}${i}=m`)],
    [
      "object",
      Object.fromEntries(Array.from({ length: 520 }, (_, i) => [`${"p".repeat(250)}${i}`, "m".repeat(20)])),
    ],
  ])("128 KB of names are the most, as %s", (_spelling, given) => {
    expect(said(readModelMapper(given))).toContain("131072");
  });
});

describe("RESOURCES", () => {
  test.each<[unknown, readonly string[]]>([
    ["/v1/chat/*, /v1/models\n/v1/chat/*", ["/v1/chat/*", "/v1/models"]],
    [{ "/v1/messages": {} }, ["/v1/messages"]],
    ["", []],
  ])("%j", (given, paths) => {
    expect(readResources(given)).toEqual({ ok: true, value: paths });
  });

  test.each<[unknown, string]>([
    ["/v1/chat,/v2/chat", "/v2/chat"],
    ["chat", "chat"],
    ["/v1/a?b", "/v1/a?b"],
    [{ "/x-users": {} }, "/x-users"],
    [["/v1/chat"], "text or an object"],
    [Array.from({ length: 1_025 }, (_, i) => `/v1/${i}`).join(), "1024"],
  ])("%j is refused and says why", (given, why) => {
    expect(readResources(given)).toEqual({ ok: false, message: expect.stringContaining(why) });
  });
});
