// Answers of the API with exact money: amounts of US dollars become `Nanos`, figures whose unit the row names become
// `Billionths`, everything else is what JSON.parse gives. And bodies of requests, in which amounts are exact again. A test
// compares the names below with every schema of the HTTP layer.
//
// Prices, multipliers and durations stay numbers: their shortest text is exactly what the service computes with (rational.ts).

import { type Billionths, billionthsOf, type Nanos, plainUsd } from "./amount.ts";

/** Fields that are US dollars wherever they are numbers; `total` beside `has_more` is a count, see `isCount`. */
export const MONEY_FIELDS = [
  ...["Balance", "HardLimit", "SoftLimit", "AutoQuota", "DailyLimit", "CreditGranted"],
  ...["CreditUsed", "ChargeAmount", "XCredit", "RefundedBalance", "TransactionFee"],
  ...["CostToday", "UserMinBalance", "UserApiBalance", "USER_MIN_BALANCE", "USER_API_BALANCE"],
  ...["balance", "balance_after", "user_api_balance", "total", "held", "amount", "sum"],
  ...["hard_limit", "soft_limit", "auto_quota", "daily_limit"],
  ...["cost", "cost_today", "cost_month", "cost_total", "month_cost", "cost_now", "cost_preview"],
  ...["total_credit_used", "total_cost", "query_fee", "hold", "min", "max"],
  ...["minted", "moved_in", "adjusted", "written_off", "balances", "under_way", "charges", "fees"],
  ...["expired", "returned", "moved_out", "difference"],
] as const;

/** Fields that are US dollars in some rows and count something in others. */
export const FIGURE_FIELDS = ["limit", "used", "remaining", "figure"] as const;

/** Names of limits, and reasons of rows of `/x-attention`, whose figures are US dollars. */
const DOLLAR_FIGURES: ReadonlySet<string> = new Set([
  ...["balance", "hard_limit", "daily_limit", "low_balance", "expiring"],
]);

/**
 * Whether the figures of a row are US dollars: by the `name` of a limit (`windows` of `/dashboard/live`, `limits` of explain) or
 * the `reason` of a row of `/x-attention`.
 */
export const isDollarFigure = (nameOrReason: string): boolean => DOLLAR_FIGURES.has(nameOrReason);

/** Fields whose names below are free, or prices: models, sizes, settings of providers. Nothing below them is an amount. */
export const PLAIN_FIELDS = [
  ...["LevelMapper", "SwitchOver", "LEVEL_MAPPER", "SWITCH_OVER", "Sizes", "Config"],
  ...["price", "list", "override", "effective", "PRICING"],
] as const;

type MoneyField = (typeof MONEY_FIELDS)[number];
type FigureField = (typeof FIGURE_FIELDS)[number];
type PlainField = (typeof PLAIN_FIELDS)[number];

/** Numbers of a value, and of its union with others, as amounts of this type. */
type AmountsOf<V, A> = V extends number ? A : Exact<V>;

/** One field of an answer. */
type ExactField<T, K extends keyof T> = K extends PlainField
  ? T[K]
  : K extends MoneyField
    ? K extends "total"
      ? T extends { readonly has_more: boolean }
        ? T[K]
        : AmountsOf<T[K], Nanos>
      : AmountsOf<T[K], Nanos>
    : K extends FigureField
      ? AmountsOf<T[K], Billionths>
      : Exact<T[K]>;

/** What `readExact` makes of an answer: `Exact<Static<typeof LedgerSchema>>`. The same type is what `writeExact` takes of a body. */
export type Exact<T> = T extends readonly (infer I)[]
  ? readonly Exact<I>[]
  : T extends object
    ? { [K in keyof T]: ExactField<T, K> }
    : T;

const AMOUNTS: ReadonlySet<string> = new Set<string>([...MONEY_FIELDS, ...FIGURE_FIELDS]);
const PLAIN: ReadonlySet<string> = new Set<string>(PLAIN_FIELDS);

/** Fields of a change, whose numbers are what the field above them is: `USER_MIN_BALANCE: {before, after}`. */
const CHANGE: ReadonlySet<string> = new Set(["before", "after"]);

/** A number that may be an amount, as the answer wrote it. */
class WrittenNumber {
  constructor(
    readonly value: number,
    readonly text: string,
  ) {}
}

/** What reads JSON: a reviver gets the source of each number, in browsers that have it. */
type Parse = (text: string, reviver: Reviver) => unknown;
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/**
 * Parses an answer with exact amounts. In a browser whose revivers get no source an amount is the shortest text of its double:
 * that is how the service writes it, so below 9,000,000 USD both ways read the same. Throws SyntaxError for what is no JSON, and
 * for an amount with more than nine decimals, which no answer has. `parse` is another one in tests alone.
 */
export function readExact<T>(text: string, parse: Parse = JSON.parse as Parse): Exact<T> {
  const read = parse(text, (key, value, context) =>
    typeof value === "number" && (AMOUNTS.has(key) || CHANGE.has(key))
      ? new WrittenNumber(value, context?.source ?? String(value))
      : value,
  );
  settle(read, null, false);
  return read as Exact<T>;
}

/** Replaces the written numbers below a value in place. `field` is the value's own name; `isPlain`: no amount is below it. */
function settle(value: unknown, field: string | null, isPlain: boolean): void {
  if (typeof value !== "object" || value === null) return;
  const holder = value as Record<string, unknown>;
  for (const key of Object.keys(holder)) {
    const one = holder[key];
    if (!(one instanceof WrittenNumber)) settle(one, key, isPlain || PLAIN.has(key));
    else if (isPlain || isCount(holder, key, field)) holder[key] = one.value;
    else holder[key] = amountOf(key, one);
  }
}

/** Whether a number of such a name is no amount: how many entries a paged list has, or a change of another setting. */
const isCount = (holder: object, key: string, field: string | null): boolean =>
  key === "total" ? "has_more" in holder : CHANGE.has(key) && (field === null || !AMOUNTS.has(field));

function amountOf(key: string, { text }: WrittenNumber): Billionths {
  const amount = billionthsOf(text);
  if (amount === null) throw new SyntaxError(`"${key}" is no amount of at most nine decimals: ${text}`);
  return amount;
}

/** Returns a body as JSON text; amounts are decimals with all of their places, and fields that are undefined are left out. */
export function writeExact(body: unknown): string {
  if (typeof body === "bigint") return plainUsd(body);
  if (Array.isArray(body)) return `[${body.map((one) => writeExact(one ?? null)).join(",")}]`;
  if (typeof body !== "object" || body === null) return JSON.stringify(body) ?? "null";
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${writeExact(value)}`).join(",")}}`;
}
