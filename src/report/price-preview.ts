// What the last days would have cost under other prices: each charge of a tree's ledger, recomputed from what it
// recorded. Usage documents say who was charged on which days and in whose tree they stood; the lines say how much.
// It never writes, and never reads more than a page of lines between two turns of the event loop.

import { type AccountId, dnaBelow, ROOT } from "../../actors/ids.ts";
import { type PriceNumbers, tierOfCharge } from "../../actors/pricing/cost.ts";
import { type ChargePart, costOfParts, withoutParts } from "../../actors/pricing/cost-parts.ts";
import type { Group, Priced } from "../../actors/pricing/price.ts";
import { GROUPS_OF, type PriceTable, type Pricing, priceTable } from "../../actors/pricing/price-table.ts";
import { toolParts, WEB_SEARCH } from "../../actors/pricing/tool-prices.ts";
import { NO_USAGE, type Usage } from "../../actors/pricing/usage.ts";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import type { Store } from "../store/store.ts";
import { type ChargeEvent, lineCount, numberedLines } from "./ledger-lines.ts";
import type { Whose } from "./usage-bill.ts";

/** Days that are looked back at, today included. */
export const PREVIEW_DAYS = 30;

/** Sums in nano-dollars, in bigint, since they are made across accounts. */
export interface ModelPreview {
  readonly model: string;
  readonly requests: number;
  readonly costNow: bigint;
  /** null: the model would have no price. */
  readonly costPreview: bigint | null;
}

export interface PricePreview {
  /** The dearest now first, then by name. */
  readonly models: readonly ModelPreview[];
  /** `costPreview` is without the models that would have no price. */
  readonly total: { readonly costNow: bigint; readonly costPreview: bigint };
}

export interface PreviewQuery {
  /** At the top of the tree that these prices serve: its own charges count too. Root's serve Root alone. */
  readonly of: { readonly id: AccountId; readonly dna: string };
  /** A checked PRICING, to be laid over the defaults; null: the defaults alone. */
  readonly pricing: Pricing | null;
  /** Wall ms: the last day is the one it lies in. */
  readonly now: number;
}

/**
 * Reads and recomputes. What an account used before it was moved stays with the tree it stood in, as in bills. Rejects
 * with the signal's reason when it is aborted, and with `StoreBusy` when the store has too much to add up already.
 */
export async function previewPrices(
  store: Store,
  { of, pricing, now }: PreviewQuery,
  signal?: AbortSignal,
): Promise<PricePreview> {
  const first = Math.floor(now / DAY_MS) - PREVIEW_DAYS + 1;
  const own = { ids: [of.id] };
  const whose: Whose = of.id === ROOT ? [own] : [own, { dna: dnaBelow(of.dna, of.id) }];
  const sums = summing(priceTable(pricing));
  for (const [account, days] of await chargedDays(store, whose, first, signal)) {
    for await (const charge of chargesOn(store, account, { first, days }, signal)) sums.add(charge);
  }
  return sums.preview();
}

/** By account, the days on which it was charged here: bit n stands for the n-th day from the first on. */
async function chargedDays(
  store: Store,
  whose: Whose,
  first: number,
  signal?: AbortSignal,
): Promise<ReadonlyMap<AccountId, number>> {
  const found = new Map<AccountId, number>();
  for (let n = 0; n < PREVIEW_DAYS; n++) {
    const day = dayOf((first + n) * DAY_MS);
    for (const accounts of whose) {
      const rows = await store.usageTotals({ accounts, from: day, to: day, by: ["account"] }, signal);
      for (const { account } of rows) {
        const id = account as AccountId;
        found.set(id, (found.get(id) ?? 0) | (1 << n));
      }
    }
  }
  return found;
}

/** Read and recomputed in a millisecond or two. */
const PAGE = 100;

