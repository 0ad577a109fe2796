// What the tests of the official SDKs share: an Owner whose key speaks their style, a fetch that counts what an SDK sends,
// and the provider's own account to hold each bill against. Nothing here asserts.

import type { Style } from "../../src/gateway/styles.ts";
import type { Call } from "../provider/calls.ts";
import { type Account, type Bench, charged, charges, type Json, MODEL, type Owner } from "./harness.ts";

/** A second model with a price of its own, for what a test does to a model. */
export const WITHDRAWN = "withdrawn-model";
const PRICES = { InputText: 1, OutputText: 2, CachedText: 0.5 };
const PRICING = { ChatPricing: { [MODEL]: PRICES, [WITHDRAWN]: PRICES } };

/** Failures of one test must not put the keys of the next to sleep. */
export const SETTINGS = { KEY_FAILURES: "1000" };

export interface Customer {
  readonly owner: Owner;
  readonly user: Account;
  /** The secret of the Owner's one provider key. */
  readonly secret: string;
}

/** An Owner with one provider key of that style, and a subaccount. */
export async function customerOf(
  bench: Bench,
  style: Style,
  fields: Record<string, unknown> = {},
): Promise<Customer> {
  const owner = await bench.owner({ style, pricing: PRICING });
  return { owner, user: await bench.subaccount(owner, fields), secret: owner.secrets[0]! };
}

export interface Watched {
  readonly fetch: typeof fetch;
  /** The status of every answer that the service gave, the lost ones too. */
  readonly statuses: number[];
}

/** A fetch for an SDK; its first `lost` answers are lost on the way. */
export function watched(lost = 0): Watched {
  const statuses: number[] = [];
  const send = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    if (statuses.length > lost) return response;
    await response.text();
    throw new TypeError("the connection was lost");
  };
  return { fetch: Object.assign(send, { preconnect: fetch.preconnect }), statuses };
}

export interface ProviderAccount {
  /** The provider's calls since then, oldest first. */
  calls(): Call[];
  /** What those calls are worth by the provider's own count, in nano-dollars. */
  worth(): number;
}

/** Opens the provider's account at this moment. */
export function openAccount(bench: Bench): ProviderAccount {
  const from = bench.provider.totals().calls;
  const calls = () => bench.provider.calls().slice(from);
  return { calls, worth: () => worthOf(calls()) };
}

/** What calls are worth by the provider's own count, in nano-dollars. */
export const worthOf = (calls: readonly Call[]): number =>
  calls.reduce((sum, { usage }) => {
    if (usage === null) return sum;
    const { prompt, cached, completion } = usage;
    return sum + (prompt - cached) * 1_000 + cached * 500 + completion * 2_000;
  }, 0);

/** The calls that a provider key made, oldest first. */
export const callsWith = (bench: Bench, secret: string): Call[] =>
  bench.provider.calls().filter((call) => call.key === secret.slice(-4));

/** The account's charges, oldest first, and their sum in nano-dollars. */
export async function billOf(bench: Bench, user: Account): Promise<{ lines: Json[]; nano: number }> {
  const lines = await bench.ledger(user.key);
  return { lines: charges(lines), nano: charged(lines) };
}

/** What a promise was rejected with; null when it was not. */
export const thrownBy = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => null,
    (error: unknown) => error,
  );
