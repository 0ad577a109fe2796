// A bill in the two structures of the specification: B (`bill_info`) and A (`list`). Both have the same figures; money becomes
// dollars here and nowhere before.
//
// Days without requests are in neither. Days ascend, models go by name, accounts by cost, the dearest first, then by id.
// Percentages are shares of this bill's totals, 0 to 100, each rounded half up to two decimals on its own: they need
// not add up to 100. Every share of nothing is 0.

import { type Nano, toUsd } from "../../../actors/money.ts";
import { type AccountBill, type Bill, sumOf, type UsageFigures } from "../../report/usage-bill.ts";
import { exactUsd } from "../../report/verify/conservation.ts";

/** A bill and what it cost. */
export interface BillAnswer {
  readonly bill: Bill;
  /** What was paid for the answer. */
  readonly fee: Nano;
}

/** The bodies of bills without `usage_users`, by their `object`. */
export const BILL_SHAPES = {
  bill_info: ({ bill, fee }: BillAnswer) => ({
    object: "bill_info" as const,
    daily_costs: [...bill.days].map(([date, models]) => dayShape(date, models)),
    usage_summary: mapped(bill.models, usageShape),
    ...totalsShape(bill.total),
    token_summary: tokensShape(bill.total),
    query_fee: toUsd(fee),
  }),
  list: ({ bill, fee }: BillAnswer) => ({
    object: "list" as const,
    data: [...bill.days].map(([date, models]) => bucketShape(date, models)),
    total_usage: {
      requests: bill.total.requests,
      prompt_tokens: bill.total.prompt,
      completion_tokens: bill.total.completion,
      cached_tokens: bill.total.cached,
      cost: dollars(bill.total.cost),
    },
    query_fee: toUsd(fee),
  }),
};

/** One of `usage_users`, by the same. `all` is the total of the bill. */
const USER_SHAPES: Readonly<
  Record<keyof typeof BILL_SHAPES, (account: AccountBill, all: UsageFigures) => object>
> = { bill_info: userShape, list: shortUserShape };

type Models = ReadonlyMap<string, UsageFigures>;

function dayShape(date: string, models: Models) {
  const { total_reasoning: _, ...totals } = totalsShape(sumOf(models.values()));
  const items = [...models].map(([name, used]) => ({
    name,
    cost: dollars(used.cost),
    usage: usageShape(used),
  }));
  return { date, ...totals, line_items: items };
}

function bucketShape(date: string, models: Models) {
  const { requests, prompt, completion, cached } = sumOf(models.values());
  return {
    // Unix seconds of the day's beginning, UTC.
    aggregation_timestamp: Date.parse(`${date}T00:00:00Z`) / 1_000,
    n_requests: requests,
    n_context_tokens_total: prompt,
    n_generated_tokens_total: completion,
    n_cached_tokens_total: cached,
    usage_details: mapped(models, (used) => ({
      requests: used.requests,
      prompt: used.prompt,
      completion: used.completion,
      cost: dollars(used.cost),
    })),
  };
}

/** The fields of usage. */
export const usageShape = ({
  requests,
  prompt,
  completion,
  cached,
  cacheWrite,
  reasoning,
  cost,
}: UsageFigures) => ({
  ...{ requests, prompt, completion, cached },
  cache_write: cacheWrite,
  reasoning,
  cost: dollars(cost),
});

const totalsShape = ({ requests, prompt, completion, reasoning, cost }: UsageFigures) => ({
  total_requests: requests,
  total_prompt: prompt,
  total_completion: completion,
  total_reasoning: reasoning,
  total_credit_used: dollars(cost),
});

const tokensShape = ({ prompt, cached, completion }: UsageFigures) => ({
  input_total: prompt,
  input_cached_total: cached,
  input_non_cached_total: prompt - cached,
  output_total: completion,
  processed_total: prompt + completion,
});

function userShape(account: AccountBill, all: UsageFigures) {
  const { name, alias, email } = account.who;
  return {
    id: account.id,
    ...{ name, alias, email },
    top_cost_model: account.topCost,
    top_request_model: account.topRequest,
    ...totalsShape(account.total),
    usage_analysis: sharesOf(account.total, all),
  };
}

function shortUserShape(account: AccountBill, all: UsageFigures) {
  const { name, email } = account.who;
  return {
    id: account.id,
    ...{ name, email },
    total_requests: account.total.requests,
    total_cost: dollars(account.total.cost),
    usage_analysis: sharesOf(account.total, all),
  };
}

const sharesOf = (part: UsageFigures, all: UsageFigures) => ({
  request_percentage: percent(part.requests, all.requests),
  cost_percentage: percent(part.cost, all.cost),
});

function percent(part: bigint | number, all: bigint | number): number {
  const [some, whole] = [Number(part), Number(all)];
  if (whole === 0) return 0;
  // The quotient of integers below 2^53 rounds down to the same integer as the exact one.
  if (some < EXACT_SHARE_MAX && whole < EXACT_SHARE_MAX) {
    return Math.floor((some * 20_000 + whole) / (2 * whole)) / 100;
  }
  return Number((BigInt(part) * 20_000n + BigInt(all)) / (2n * BigInt(all))) / 100;
}

/** 20,000 times this, and this once more, is still exact as a number. */
const EXACT_SHARE_MAX = 2 ** 38;

const NANO_IN_USD = 1_000_000_000;

/** An exact integer divided by another is rounded as its decimal text would be. */
const dollars = (cost: bigint): number =>
  cost <= Number.MAX_SAFE_INTEGER && cost >= -Number.MAX_SAFE_INTEGER
    ? Number(cost) / NANO_IN_USD
    : Number(exactUsd(cost));

const mapped = <T>(models: Models, shape: (used: UsageFigures) => T): Record<string, T> =>
  Object.fromEntries([...models].map(([model, used]) => [model, shape(used)]));

/**
 * Writes a bill over accounts as JSON, as fast as they are read: a hundred thousand of them never stand in one text, and
 * the event loop turns between the pieces. Groups come after the days, and `usage_users` last; null leaves either out.
 */
export async function* billText(
  object: keyof typeof BILL_SHAPES,
  answer: BillAnswer,
  accounts: AsyncIterable<readonly AccountBill[]> | null,
  groups: AsyncIterable<string> | null = null,
): AsyncGenerator<string> {
  const { total } = answer.bill;
  yield JSON.stringify(BILL_SHAPES[object](answer)).slice(0, -1);
  if (groups !== null) yield* groups;
  if (accounts === null) return yield "}";
  yield ',"usage_users":[';
  let comma = "";
  for await (const some of accounts) {
    if (some.length === 0) continue;
    const shapes = some.map((account) => USER_SHAPES[object](account, total));
    yield `${comma}${JSON.stringify(shapes).slice(1, -1)}`;
    comma = ",";
    await new Promise(setImmediate);
  }
  yield "]}";
}
