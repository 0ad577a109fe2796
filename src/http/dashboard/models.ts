// GET /dashboard/models: what this account can call, with what the catalogue knows of it and what it costs the caller.

import { align } from "../../../actors/pricing/decimal.ts";
import type { Price } from "../../../actors/pricing/price.ts";
import { type CallableModel, callableModels } from "../../gateway/routing/callable-models.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ModelsParts } from "../gateway/models.ts";
import { NoQuerySchema } from "../schemas.ts";

/** spec: GET /dashboard/models, in order of name. */
export const getDashboardModels = (parts: ModelsParts) =>
  endpoint(parts, { who: "any", query: NoQuerySchema }, async ({ caller }) => {
    const models = await callableModels(parts, caller.profile.id);
    return answer({ models: models.map(modelShape) });
  });

const modelShape = ({ id, entry, priced, multipliers }: CallableModel) => ({
  id,
  provider: entry?.provider ?? "",
  // 0: nobody states it.
  context_window: entry?.context_window ?? 0,
  max_output_tokens: entry?.max_output_tokens ?? 0,
  price: multiplied(priced.price, [multipliers.rates, multipliers.factor]),
});

/** Each price times the model's Rates and the account's multipliers, exactly; so `Rates` is no longer there. */
function multiplied({ Rates = 1, Sizes, ...fields }: Price, account: readonly number[]) {
  const times = (prices: Readonly<Record<string, number | undefined>>) =>
    Object.fromEntries(
      Object.entries(prices).flatMap(([field, price]) =>
        price === undefined ? [] : [[field, product([price, Rates, ...account])]],
      ),
    );
  return { ...times(fields), ...(Sizes === undefined ? {} : { Sizes: times(Sizes) }) };
}

/** Multiplies decimals as they were typed: 0.15 × 3 is 0.45. */
function product(factors: readonly number[]): number {
  const { digits, places } = align(factors);
  const exact = digits.reduce((all, one) => all * one, 1n);
  return Number(`${exact}e-${places * factors.length}`);
}
