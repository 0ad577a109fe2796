// The prompt cache of a messages key under agents of the other styles: what the turns before have written is read, and each
// request costs what the provider reports of it.

import { expect, test } from "bun:test";
import { charges, type Json, nano } from "./harness.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const CLAUDE = "claude-sonnet-4-5";
const PRICING = {
  ChatPricing: { [CLAUDE]: { InputText: 1, OutputText: 2, CachedText: 0.1, CacheWrite: 1.25 } },
};
const OUTPUT_TOKENS = 3;
const KNOBS = `[[prompt_cache output=${OUTPUT_TOKENS}]]`;
const HEAD = "You change files with great care. ".repeat(20);

const PATHS = { chat: "/v1/chat/completions", responses: "/v1/responses" } as const;
const STYLES = ["chat", "responses"] as const;

/** A conversation of so many turns; what the key saw of each, and its charge. */
async function conversation(
  style: (typeof STYLES)[number],
  turns: number,
): Promise<{ usage: Json; nano: number }[]> {
  const owner = await bench.owner({ style: "messages", pricing: PRICING });
  const said: Json[] = style === "chat" ? [{ role: "system", content: HEAD }] : [];
  const more = style === "chat" ? {} : { instructions: HEAD };
  for (let turn = 0; turn < turns; turn++) {
    said.push({ role: "user", content: `turn ${turn} of it ${KNOBS}` });
    const input = style === "chat" ? { messages: said } : { input: said };
    const body = { model: CLAUDE, ...input, ...more, prompt_cache_key: "one" };
    const answer = await bench.call(owner.key, "POST", PATHS[style], body);
    expect(answer.status).toBe(200);
    said.push({ role: "assistant", content: "done" });
  }
  const seen = bench.provider.calls().filter(({ key }) => owner.secrets[0]!.endsWith(key));
  const lines = charges(await bench.ledger(owner.key));
  return seen.map(({ usage }, nth) => ({ usage, nano: -nano(lines[nth].amount) }));
}

test.each(STYLES)("a turn at /v1/%s reads all that the turn before has written", async (style) => {
  const turns = await conversation(style, 4);
  expect(turns).toHaveLength(4);
  for (const [nth, { usage }] of turns.entries()) {
    expect(usage.cached).toBe(nth === 0 ? 0 : turns[nth - 1]!.usage.prompt);
    expect(usage.cached + usage.cacheWrite).toBe(usage.prompt);
  }
  expect(turns.map(({ nano }) => nano)).toEqual(
    turns.map(({ usage }) => usage.cached * 100 + usage.cacheWrite * 1_250 + OUTPUT_TOKENS * 2_000),
  );
});

test("a hold covers that all of the prompt is written", async () => {
  const owner = await bench.owner({ style: "messages", pricing: PRICING });
  const body = { model: CLAUDE, input: HEAD, prompt_cache_key: "one", max_output_tokens: 10 };
  const { body: quote } = await bench.call(owner.key, "POST", "/v1/quote", { path: "/v1/responses", body });
  expect(nano(quote.hold)).toBe(quote.estimated.prompt_tokens * 1_250 + 10 * 2_000);
});
