const COMMON = { prompt_tokens: 50, completion_tokens: 5, total_tokens: 55 };
const WITH_CACHED = { ...COMMON, prompt_tokens_details: { cached_tokens: 20 } };

test.each([
  ["none", [], undefined],
  ["zero", ["own"], { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ["last_chunk", ["finish"], WITH_CACHED],
  ["cumulative", ["every"], WITH_CACHED],
  ["null_details", ["own"], { ...COMMON, prompt_tokens_details: null, completion_tokens_details: null }],
  ["deepseek", ["finish"], { ...WITH_CACHED, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 30 }],
  ["moonshot", ["finish"], { ...COMMON, cached_tokens: 20 }],
])("usage=%s is carried so in a stream and in a whole answer", async (form, [place], expected) => {
  const knobs = `[[usage=${form} prompt=50 output=5 cached=20]]`;
  const extra = { stream: true, stream_options: { include_usage: true } };
  const events = await eventsOf(await ask(provider, knobs, extra));
  const carrying = events.filter((event) => event.usage);
  if (place === undefined) expect(carrying).toHaveLength(0);
  else expect(carrying.at(-1).usage).toEqual(expected);
  if (place === "own") expect(carrying.map((event) => event.choices)).toEqual([[]]);
  if (place === "finish") expect(carrying.map((event) => event.choices[0].finish_reason)).toEqual(["stop"]);
  if (place === "every") {
    const counts = carrying.map((event) => event.usage.completion_tokens);
    expect(counts).toEqual([0, 1, 2, 3, 4, 5, 5]);
  }
  expect((await jsonOf(await ask(provider, knobs))).usage).toEqual(expected);
});

test("usage=always comes unasked, usage=garbage is garbage, usage=beside leaves reasoning out", async () => {
  const always = await eventsOf(await ask(provider, "[[usage=always]]", { stream: true }));
  expect(always.at(-1).usage.total_tokens).toBeGreaterThan(0);
  const garbage = await jsonOf(await ask(provider, "[[usage=garbage]]"));
  expect(garbage.usage).toMatchObject({ prompt_tokens: -5, completion_tokens: "12", total_tokens: 1e300 });
  const beside = await jsonOf(await ask(provider, "[[usage=beside prompt=10 output=30 reasoning=20]]"));
  expect(beside.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 10, total_tokens: 40 });
});

