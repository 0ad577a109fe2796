// What the fastPath may learn from, and what it reads by it: never anything that parsing would read otherwise.

import { describe, expect, test } from "bun:test";
import { DeltaFastPath } from "../../src/dialect/delta-fast-path.ts";

const event = (words: string) => `{"a":1,"text":"${words}","z":2}`;

describe("after one event", () => {
  const learned = () => {
    const fastPath = new DeltaFastPath();
    expect(fastPath.train(event("one"), "text", "one")).toBe(true);
    return fastPath;
  };
  test("the words of another like it are read", () =>
    expect(learned().read(event("deux ü😀"))).toBe("deux ü😀"));
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
    test(`one with ${what} is not`, () => expect(learned().read(data)).toBeNull());
  test("another that teaches nothing leaves what was learned", () => {
    const fastPath = learned();
    expect(fastPath.train(event("a\\nb"), "text", "a\nb")).toBe(false);
    expect(fastPath.read(event("two"))).toBe("two");
  });
});

test("spaces around the colon are as good", () => {
  const fastPath = new DeltaFastPath();
  expect(fastPath.train('{"text" : "one"}', "text", "one")).toBe(true);
  expect(fastPath.read('{"text" : "two"}')).toBe("two");
});

describe("events in a row", () => {
  const wire = (words: string) => `event: x\ndata: ${event(words)}\n\n`;
  const learned = () => {
    const fastPath = new DeltaFastPath("event: x\ndata: ");
    fastPath.train(event("one"), "text", "one");
    return fastPath;
  };
  test("are read in one go, from a place inside the text up to what is unlike them", () => {
    const row = wire("zwei ü😀") + wire(" three");
    const run = learned().run(`: c\n\n${row}${wire("")}${wire("four")}`, 5);
    expect(run).toEqual({ texts: ["zwei ü😀", " three"], joined: "zwei ü😀 three", end: 5 + row.length });
  });
  test("are read up to the end of the text", () =>
    expect(learned().run(wire("a") + wire("b"), 0)?.texts).toEqual(["a", "b"]));
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
    test(`with ${what} are not`, () => expect(learned().run(text, 0)).toBeNull());
  test("are not known before one was learned", () =>
    expect(new DeltaFastPath("event: x\ndata: ").run(wire("a"), 0)).toBeNull());
});

describe("nothing is learned from", () => {
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
      const fastPath = new DeltaFastPath();
      expect(fastPath.train(data, "text", words)).toBe(false);
      expect(fastPath.read(data)).toBeNull();
    });
});
