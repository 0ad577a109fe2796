// Every form of usage is reported where its row says, in a stream and in a whole answer of either dialect.

import { afterAll, describe, expect, test } from "bun:test";
import { ask, askMessages, eventsOf, jsonOf } from "./asking.ts";
import { CHAT_USAGE } from "./chat-usage.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

describe("chat", () => {
  const COMMON = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
  const CACHED = { ...COMMON, prompt_tokens_details: { cached_tokens: 20 } };
  const HONEST = { ...CACHED, completion_tokens_details: { reasoning_tokens: 2 } };
  const GARBAGE = { prompt_tokens: -5, completion_tokens: "12", total_tokens: 1e300 };
  /** Chunks of the stream: opening, three words, finish, then usage of its own. */
  const OWN = [5];
  const FINISH = [4];

  test.each([
    ["asked", OWN, HONEST],
    ["always", OWN, HONEST],
    ["none", [], undefined],
    ["zero", OWN, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
    ["last_chunk", FINISH, HONEST],
    ["last_content", [3], HONEST],
    ["cumulative", [0, 1, 2, 3, 4], HONEST],
    ["duplicate", [5, 6], HONEST],
    ["output_only", OWN, { completion_tokens: 5 }],
    ["null_details", OWN, { ...COMMON, prompt_tokens_details: null, completion_tokens_details: null }],
    ["garbage", OWN, expect.objectContaining(GARBAGE)],
    ["deepseek", FINISH, { ...HONEST, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 30 }],
    ["moonshot", FINISH, { ...COMMON, cached_tokens: 20 }],
    ["beside", OWN, { ...HONEST, completion_tokens: 3 }],
    ["iterations", OWN, HONEST],
  ])("usage=%s is reported in chunks %j", async (form, chunks, expected) => {
    const knobs = `[[usage=${form} prompt=50 output=5 reasoning=2 cached=20]]`;
    const extra = { stream: true, stream_options: { include_usage: true } };
    const events = await eventsOf(await ask(provider, knobs, extra));
    const withUsage = events.flatMap((event, nth) => (event.usage ? [nth] : []));
    expect(withUsage).toEqual([...chunks]);
    if (withUsage.length > 0) expect(events[withUsage.at(-1)!].usage).toEqual(expected);
    expect((await jsonOf(await ask(provider, knobs))).usage).toEqual(expected);
  });

  test("usage=cumulative grows word by word", async () => {
    const events = await eventsOf(await ask(provider, "[[usage=cumulative output=3]]", { stream: true }));
    expect(events.map((event) => event.usage.completion_tokens)).toEqual([0, 1, 2, 3, 3]);
  });

  test("usage=last_content rides on the last word of the last choice that speaks", async () => {
    const events = await eventsOf(
      await ask(provider, "[[usage=last_content output=2]]", { stream: true, n: 2 }),
    );
    const [carrier, ...others] = events.filter((event) => event.usage);
    expect(others).toEqual([]);
    expect(carrier.choices).toMatchObject([{ index: 1, finish_reason: null }]);
    expect(carrier.usage.completion_tokens).toBe(4);
  });

  test.each(Object.keys(CHAT_USAGE))(
    "usage=%s, unasked: reported only by hosts that always report it",
    async (form) => {
      const text = await (await ask(provider, `[[usage=${form}]]`, { stream: true })).text();
      const reporting = ["always", "last_chunk", "last_content", "cumulative", "deepseek", "moonshot"];
      expect(text.includes('"usage"')).toBe(reporting.includes(form));
    },
  );
});

describe("messages", () => {
  const ZERO = {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  };
  const COUNTS = { input_tokens: 20, cache_creation_input_tokens: 10, cache_read_input_tokens: 20 };
  const START = { ...COUNTS, output_tokens: 3, output_tokens_details: null };
  const END = { ...COUNTS, output_tokens: 5, output_tokens_details: { thinking_tokens: 2 } };
  const SPLIT = { cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 } };
  const GARBAGE = { input_tokens: -5, cache_read_input_tokens: "many", output_tokens: "12" };
  const NULLS = {
    input_tokens: 50,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    cache_creation: null,
  };
  const nulls = (output_tokens: number) => ({ ...NULLS, output_tokens });
  /** Events of the stream: start, block opened, three words, block closed, end, stop. */
  const CLOSING = [6];

  test.each([
    ["asked", CLOSING, START, END],
    ["always", CLOSING, START, END],
    ["none", [], undefined, undefined],
    ["zero", CLOSING, ZERO, ZERO],
    ["last_chunk", CLOSING, ZERO, END],
    ["last_content", [5], ZERO, END],
    ["cumulative", [3, 5, 7, 9], START, END],
    ["duplicate", [6, 7], START, END],
    ["output_only", CLOSING, START, { output_tokens: 5 }],
    ["null_details", CLOSING, nulls(3), nulls(5)],
    ["garbage", CLOSING, GARBAGE, GARBAGE],
    ["deepseek", CLOSING, START, END],
    ["moonshot", CLOSING, START, END],
    ["beside", CLOSING, START, END],
    ["iterations", CLOSING, START, { ...END, iterations: [{ type: "compaction" }, { type: "message" }] }],
  ])("usage=%s is reported at the start and in events %j", async (form, later, atStart, atEnd) => {
    const knobs = `[[usage=${form} prompt=50 output=5 reasoning=2 cached=20 cache_write=10 cache_write_1h=4]]`;
    const events = await eventsOf(await askMessages(provider, knobs, { stream: true }));
    const withUsage = events.flatMap((event, nth) => (event.usage ? [nth] : []));
    expect(withUsage).toEqual([...later]);
    const { message } = events[0];
    const whole = await jsonOf(await askMessages(provider, knobs));
    if (atStart === undefined || atEnd === undefined) {
      expect([message, whole].map((body) => "usage" in body)).toEqual([false, false]);
      return;
    }
    expect(message.usage).toMatchObject(atStart);
    expect(events[withUsage.at(-1)!].usage).toMatchObject(atEnd);
    if (form === "output_only") {
      expect(Object.keys(events[withUsage.at(-1)!].usage)).toEqual(["output_tokens"]);
      expect(whole.usage).toMatchObject({ ...END, ...SPLIT });
    } else expect(whole.usage).toMatchObject(atEnd);
    if (form === "asked") expect(whole.usage).toMatchObject(SPLIT);
  });

  test("usage=cumulative grows word by word", async () => {
    const events = await eventsOf(
      await askMessages(provider, "[[usage=cumulative output=3]]", { stream: true }),
    );
    const counts = events.flatMap((event) => (event.usage ? [event.usage.output_tokens] : []));
    expect(counts).toEqual([1, 2, 3, 3]);
  });

  test("usage=last_content of an answer without words is reported at the end", async () => {
    const knobs = "[[usage=last_content output=0]]";
    const events = await eventsOf(await askMessages(provider, knobs, { stream: true }));
    expect(events.map((event) => event.type)).toEqual(["message_start", "message_delta", "message_stop"]);
    expect(events[1].usage.output_tokens).toBe(0);
  });

  test("tokens that the cache holds are beside the input, never more than the prompt", async () => {
    const { usage } = await jsonOf(await askMessages(provider, "Hi [[cached=500 cache_write=40]]"));
    expect(usage).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 500,
      cache_creation_input_tokens: 40,
    });
    expect(provider.calls().at(-1)!.usage).toMatchObject({ prompt: 540, cached: 500, cacheWrite: 40 });
  });
});
