// Every signal of a provider once, with two keys at the Level and the first one misbehaving: what the client gets, what
// becomes of the key, and that there is one charge or none. One counted failure puts a key to sleep here, so that it shows.

import { describe, expect, test } from "bun:test";
import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import { REFUSALS } from "../provider/refusals.ts";
import { charged, charges, nano } from "./harness.ts";
import { ask, fares, watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({
  settings: { KEY_FAILURES: "1", UPSTREAM_FIRST_MS: "600", UPSTREAM_IDLE_MS: "600" },
});

/** How the key fares afterwards. */
const FAIL = "sleeping 5 min";
const LONG = "sleeping 30 min";
const PASSED = "passed_over 10 min";
const NONE = "normal";

/** Signal; fault; what becomes of the key; null: the second key answers, else what the client gets, by style. */
type Row = readonly [
  signal: string,
  fault: string,
  fate: string,
  expected: null | Readonly<Record<ApiStyle, string>>,
];
const both = (chat: string, messages = chat) => ({ chat, messages });

// biome-ignore format: a table
const ROWS: readonly Row[] = [
  ["invalid key", "401", LONG, null],
  ["invalid key, in a vendor's form", "401.claude", LONG, null],
  ["invalid key, as a 400", "400.google_key", LONG, null],
  ["invalid key, without a word", "401.azure", LONG, null],
  ["no permission", "403", FAIL, null],
  ["no permission in this region", "403.region", FAIL, null],
  ["no such model for this key", "404", PASSED, null],
  ["no such deployment", "404.deployment", PASSED, null],
  ["no such model, in a vendor's form", "404.claude", PASSED, null],
  ["quota gone", "429.quota", LONG, null],
  ["quota gone, as a 400", "400.billing", LONG, null],
  ["quota gone, as a vendor's 400", "400.claude_credit", LONG, null],
  ["quota gone, as a 402", "402", LONG, null],
  ["quota gone, as a number", "402.number", LONG, null],
  ["quota gone, suspended", "429.moonshot", LONG, null],
  ["quota gone, of the day", "429.google", LONG, null],
  ["quota gone, inside a 200", "200.code", LONG, null],
  ["quota gone, inside a 200 of another form", "200.base_resp", LONG, null],
  ["rate limited", "429 retry=7", "resting 7 s", null],
  ["rate limited by tokens", "429.tokens retry=7", "resting 7 s", null],
  ["rate limited, in another form", "429.azure retry=90", "resting 2 min", null],
  ["rate limited, in milliseconds", "429 retry_ms=6500", "resting 7 s", null],
  ["rate limited, for how long nobody says", "429", FAIL, null],
  ["too big for the tokens per minute", "429.too_big", NONE, null],
  ["overloaded", "529", FAIL, null],
  ["overloaded, as a 503", "503", FAIL, null],
  ["overloaded, as a 429", "429.overloaded", FAIL, null],
  ["server error", "500", FAIL, null],
  ["server error, of the proxy before it", "502", FAIL, null],
  ["server error, gateway timeout", "504", FAIL, null],
  ["server error, with a page for people", "520", FAIL, null],
  ["timeout, said by the provider", "408", FAIL, null],
  ["connection reset", "reset", FAIL, null],
  ["connection closed", "reset how=fin", FAIL, null],
  ["an error inside a 200", "200.error", FAIL, null],
  ["an error inside a 200, as a text", "200.string", FAIL, null],
  ["an empty answer", "empty", FAIL, null],
  ["no answer but noise", "garbage after=0", FAIL, null],
  ["an answer that breaks off before its content", "cut after=1", FAIL, null],
  ["an error before the first content", "error_event after=1", FAIL, null],
  ["silence before the first content", "stall after=1", FAIL, null],
  ["a redirect", "302", FAIL, null],
  ["a conflict", "409", NONE, null],
  ["context too long", "400.context", NONE, both("400 context_length_exceeded", "400 upstream_rejected")],
  ["body too large", "413", NONE, both("413 request_too_large", "413 upstream_rejected")],
  ["content filter", "400.filter", NONE, both("400 content_policy_violation", "400 upstream_rejected")],
  ["bad parameter", "400", NONE, both("400 invalid_type", "400 upstream_rejected")],
  ["reasoning of another organization", "400.encrypted", NONE, both("400 invalid_encrypted_content", "400 upstream_rejected")],
  ["bad parameter, inside a 200", "200.invalid", NONE, both("400 tool_use_failed", "400 upstream_rejected")],
  ["bad parameter, unknown", "400.stream_options", NONE, both("400 unknown_parameter", "400 upstream_rejected")],
  ["bad parameter, as a 422", "422", NONE, both("422 upstream_rejected")],
];

test("the table knows every refusal of the stand-in", () => {
  // An account that is gone has a form of its own in chat alone: faults.test.ts has it.
  const named = new Set(["403.account", ...ROWS.map(([, fault]) => fault.split(" ")[0])]);
  expect(Object.keys(REFUSALS).filter((name) => !named.has(name))).toEqual([]);
});

const WAYS = (["chat", "messages"] as const).flatMap((style) =>
  [false, true].map((stream) => ({ style, stream, way: `${style}, ${stream ? "streamed" : "whole"}` })),
);

describe.each(WAYS)("$way", ({ style, stream }) => {
  test.each(ROWS)("%s (%s): %s", async (_, fault, fate, expected) => {
    const owner = await bench.owner({ keys: 2, style });
    const user = await bench.subaccount(owner);
    const [first, second] = owner.keys as [(typeof owner.keys)[0], (typeof owner.keys)[0]];
    bench.provider.behave(first.secret, `fault=${fault}`);
    const seen = watch(bench);

    const answer = await ask(bench, user, { style, stream });

    expect(answer.result).toBe(expected === null ? "200" : expected[style]);
    expect(seen.order(first, second)).toBe(expected === null ? "1 2" : "1");
    expect(answer.attempts).toBe(expected === null ? 2 : 1);
    await fares(bench, owner, first, fate, { style });
    await fares(bench, owner, second, "normal", { style });

    const lines = await bench.ledger(user.key);
    expect(charges(lines)).toHaveLength(expected === null ? 1 : 0);
    expect(nano(await bench.balance(user.key))).toBe(nano(10) - charged(lines));
    if (expected === null)
      expect(charges(lines)[0]).toMatchObject({ basis: "provider", completion_tokens: 5 });
    expect(answer.text + JSON.stringify([...answer.headers])).not.toMatch(
      /org-standin|openai\.com|sk-upstream/,
    );
    expect(bench.provider.inFlight()).toBe(0);
  });
});

test("a conflict is tried once more, and then it is the client's", async () => {
  const owner = await bench.owner({ keys: 3 });
  const user = await bench.subaccount(owner);
  for (const { secret } of owner.keys) bench.provider.behave(secret, "fault=409");
  const answer = await ask(bench, user);
  expect([answer.result, answer.attempts]).toEqual(["409 conflict", 2]);
});

test("nothing of all this was a failure of the service", () => {
  expect(bench.log.filter(({ level }) => level === "error")).toEqual([]);
});
