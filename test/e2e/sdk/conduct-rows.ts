// The table's rows of conduct: a client that leaves, a stream that breaks, what an SDK asks again by itself.

import { expect } from "bun:test";
import { EVERYBODY, expectExact, expectFree, type Left, OFFICIAL, type Row } from "./rows.ts";

const OFFICIAL_JS = ["openai", "anthropic"] as const;

const ONE_RETRY = (status: number) => (left: Left) => {
  expect(left.seen).toEqual({ text: "hi", statuses: [status, 200] });
  expect(left.lines).toHaveLength(1);
};

/** `errorType`: the error's type by the style of the provider's key and that of the client. */
const broken = (what: string, fault: string, errorType: (left: Left) => string): Row => ({
  scenario: "broken_stream",
  description: `${what} inside a stream is raised; what came before it is charged as partial`,
  clients: EVERYBODY,
  // An end that comes with the beginning can be all that is seen of an answer.
  said: `[[output=20 chunk_ms=40 fault=${fault}]]`,
  chargedLater: true,
  expect(left) {
    expect(left.seen).toMatchObject({ is_api_error: true, error_type: errorType(left) });
    expect(left.seen.words).toBeGreaterThan(2);
    expect(left.lines).toMatchObject([{ basis: "partial", completion_tokens: left.seen.words }]);
  },
});

const OWN_WORDS: Readonly<Record<string, string>> = { chat: "upstream_error", messages: "api_error" };
const ownWords = ({ style }: Left) => OWN_WORDS[style]!;

const notRetried = (what: string, row: Pick<Row, "account" | "spent">, code: string): Row => ({
  scenario: "not_retried",
  description: `${what} is not waited for: one attempt`,
  clients: row.spent === undefined ? OFFICIAL : OFFICIAL_JS,
  routes: ["same"],
  said: "hi [[output=1]]",
  ...row,
  expect({ seen, lines }) {
    expect(seen).toEqual({ code, should_retry: "false", statuses: [429] });
    expect(lines).toHaveLength(row.spent === undefined ? 0 : 1);
  },
});

const leftBefore = (scenario: string, how: string, clients: Row["clients"], seen: object): Row => ({
  scenario,
  description: `leaving before any content, ${how}, is free and stops the provider`,
  clients,
  said: "[[head_ms=20000]]",
  expect(left) {
    expect(left.seen).toMatchObject(seen);
    expectFree(left);
  },
});

export const CONDUCT: readonly Row[] = [
  {
    scenario: "left_amid_stream",
    description: "leaving amid a stream stops the provider, and what was generated is charged as partial",
    clients: OFFICIAL,
    behaves: "output=500 chunk_ms=10",
    said: "tell me a long story",
    chargedLater: true,
    expect({ seen, calls, lines, nano }) {
      expect(seen).toEqual({ words: 5 });
      expect(calls.map((call) => call.aborted)).toEqual([true]);
      expect(lines).toMatchObject([{ basis: "partial" }]);
      // Where the prompt's usage was not reported before, its five words are counted here, and never for more than the provider does.
      const [{ prompt_tokens, completion_tokens }] = lines;
      expect(prompt_tokens).toBeWithin(5, calls[0]!.usage!.prompt + 1);
      expect(completion_tokens).toBeWithin(5, calls[0]!.usage!.completion + 1);
      expect(nano).toBe(prompt_tokens * 1_000 + completion_tokens * 2_000);
    },
  },
  leftBefore("timed_out", "by a timeout", ["openai", "anthropic"], { class: "APIConnectionTimeoutError" }),
  leftBefore(
    "timed_out",
    "by a timeout",
    OFFICIAL.filter((name) => name.includes("Python")),
    {
      class: "APITimeoutError",
    },
  ),
  leftBefore(
    "cancelled",
    "by hand",
    OFFICIAL.filter((name) => !name.endsWith("Python")),
    { cancelled: true },
  ),
  broken("an error event", "error_event after=6", ({ style, route }) =>
    style === "messages" && route === "same" ? "overloaded_error" : OWN_WORDS[style]!,
  ),
  broken("a cut connection", "cut after=6", ownWords),
  broken("an end that comes too early", "cut after=6 how=clean", ownWords),
  {
    scenario: "retried",
    description: "a 429 of RPM is waited for as long as it says, and succeeds",
    clients: OFFICIAL_JS,
    routes: ["same"],
    account: { RPM: 1 },
    spent: true,
    said: "hi [[output=1]]",
    expect({ seen, lines }) {
      expect(seen).toEqual({ text: "hi", statuses: [429, 200] });
      expect(lines).toHaveLength(2);
    },
  },
  {
    scenario: "retried",
    description: "a provider's 429 with retry-after is waited for, and succeeds",
    clients: OFFICIAL,
    routes: ["same"],
    behaves: "fault=429 retry=3",
    said: "hi [[output=1]]",
    expect: ONE_RETRY(429),
  },
  {
    scenario: "retried",
    description: "a 503 is retried, and succeeds",
    clients: OFFICIAL,
    behaves: "fault=529",
    said: "hi [[output=1]]",
    expect: ONE_RETRY(503),
  },
  notRetried("a spending limit", { account: { HardLimit: 0.000001 } }, "hard_limit_reached"),
  notRetried("an hour", { account: { RPH: 1 }, spent: true }, "rph_exceeded"),
  {
    scenario: "answer_lost",
    description: "with an Idempotency-Key a lost answer comes again: one call of the provider, one charge",
    clients: OFFICIAL,
    said: "hi [[output=3]]",
    expect(left) {
      expect(left.seen).toEqual({ text: "hi time year", statuses: [200, 200] });
      const [{ prompt_tokens, completion_tokens }] = left.lines;
      expectExact({ ...left, seen: { tokens: [prompt_tokens, completion_tokens] } });
    },
  },
  {
    scenario: "answer_lost_without_key",
    description: "without one it is asked, and charged, twice",
    clients: OFFICIAL_JS,
    routes: ["same"],
    said: "hi [[output=3]]",
    expect: ({ lines }) => expect(lines).toHaveLength(2),
  },
];
