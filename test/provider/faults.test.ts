// Faults that a gateway may well not notice do on the wire what their rows say, in either dialect. The others end requests
// or streams: the end-to-end tests that use them would see an answer instead. Cuts and silence are in cuts.test.ts.

import { afterAll, describe, expect, test } from "bun:test";
import { askIn, BOTH, eventsIn, eventsOf, failure, jsonOf, rawly, until } from "./asking.ts";
import { CHAT_USAGE } from "./chat-usage.ts";
import { FAULTS } from "./faults.ts";
import { startProvider } from "./provider.ts";
import { REFUSALS } from "./refusals.ts";
import { KNOBS } from "./script.ts";

const provider = startProvider();
afterAll(() => provider.close());
const STREAM = { stream: true };
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

describe.each(BOTH)("odd answers of $name", (style) => {
  const asked = askIn(style);
  const wordsOf = async (text: string) =>
    (await eventsOf(await asked(provider, text, STREAM))).map(style.wordOf).join("");

  test("garbage is one event, or a body, that is not JSON", async () => {
    const response = await asked(provider, "[[fault=garbage after=2]]", STREAM);
    const data = (await response.text())
      .split("\n\n")
      .map((event) => event.slice(event.indexOf("data: ") + 6));
    expect(() => JSON.parse(data[2]!)).toThrow();
    expect(style.wordOf(JSON.parse(data[4]!))).not.toBe("");
    await failure((await asked(provider, "[[fault=garbage]]")).json());
  });

  test("huge is one line of so many kilobytes, still JSON and harmless", async () => {
    const response = await asked(provider, "[[output=3 fault=huge kb=300 after=1]]", STREAM);
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    expect(lines[1]!.length).toBeGreaterThan(300 * 1024);
    expect(style.wordOf(JSON.parse(lines[1]!.slice(6)))).toBe("");
    const whole = await (await asked(provider, "[[output=3 fault=huge kb=300]]")).text();
    expect(style.outputOf(JSON.parse(whole))).toBe(3);
    expect(whole.length).toBeGreaterThan(300 * 1024);
  });

  test("comments come first", async () => {
    const text = await (await asked(provider, "[[fault=comments events=2]]", STREAM)).text();
    expect(text).toMatch(/^(: OPENROUTER PROCESSING\n\n){2}(event|data): /);
  });

  test("azure opens strangely and adds a field to a whole answer", async () => {
    const plain = await eventsOf(await asked(provider, "[[output=3]]", STREAM));
    const events = await eventsOf(await asked(provider, "[[output=3 fault=azure]]", STREAM));
    expect(events).toHaveLength(plain.length + 2);
    expect(events.map(style.wordOf)[0]).toBe("");
    expect(events.map(style.wordOf).join("")).toBe(plain.map(style.wordOf).join(""));
    const field = style.name === "chat" ? "prompt_filter_results" : "notice";
    expect(events[0]).toHaveProperty(field);
    expect(await jsonOf(await asked(provider, "[[fault=azure]]"))).toHaveProperty(field);
  });

  test("no_delta is one event without its delta in the middle", async () => {
    const text = await (await asked(provider, "[[output=5 fault=no_delta after=3]]", STREAM)).text();
    const bare = text.split("\n\n").map((event) => !event.includes('"delta"'));
    expect(bare[3]).toBe(true);
    expect([bare[2], bare[4]]).toEqual([false, false]);
  });

  test("crlf ends every line in CR LF", async () => {
    const text = await (await asked(provider, "[[fault=crlf]]", STREAM)).text();
    expect(text).toMatch(new RegExp(`data: .*${style.end.replace(/[[\]]/g, "\\$&")}.*\r\n\r\n$`));
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test.each([
    "fault=split bytes=40",
    "fault=join events=4",
    "fault=crlf",
    "fault=comments",
    "pings=9",
    "gzip",
  ])("%s carries the same words", async (knobs) => {
    const words = await wordsOf("[[output=12]]");
    expect(words.split(" ")).toHaveLength(12);
    expect(await wordsOf(`[[output=12 ${knobs}]]`)).toBe(words);
  });

  test("split sends an event over several segments, join several events in one", async () => {
    const split = await rawly(provider, style, "[[output=2 fault=split bytes=100]]", STREAM);
    expect(split.segments.filter((bytes) => !bytes.includes("data: ")).length).toBeGreaterThan(3);
    const join = await rawly(provider, style, "[[output=20 fault=join events=6]]", STREAM);
    // The network may join segments further, but splits none.
    const events = join.segments.map((bytes) => eventsIn(bytes.toString()));
    expect(Math.max(...events)).toBeGreaterThanOrEqual(6);
    expect(events.slice(0, -1).filter((count) => count % 6 !== 0)).toEqual([]);
  });

  test("split_utf8 puts segment borders inside characters", async () => {
    const { segments } = await rawly(provider, style, "[[output=8 fault=split_utf8]]", STREAM);
    const broken = segments.filter((bytes) => bytes.toString().includes("\ufffd"));
    expect(broken.length).toBeGreaterThan(8);
    const text = await wordsOf("[[output=8 fault=split_utf8]]");
    expect(text).not.toContain("\ufffd");
    expect(text).toContain("日本");
  });

  test("pings=N is a keep-alive after each of the first N events", async () => {
    const text = await (await asked(provider, "[[output=6 pings=3]]", STREAM)).text();
    const pings = text
      .split("\n\n")
      .map((event) => /^(: ping|event: ping\ndata: {"type":"ping"})$/.test(event));
    expect(pings.slice(0, 8)).toEqual([false, true, false, true, false, true, false, false]);
    expect(pings.filter(Boolean)).toHaveLength(3);
  });

  test("an answer is counted as generated, whatever happened to it on the way", async () => {
    expect(style.outputOf(await jsonOf(await asked(provider, "[[output=9]]")))).toBe(9);
    for (const knobs of [
      "fault=garbage after=3",
      "usage=none",
      "usage=zero",
      "gzip",
      "fault=error_event after=99",
    ]) {
      const secret = "sk-counted-1007";
      await (await asked(provider, `[[output=9 ${knobs}]]`, STREAM, secret)).text();
      await until(() => lastCall("1007").outcome !== null);
      expect(lastCall("1007")).toMatchObject({ outcome: "complete", usage: { completion: 9 } });
    }
  });
});

describe("the README", async () => {
  const readme = await Bun.file(new URL("README.md", import.meta.url)).text();
  const rows = new Set(Array.from(readme.matchAll(/^\| `(\w+)` /gm), (match) => match[1]!));

  test.each(Object.keys(FAULTS))("has a row for the fault %s", (name) => {
    expect(rows.has(name)).toBe(true);
  });

  test.each(Object.keys(CHAT_USAGE))("has a row for usage=%s", (name) => {
    expect(rows.has(name)).toBe(true);
  });

  test.each([...Object.keys(KNOBS), ...Object.keys(REFUSALS)])("names %s", (name) => {
    expect(new RegExp(`[\` ]${RegExp.escape(name)}[=\` ]`).test(readme)).toBe(true);
  });
});
