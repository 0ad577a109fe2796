// The textual form of tags: what is a tag, what is refused and why.

import { describe, expect, test } from "bun:test";
import { isUntagged, mergeTags, parseTags } from "../../actors/tags.ts";

describe("tags", () => {
  test.each([
    ["", {}],
    ["  ", {}],
    ["team=search", { team: "search" }],
    ["team=search,env=prod", { team: "search", env: "prod" }],
    [" team = search , env = prod ", { team: "search", env: "prod" }],
    ["a.b-c_9=x y", { "a.b-c_9": "x y" }],
    ["__proto__=x", JSON.parse('{"__proto__":"x"}')],
    [
      Array.from({ length: 8 }, (_, i) => `n${i}=v`).join(","),
      Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`n${i}`, "v"])),
    ],
    [`${"n".repeat(32)}=${"v".repeat(64)}`, { ["n".repeat(32)]: "v".repeat(64) }],
  ])("%j is read", (text, tags) => expect(parseTags(text)).toEqual(tags));

  test.each([
    ["team", "NAME=VALUE"],
    ["team=", "a value is"],
    ["=x", "a name is"],
    ["Team=x", "a name is"],
    ["team=a=b", "a value is"],
    ["team=é", "a value is"],
    ["team=a\tb", "a value is"],
    ["a=1,a=2", "twice"],
    ["a=1,,b=2", "NAME=VALUE"],
    ["team=(other)", "(other)"],
    ["team=(none)", "(none)"],
    [`${"n".repeat(33)}=v`, "a name is"],
    [`n=${"v".repeat(65)}`, "a value is"],
    [Array.from({ length: 9 }, (_, i) => `n${i}=v`).join(","), "at most 8 pairs"],
  ])("%j is refused", (text, why) => expect(parseTags(text)).toContain(why));
});

describe("the tags of a request", () => {
  test("are its key's, which the header adds to and overrides", () => {
    expect(mergeTags({ team: "search", env: "test" }, { env: "prod", user: "7" })).toEqual({
      team: "search",
      env: "prod",
      user: "7",
    });
  });

  test("are the header's where the key has none", () => {
    const tags = { team: "search" };
    expect(mergeTags(undefined, tags)).toBe(tags);
    expect([isUntagged(mergeTags(undefined, {})), isUntagged(mergeTags({ a: "1" }, {}))]).toEqual([
      true,
      false,
    ]);
  });

  test("may be named as no other object's fields are", () => {
    const proto = JSON.parse('{"__proto__":"x"}');
    expect(Object.keys(mergeTags(proto, { a: "1" }))).toEqual(["__proto__", "a"]);
    expect(Object.keys(mergeTags({ a: "1" }, proto))).toEqual(["a", "__proto__"]);
  });
});
