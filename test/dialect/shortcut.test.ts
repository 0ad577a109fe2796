// What the shortcut may learn from, and what it reads by it: never anything that parsing would read otherwise.

import { describe, expect, test } from "bun:test";
import { createShortcut } from "../../src/dialect/shortcut.ts";

const event = (words: string) => `{"a":1,"text":"${words}","z":2}`;

describe("after one event", () => {
  const learnt = () => {
    const shortcut = createShortcut();
    expect(shortcut.learn(event("one"), "text", "one")).toBe(true);
    return shortcut;
  };
  test("the words of another like it are read", () =>
    expect(learnt().read(event("deux ü😀"))).toBe("deux ü😀"));
  const UNLIKE: readonly (readonly [what: string, data: string])[] = [
    ["no words", event("")],
    ["a quote", event('a","b":"c')],
    ["an escape", event("a\\n")],
    ["a control character", event("a\tb")],
    ["another beginning", '{"a":2,"text":"one","z":2}'],
    ["another end", '{"a":1,"text":"one","z":3}'],
    ["nothing but what stands before and after", '{"a":1,"text":","z":2}'],
  ];
  for (const [what, data] of UNLIKE)
    test(`one with ${what} is not`, () => expect(learnt().read(data)).toBeNull());
  test("another that teaches nothing leaves what was learnt", () => {
    const shortcut = learnt();
    expect(shortcut.learn(event("a\\nb"), "text", "a\nb")).toBe(false);
    expect(shortcut.read(event("two"))).toBe("two");
  });
});

test("spaces around the colon are as good", () => {
  const shortcut = createShortcut();
  expect(shortcut.learn('{"text" : "one"}', "text", "one")).toBe(true);
  expect(shortcut.read('{"text" : "two"}')).toBe("two");
});

describe("nothing is learnt from", () => {
  const USELESS: readonly (readonly [what: string, data: string, words: string])[] = [
    ["words that are escaped", '{"text":"a\\nb"}', "a\nb"],
    ["no words", '{"text":""}', ""],
    ["the name in two places", '{"x":{"text":"one"},"text":"one"}', "one"],
    ["the name as a value too", '{"type":"text","text":"one"}', "one"],
    ["a name that is spelt in escapes", '{"x":{"text":"one"},"te\\u0078t":"one"}', "one"],
    ["words that stand elsewhere", '{"x":"one","text":["one"]}', "one"],
    ["the name nowhere", '{"x":"one"}', "one"],
  ];
  for (const [what, data, words] of USELESS)
    test(what, () => {
      const shortcut = createShortcut();
      expect(shortcut.learn(data, "text", words)).toBe(false);
      expect(shortcut.read(data)).toBeNull();
    });
});
