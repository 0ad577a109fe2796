// The textual form of tags: what is a tag, what is refused and why.

import { describe, expect, test } from "bun:test";
import { parseTags } from "../../actors/tags.ts";

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
