// What the scripts of python/ must have seen, and what it must have cost: a row for each scenario.

import { expect } from "bun:test";
import type { Style } from "../../src/gateway/styles.ts";
import type { Call } from "../provider/calls.ts";
import { type Json, MODEL } from "./harness.ts";
import { worthOf } from "./sdk-bench.ts";

export const MODES = ["sync", "async"] as const;
export type Mode = (typeof MODES)[number];

/** What a scenario left behind. */
export interface Row {
  readonly style: Style;
  readonly seen: Json;
  readonly calls: readonly Call[];
  readonly lines: readonly Json[];
  readonly nano: number;
}

export interface Scenario {
  readonly scenario: string;
  readonly tells: string;
  readonly only?: { readonly style?: Style; readonly mode?: Mode };
  /** Fields of its account. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** How its provider key behaves the first time. */
  readonly behaves?: string;
  readonly given?: string;
  /** The client does not wait for its charge. */
  readonly chargedLater?: true;
  expect(row: Row): void;
}

/** The charges are the provider's own count at the price, one for each call. */
function expectExact({ lines, nano, calls }: Row, charges: number): void {
  expect(lines.map((line) => line.basis)).toEqual(Array(charges).fill("provider"));
  expect([calls.length, nano]).toEqual([charges, worthOf(calls)]);
}

const expectFree = ({ lines, calls }: Row): void => {
  expect(lines).toEqual([]);
  expect(calls.map((call) => call.aborted)).toEqual([true]);
};

function expectBroken(row: Row, told: Readonly<Record<Style, string>>): void {
  expect(row.seen).toMatchObject({ is_api_error: true, told: told[row.style] });
  expect(row.seen.words).toBeGreaterThan(2);
  expect(row.lines).toMatchObject([{ basis: "partial", completion_tokens: row.seen.words }]);
}

const broken = (tells: string, given: string, told: Readonly<Record<Style, string>>): Scenario => ({
  scenario: "broken_stream",
  tells: `${tells} inside a stream is raised; what came before it is charged as partial`,
  given,
  expect: (row) => expectBroken(row, told),
});

const ONE_RETRY = (status: number) => (row: Row) => {
  expect(row.seen).toEqual({ text: "hi", statuses: [status, 200] });
  expect(row.lines).toHaveLength(1);
  expect(row.nano).toBe(worthOf(row.calls));
};

export const SCENARIOS: readonly Scenario[] = [
  {
    scenario: "whole",
    tells: "a whole answer, its usage, its request id, its charge",
    expect(row) {
      expect(row.seen).toMatchObject({ text: "hi there time", tokens: [8, 3] });
      expect(row.seen.request_id).toBe(row.lines[0].request_id);
      expectExact(row, 1);
    },
  },
  {
    scenario: "stream",
    tells: "a stream with its usage, charged like the whole answer",
    expect(row) {
      expect(row.seen.text).toStartWith("hi there time year");
      expect(row.seen.text.split(" ")).toHaveLength(40);
      expect(row.seen).toMatchObject({ tokens: [8, 40], request_id: row.lines[0].request_id });
      expectExact(row, 1);
    },
  },
  {
    scenario: "tools",
    tells: "tool calls, streamed in fragments as whole",
    expect(row) {
      const finish = { chat: "tool_calls", messages: "tool_use" }[row.style];
      expect(row.seen).toEqual({
        finish,
        alike: true,
        arguments: [{ text: "use it" }, { text: "use it" }],
      });
      expectExact(row, 2);
    },
  },
  {
    scenario: "left_amid_stream",
    tells: "leaving amid a stream stops the provider and is charged as partial",
    chargedLater: true,
    expect({ seen, calls, lines, nano }) {
      expect(seen).toEqual({ words: 5 });
      expect(calls.map((call) => call.aborted)).toEqual([true]);
      expect(lines).toMatchObject([{ basis: "partial" }]);
      expect(lines[0].completion_tokens).toBeWithin(5, calls[0]!.usage!.completion + 1);
      expect(nano).toBe(lines[0].prompt_tokens * 1_000 + lines[0].completion_tokens * 2_000);
    },
  },
  {
    scenario: "timed_out",
    tells: "a timeout before any content is free and stops the provider",
    expect(row) {
      expect(row.seen.class).toBe("APITimeoutError");
      expectFree(row);
    },
  },
  {
    scenario: "cancelled",
    tells: "a cancelled task is free and stops the provider",
    only: { mode: "async" },
    expect(row) {
      expect(row.seen).toEqual({ cancelled: true });
      expectFree(row);
    },
  },
  broken("an error event", "fault=error_event after=6", {
    chat: "upstream_error",
    messages: "overloaded_error",
  }),
  broken("a cut", "fault=cut after=6", { chat: "upstream_error", messages: "api_error" }),
  {
    scenario: "retried",
    tells: "a 429 with retry-after is waited for, and succeeds",
    behaves: "fault=429 retry=3",
    expect: ONE_RETRY(429),
  },
  {
    scenario: "retried",
    tells: "a 503 is retried, and succeeds",
    behaves: "fault=529",
    expect: ONE_RETRY(503),
  },
  {
    scenario: "not_retried",
    tells: "a spending limit is not retried: one attempt",
    account: { HardLimit: 0.000001 },
    expect({ seen, calls }) {
      expect(seen).toMatchObject({ code: "hard_limit_reached", should_retry: "false", statuses: [429] });
      expect(calls).toEqual([]);
    },
  },
  {
    scenario: "answer_lost",
    tells: "with an Idempotency-Key a lost answer comes again, charged once",
    expect(row) {
      expect(row.seen).toEqual({ text: "hi time year", statuses: [200, 200] });
      expectExact(row, 1);
    },
  },
  {
    scenario: "models",
    tells: "models can be listed and asked for; an unknown one is a NotFoundError",
    expect({ seen, lines }) {
      expect(seen).toEqual({ listed: true, found: MODEL, missing: "model_not_found" });
      expect(lines).toEqual([]);
    },
  },
  {
    scenario: "count_tokens",
    tells: "tokens are counted for nothing",
    only: { style: "messages" },
    expect({ seen, lines }) {
      expect(seen).toEqual({ tokens: 10 });
      expect(lines).toEqual([]);
    },
  },
];
