// What a row of the table is, and what most rows hold against what a client saw: the provider's own count, and the ledger.

import { expect } from "bun:test";
import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import type { Call } from "../../provider/calls.ts";
import type { Json } from "../harness.ts";
import { worthOf } from "./customers.ts";
import type { Client, ClientName } from "./script.ts";

/** Whether the provider's key speaks as the client does. */
export type Route = "same" | "translated";

/** What a run left behind. */
export interface Left {
  readonly client: Client;
  readonly style: ApiStyle;
  readonly route: Route;
  readonly seen: Json;
  /** The provider's calls, oldest first. */
  readonly calls: readonly Call[];
  /** The account's charges, oldest first, and their sum. */
  readonly lines: readonly Json[];
  readonly nano: number;
}

export interface Row {
  /** The function of the scripts. */
  readonly scenario: string;
  readonly description: string;
  readonly clients: readonly ClientName[];
  /** Default: both. */
  readonly routes?: readonly Route[];
  readonly model?: string;
  readonly said?: string;
  /** Fields of its account. */
  readonly account?: Readonly<Record<string, unknown>>;
  /** How its provider key behaves the first time. */
  readonly behaves?: string;
  /** Its account asked something less than a minute before. */
  readonly spent?: true;
  /** The client does not wait for its charge. */
  readonly chargedLater?: true;
  expect(left: Left): void;
}

const PYTHON_CHAT = ["openai in Python", "openai in Python, async"] as const;
const PYTHON_MESSAGES = ["anthropic in Python", "anthropic in Python, async"] as const;

export const OPENAI: readonly ClientName[] = ["openai", ...PYTHON_CHAT];
export const ANTHROPIC: readonly ClientName[] = ["anthropic", ...PYTHON_MESSAGES];
export const OFFICIAL: readonly ClientName[] = [...OPENAI, ...ANTHROPIC];
export const FRAMEWORKS: readonly ClientName[] = [
  "vercel, chat",
  "vercel, messages",
  "langchain, chat",
  "langchain, messages",
];
export const EVERYBODY: readonly ClientName[] = [...OFFICIAL, ...FRAMEWORKS];

/**
 * The charges are the provider's own count at the price, one for each call, and the client was shown the same count. Null: it
 * counts in a way of its own.
 */
export function expectExact({ seen, lines, nano, calls }: Left, charges = 1): void {
  expect(lines.map((line) => line.basis)).toEqual(Array(charges).fill("provider"));
  expect([calls.length, nano]).toEqual([charges, worthOf(calls)]);
  const charged = lines.map((line) => [line.prompt_tokens, line.completion_tokens]);
  if (seen.tokens !== null)
    expect(seen.tokens).toEqual(charged.reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]));
}

/** One charge of so many nano-dollars, from the provider's own figures. */
export function expectCost({ lines, nano }: Left, cost: number): void {
  expect(lines).toMatchObject([{ basis: "provider" }]);
  expect(nano).toBe(cost);
}

/** Nothing is paid for a call that was given up. */
export function expectFree({ lines, calls }: Left): void {
  expect(lines).toEqual([]);
  expect(calls.map((call) => call.aborted)).toEqual([true]);
}

/** The body that the provider got, as text. */
export const sentIn = (call: Call | undefined): string => JSON.stringify(call?.body);
