// The models that an account can call, with what the catalog knows of each and what it costs this account.

import type { Static } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { align } from "../../../actors/pricing/decimal.ts";
import type { Price } from "../../../actors/pricing/price.ts";
import {
  type CallableModel,
  type CallableParts,
  callableModels,
} from "../../gateway/routing/callable-models.ts";
import type { ModelsSchema } from "./schemas.ts";

/** Lists the models that an account can call, in order of name. Source: specification, `GET /dashboard/models`. */
export async function pricedModels(
  parts: CallableParts,
  account: AccountId,
): Promise<Static<typeof ModelsSchema>> {
  const models = await callableModels(parts, account);
  return { models: models.map(modelShape) };
}

const modelShape = ({ id, entry, priced, multipliers }: CallableModel) => ({
  id,
  provider: entry?.provider ?? "",
  // 0 means that the catalog does not have it.
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