/** An account's charges on these days, the newest first. The loop turns after each page. */
async function* chargesOn(
  store: Store,
  account: AccountId,
  { first, days }: { readonly first: number; readonly days: number },
  signal?: AbortSignal,
): AsyncGenerator<ChargeEvent> {
  const oldest = first + Math.log2(days & -days);
  for (let upTo = await lineCount(store, account); upTo > 0; upTo -= PAGE) {
    await new Promise(setImmediate);
    signal?.throwIfAborted();
    for (const { at, event } of await numberedLines(store, account, Math.max(1, upTo - PAGE + 1), upTo)) {
      const day = Math.floor(at / DAY_MS);
      // Time never falls in one account.
      if (day < oldest) return;
      const n = day - first;
      if (event.type === "charge" && n < PREVIEW_DAYS && (days & (1 << n)) !== 0) yield event;
    }
  }
}

interface Sums {
  readonly model: string;
  requests: number;
  costNow: bigint;
  costPreview: bigint | null;
}

function summing(prices: PriceTable): { add(charge: ChargeEvent): void; preview(): PricePreview } {
  const byModel = new Map<string, Sums>();
  const found = new Map<Group, Map<string, Priced | null>>();

  /** A model is looked up once for each kind of path. */
  function pricedAt(group: Group, model: string): Priced | null {
    const known = found.get(group) ?? new Map<string, Priced | null>();
    found.set(group, known);
    let priced = known.get(model);
    if (priced === undefined) {
      priced = prices.find(model, LOOKED_UP[group]);
      known.set(model, priced);
    }
    return priced;
  }

  function of(model: string): Sums {
    const sums = byModel.get(model) ?? { model, requests: 0, costNow: 0n, costPreview: 0n };
    byModel.set(model, sums);
    return sums;
  }

  /** Each charge is rounded once, as a real one is. Null: something that it paid for would have no price. */
  function recosted(priced: Priced, { usage, price, parts = [] }: ChargeEvent): number | null {
    const numbers = price as PriceNumbers;
    const { rates, factor } = numbers.multipliers;
    const terms = { rates, factor, tier: tierOfCharge(numbers), image: numbers.image };
    const tools = parts.filter(isOfTool).filter(({ name }) => name !== WEB_SEARCH);
    if (tools.some(({ name }) => prices.tool(name) === null)) return null;
    const uses = Object.fromEntries(tools.map((part) => [part.name, part.usage.calls]));
    const others = parts
      .filter((part) => !isOfTool(part))
      .map(({ name, usage }) => ({ name, usage, priced: [pricedAt(numbers.group, name) ?? priced] }));
    const all = [...others, ...toolParts(priced, prices, usage.webSearches, uses)];
    return costOfParts(priced, withoutParts(usage, parts), terms, all).amount;
  }

  return {
    add(charge) {
      const sums = of(charge.model);
      const priced = pricedAt((charge.price as PriceNumbers).group, charge.model);
      sums.requests++;
      sums.costNow += BigInt(charge.cost);
      if (priced === null) sums.costPreview = null;
      if (priced === null || sums.costPreview === null) return;
      const amount = recosted(priced, charge);
      sums.costPreview = amount === null ? null : sums.costPreview + BigInt(amount);
    },
    preview() {
      const models = [...byModel.values()].sort(byCost);
      return {
        models,
        total: {
          costNow: models.reduce((sum, { costNow }) => sum + costNow, 0n),
          costPreview: models.reduce((sum, { costPreview }) => sum + (costPreview ?? 0n), 0n),
        },
      };
    },
  };
}

/** Where a charge's model is looked up anew: in the groups of its kind of path, which the group that it had tells. */
const LOOKED_UP: Readonly<Record<Group, readonly Group[]>> = {
  ChatPricing: GROUPS_OF.tokens,
  FineTuningPricing: GROUPS_OF.tokens,
  CallPricing: GROUPS_OF.tokens,
  ImgPricing: GROUPS_OF.images,
  AudioPricing: GROUPS_OF.audio,
  RerankPricing: GROUPS_OF.rerank,
};

/** Tools use nothing but calls. */
const isOfTool = ({ usage }: ChargePart): boolean =>
  (Object.keys(NO_USAGE) as (keyof Usage)[]).every((count) => count === "calls" || usage[count] === 0);

function byCost(a: Sums, b: Sums): number {
  if (a.costNow !== b.costNow) return a.costNow < b.costNow ? 1 : -1;
  return a.model < b.model ? -1 : 1;
}
