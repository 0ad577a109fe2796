// Computes what the last days would have cost under other prices: each charge in the ledger of a tree,
// recomputed from what it recorded. Usage documents say which accounts were charged on which days and in
// which tree they were then; ledger lines have the amounts. It must not write, and reads at most one page of
// lines per turn of the event loop.

import { type AccountId, dnaBelow, ROOT } from "../../actors/ids.ts";
import type { PriceNumbers } from "../../actors/pricing/cost.ts";
import {
  type ChargePart,
  costOfParts,
  type UsagePart,
  withoutParts,
} from "../../actors/pricing/cost-parts.ts";
import { type AskedModel, findOtherPrice } from "../../actors/pricing/other-price.ts";
import type { Group, Priced } from "../../actors/pricing/price.ts";
import { tierOfCharge } from "../../actors/pricing/price-sheet.ts";
import { GROUPS_OF, type PriceTable, type Pricing, priceTable } from "../../actors/pricing/price-table.ts";
import { toolParts, WEB_SEARCH } from "../../actors/pricing/tool-prices.ts";
import { NO_USAGE, type Usage } from "../../actors/pricing/usage.ts";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import type { Store } from "../store/store.ts";
import { type ChargeEvent, lineCount, numberedLines } from "./ledger-lines.ts";
import type { Whose } from "./usage-bill.ts";

/** Days of a preview, today included. */
export const PREVIEW_DAYS = 30;

/** Sums of one model in nano-dollars; bigint, because sums over accounts may exceed safe integers. */
export interface ModelPreview {
  readonly model: string;
  readonly requests: number;
  readonly costNow: bigint;
  /** Null when the model would have no price. */
  readonly costPreview: bigint | null;
}

/** The result of a preview, in nano-dollars. */
export interface PricePreview {
  /** Ordered by current cost, highest first, then by name. */
  readonly models: readonly ModelPreview[];
  /** Sums over all models; `costPreview` leaves out models that would have no price. */
  readonly total: { readonly costNow: bigint; readonly costPreview: bigint };
}

/** What a preview computes. */
export interface PreviewQuery {
  /** The account at the top of the tree; its own charges are included. For Root, only its own charges are. */
  readonly of: { readonly id: AccountId; readonly dna: string };
  /** A validated PRICING, applied over the defaults; null means the defaults alone. */
  readonly pricing: Pricing | null;
  /** Wall-clock milliseconds; the last day of the preview contains it. */
  readonly now: number;
}

/**
 * Computes a preview. What an account used before it was moved counts in the tree that it was in, as in
 * bills. Rejects with the signal's reason when it is aborted, and with `StoreBusyError` when the store has too
 * many sums to compute already.
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

/** Returns, by account, the days on which it was charged in this tree: bit n stands for day `first` + n. */
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

/** Lines per page, which take a millisecond or two to read and recompute. */
const PAGE = 100;

/** Yields an account's charges on these days, the newest first. The event loop runs between pages. */
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
      // Time never decreases within one account, so all further lines are older.
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
  const others = new Map<string, Priced | null>();

  /** Looks up the price of a model, cached by group. */
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

  /** Looks up the price of a model that an answer named, cached by its group, the model that was asked and its own name. */
  function otherPriceOf(asked: AskedModel, named: string, group: Group): Priced | null {
    const key = `${group}\n${asked.model}\n${named}`;
    let other = others.get(key);
    if (other === undefined) {
      other = findOtherPrice(asked, named, LOOKED_UP[group]);
      others.set(key, other);
    }
    return other;
  }

  /**
   * Recomputes one charge, rounded once, as real charges are: at the higher price if another model answered, unless the
   * Owner prices the model that was asked. Returns null when something that it paid for would have no price.
   */
  function recosted(priced: Priced, charge: ChargeEvent): number | null {
    const { usage, price, parts = [], model, answeredModel } = charge;
    const numbers = price as PriceNumbers;
    const { rates, factor } = numbers.multipliers;
    const terms = { rates, factor, tier: tierOfCharge(numbers), image: numbers.image };
    const tools = parts.filter(isOfTool).filter(({ name }) => name !== WEB_SEARCH);
    if (tools.some(({ name }) => prices.tool(name) === null)) return null;
    const uses = Object.fromEntries(tools.map((part) => [part.name, part.usage.calls]));
    const otherPrice = (named: string) => otherPriceOf({ model, priced, prices }, named, numbers.group);
    const turns = parts
      .filter((part) => !isOfTool(part))
      .map(({ name, usage }): UsagePart => {
        const other = otherPrice(name);
        return { name, usage, priced: other === null ? [priced] : [priced, other] };
      });
    const own = withoutParts(usage, parts);
    const amountAt = (main: Priced): number =>
      costOfParts(main, own, terms, [...turns, ...toolParts(main, prices, usage.webSearches, uses)]).amount;
    const answered = answeredModel === undefined || priced.byOwner ? null : otherPrice(answeredModel);
    return answered === null ? amountAt(priced) : Math.max(amountAt(priced), amountAt(answered));
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

/**
 * The price groups in which a charge's model is searched: those of its kind of path, which follows from the
 * group that it was charged in.
 */
const LOOKED_UP: Readonly<Record<Group, readonly Group[]>> = {
  ChatPricing: GROUPS_OF.tokens,
  FineTuningPricing: GROUPS_OF.tokens,
  CallPricing: GROUPS_OF.tokens,
  ImgPricing: GROUPS_OF.images,
  AudioPricing: GROUPS_OF.audio,
  RerankPricing: GROUPS_OF.rerank,
};

/** Whether a part is a tool: its usage consists of calls alone. */
const isOfTool = ({ usage }: ChargePart): boolean =>
  (Object.keys(NO_USAGE) as (keyof Usage)[]).every((count) => count === "calls" || usage[count] === 0);

function byCost(a: Sums, b: Sums): number {
  if (a.costNow !== b.costNow) return a.costNow < b.costNow ? 1 : -1;
  return a.model < b.model ? -1 : 1;
}
