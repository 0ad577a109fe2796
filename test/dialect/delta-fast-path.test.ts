// What the shortcut may learn from, and what it reads by it: never anything that parsing would read otherwise.

import { describe, expect, test } from "bun:test";
import { createDeltaFastPath } from "../../src/dialect/delta-fast-path.ts";

const event = (words: string) => `{"a":1,"text":"${words}","z":2}`;

describe("after one event", () => {
  const learnt = () => {
    const shortcut = createDeltaFastPath();
    expect(shortcut.train(event("one"), "text", "one")).toBe(true);
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
    expect(shortcut.train(event("a\\nb"), "text", "a\nb")).toBe(false);
    expect(shortcut.read(event("two"))).toBe("two");
  });
});

test("spaces around the colon are as good", () => {
  const shortcut = createDeltaFastPath();
  expect(shortcut.train('{"text" : "one"}', "text", "one")).toBe(true);
  expect(shortcut.read('{"text" : "two"}')).toBe("two");
});

describe("events in a row", () => {
  const wire = (words: string) => `event: x\ndata: ${event(words)}\n\n`;
  const learnt = () => {
    const shortcut = createDeltaFastPath("event: x\ndata: ");
    shortcut.train(event("one"), "text", "one");
    return shortcut;
  };
  test("are read in one go, from a place inside the text up to what is unlike them", () => {
    const row = wire("zwei ü😀") + wire(" three");
    const run = learnt().run(`: c\n\n${row}${wire("")}${wire("four")}`, 5);
    expect(run).toEqual({ words: ["zwei ü😀", " three"], said: "zwei ü😀 three", end: 5 + row.length });
  });
  test("are read up to the end of the text", () =>
    expect(learnt().run(wire("a") + wire("b"), 0)?.words).toEqual(["a", "b"]));
  const UNLIKE: readonly (readonly [what: string, text: string])[] = [
    ["another name", `event: y\ndata: ${event("a")}\n\n`],
    ["a line more", `event: x\ndata: ${event("a")}\nid: 1\n\n`],
    ["a quote", wire('a","b":"c')],
    ["no words", wire("")],
    ["an escape in any of them", wire("a") + wire("\\n") + wire("b")],
    ["a control character in any of them", wire("a") + wire("\u0001")],
    ["a line feed between two halves", `event: x\ndata: {"a":1,"text":"a\n\n${wire("b")}`],
    ["no end", wire("a").slice(0, -1)],
  ];
  for (const [what, text] of UNLIKE)
    test(`with ${what} are not`, () => expect(learnt().run(text, 0)).toBeNull());
  test("are not known before one was learnt", () =>
    expect(createDeltaFastPath("event: x\ndata: ").run(wire("a"), 0)).toBeNull());
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
      const shortcut = createDeltaFastPath();
      expect(shortcut.train(data, "text", words)).toBe(false);
      expect(shortcut.read(data)).toBeNull();
    });
});
