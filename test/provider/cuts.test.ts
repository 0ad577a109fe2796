// How the stand-in ends a connection before its answer does, or says nothing at all, in either dialect.

import { afterAll, describe, expect, test } from "bun:test";
import { manualClock } from "../runtime/manual-clock.ts";
import { askIn, BOTH, eventsIn, failure, rawly, until } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const STREAM = { stream: true };
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

describe.each(BOTH)("cuts of $name", (style) => {
  const asked = askIn(style);

  test.each([
    ["rst", "rst"],
    ["fin", "fin"],
  ])("a stream cut by %s is an error to the client after the events before it", async (how, ending) => {
    const text = `[[fault=cut after=4 how=${how}]]`;
    const response = await asked(provider, text, STREAM);
    expect(response.status).toBe(200);
    let seen = "";
    const error = await failure(
      (async () => {
        const decoder = new TextDecoder();
        for await (const bytes of response.body!) seen += decoder.decode(bytes, { stream: true });
      })(),
    );
    expect(error).toHaveProperty("code", "ECONNRESET");
    expect(eventsIn(seen)).toBe(4);
    const raw = await rawly(provider, style, text, STREAM);
    expect(raw.ending).toBe(ending);
    expect(eventsIn(Buffer.concat(raw.segments).toString())).toBe(4);
  });

  test.each(["rst", "fin"])("a whole answer cut by %s is an error to the client", async (how) => {
    const response = await asked(provider, `[[output=8 fault=cut how=${how}]]`, {}, "sk-cut-1001");
    await failure(response.text());
    expect(lastCall("1001")).toMatchObject({ outcome: "cut", aborted: false });
    expect(lastCall("1001").usage!.completion).toBe(8);
  });

  test("a clean cut of a stream looks like an end, and only what was sent is counted", async () => {
    const response = await asked(provider, "[[fault=cut how=clean after=6]]", STREAM, "sk-cut-1002");
    const text = await response.text();
    expect(eventsIn(text)).toBe(6);
    expect(text).not.toContain(style.end);
    await until(() => lastCall("1002").outcome !== null);
    expect(lastCall("1002").usage!.completion).toBe(6 - style.eventsBefore);
  });

  test("a clean cut of a whole answer is half a body", async () => {
    const whole = await (await asked(provider, "[[fault=cut how=clean]]")).text();
    expect(whole).toStartWith("{");
    expect(() => JSON.parse(whole)).toThrow();
  });

  test.each(["rst", "fin"])("a reset by %s comes before any head", async (how) => {
    const text = `[[fault=reset how=${how}]]`;
    expect(await failure(asked(provider, text, {}, "sk-reset-1003"))).toHaveProperty("code", "ECONNRESET");
    expect(lastCall("1003")).toMatchObject({ status: 0, usage: null, outcome: "cut" });
    expect(await rawly(provider, style, text)).toMatchObject({ segments: [], ending: how });
  });
});

describe.each(BOTH)("silence of $name", (style) => {
  const asked = askIn(style);

  test("hang never gives a head; the call ends when the client leaves", async () => {
    await failure(asked(provider, "[[fault=hang]]", {}, "sk-hang-1004", AbortSignal.timeout(60)));
    await until(() => lastCall("1004").outcome === "aborted");
    expect(lastCall("1004")).toMatchObject({ status: 0, aborted: true, usage: null });
  });

  test.each([true, false])("stall stops in the middle, stream: %p", async (stream) => {
    const signal = AbortSignal.timeout(80);
    const text = "[[output=8 fault=stall after=4]]";
    const response = await asked(provider, text, { stream }, "sk-stall-1005", signal);
    expect(response.status).toBe(200);
    await failure(response.text());
    await until(() => lastCall("1005").outcome === "aborted");
    expect(lastCall("1005").usage!.completion).toBe(stream ? 4 - style.eventsBefore : 8);
  });

  test("slowness comes before the head, before the first event and between events", async () => {
    const clock = manualClock();
    const slow = startProvider({ clock });
    const waits = async (ms: number) => {
      await until(() => clock.waiting === 1);
      await clock.advance(ms - 1);
      expect(clock.waiting).toBe(1);
      await clock.advance(1);
    };
    const asking = asked(slow, "[[output=3 head_ms=60 first_ms=70 chunk_ms=20]]", STREAM);
    await waits(60);
    // The head is here while the first event waits, and the first event while the second does.
    const reader = (await asking).body!.getReader();
    const first = reader.read();
    await waits(70);
    expect((await first).done).toBe(false);
    const rest = (async () => {
      while (!(await reader.read()).done);
    })();
    const gaps = style.eventsBefore + 3 + style.eventsAfter - 1;
    for (let i = 0; i < gaps; i++) await waits(20);
    await rest;
    expect(clock.waiting).toBe(0);
    slow.close();
  });
});
