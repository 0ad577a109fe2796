// Whose accounts the clients of the table use, and what the provider's own count of their calls is worth. Nothing here asserts.

import type { ApiStyle } from "../../../src/gateway/codec/key-formats.ts";
import type { Call } from "../../provider/calls.ts";
import { type Account, type Bench, charged, charges, type Json, MODEL, type Owner } from "../harness.ts";

/** A second model with a price of its own, for what a test does to a model. */
export const WITHDRAWN = "withdrawn-model";
const PRICES = { InputText: 1, OutputText: 2, CachedText: 0.5 };
const PRICING = {
  ChatPricing: { [MODEL]: PRICES, [WITHDRAWN]: PRICES },
  // Its maker takes nothing.
  CallPricing: { "omni-moderation-latest": { Call: 0.001 } },
};

/** Failures of one row must not put its key to sleep; nothing here is about what outlives a process. */
export const SETTINGS = { KEY_FAILURES: "1000", STORE_URL: "sqlite::memory:" };

export interface Customer {
  readonly owner: Owner;
  readonly user: Account;
  /** The secret of the Owner's one provider key. */
  readonly secret: string;
}

/** An Owner with one provider key of that style, and a subaccount. */
export async function customerOf(
  bench: Bench,
  style: ApiStyle,
  fields: Record<string, unknown> = {},
): Promise<Customer> {
  const owner = await bench.owner({ style, pricing: PRICING });
  return { owner, user: await bench.subaccount(owner, fields), secret: owner.secrets[0]! };
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
