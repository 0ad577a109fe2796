// Counts the ledger lines that a filter selects, and adds up their amounts, in the cheapest way that is exact: by the numbers
// and balances of the first and the last line, by the usage of whole days, and only otherwise line by line. It shows nothing.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import { actorName } from "../runtime/actor.ts";
import type { LineTotals, Store } from "../store/store.ts";
import { numberedLines } from "./ledger-lines.ts";
import { isOfTimes, type LedgerFilter, lineNumbers } from "./ledger-page.ts";

/** Usage documents trail charges by two seconds: a day is read from its document a minute after its end. */
const SETTLED_MS = 60_000;

/** The entry of usage documents that stands for models beyond the bound of an account. */
const OTHER_MODELS = "(other)";

/** The types of lines that have a model. The usage of whole days has those of the first; the others are few, and found fast. */
const [CHARGE, LATE_CHARGE] = [["charge"], ["late_charge"]];

const NONE: LineTotals = { count: 0, amount: 0n };

/**
 * Returns the totals of an account's lines that pass. `now` is wall-clock milliseconds. Rejects with the signal's reason when it
 * is aborted, and with `StoreBusyError` when too much is counted already.
 */
export async function ledgerTotals(
  store: Store,
  id: AccountId,
  filter: LedgerFilter,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<LineTotals> {
  // Root's balance is 0 by definition, whatever its lines add up to.
  if (isOfTimes(filter) && id !== ROOT) return byBalances(store, id, filter);
  const charges = { ...filter, types: CHARGE };
  if (filter.types === undefined && filter.model !== undefined && isOfCharges(charges)) {
    const late = counted(store, id, { ...filter, types: LATE_CHARGE }, signal);
    return added(...(await Promise.all([ledgerTotals(store, id, charges, { now, signal }), late])));
  }
  const byDay = isOfCharges(filter) ? await ofWholeDays(store, id, filter, { now, signal }) : null;
  if (byDay === null) return counted(store, id, filter, signal);
  const rests = await Promise.all(byDay.rests.map((rest) => counted(store, id, rest, signal)));
  return [byDay.totals, ...rests].reduce(added);
}

const added = (a: LineTotals, b: LineTotals): LineTotals => ({
  count: a.count + b.count,
  amount: a.amount + b.amount,
});

/** The amount of lines in a row is what they changed the balance by, which every line states. */
async function byBalances(store: Store, id: AccountId, filter: LedgerFilter): Promise<LineTotals> {
  const { first, last } = await lineNumbers(store, id, filter);
  if (last < first) return NONE;
  const balanceAfter = async (number: number): Promise<bigint> => {
    const [line] = await numberedLines(store, id, number, number);
    return BigInt(line?.event.balanceAfter ?? 0);
  };
  const [before, after] = await Promise.all([first === 1 ? 0n : balanceAfter(first - 1), balanceAfter(last)]);
  return { count: last - first + 1, amount: after - before };
}

const counted = (
  store: Store,
  id: AccountId,
  filter: LedgerFilter,
  signal: AbortSignal,
): Promise<LineTotals> => store.lineTotals({ ...filter, actor: actorName(actorRef.account(id)) }, signal);

/** Whether a filter selects by times and models among charges: what usage documents are the sums of. */
function isOfCharges({ from, until, model, types, ...others }: LedgerFilter): boolean {
  return types?.length === 1 && types[0] === CHARGE[0] && model !== OTHER_MODELS && isOfTimes(others);
}

/** The totals of the whole days within a filter's times, and filters of what remains at both ends. */
interface WholeDays {
  readonly totals: LineTotals;
  readonly rests: readonly LedgerFilter[];
}

/** Returns null when no whole day is within the times, or when a document does not have the model apart. */
async function ofWholeDays(
  store: Store,
  id: AccountId,
  filter: LedgerFilter,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<WholeDays | null> {
  const { from = 0, until = Number.MAX_SAFE_INTEGER, model } = filter;
  const first = Math.ceil(from / DAY_MS);
  const end = Math.floor(Math.min(until, now - SETTLED_MS) / DAY_MS);
  if (end <= first) return null;
  const days = { from: dayOf(first * DAY_MS), to: dayOf((end - 1) * DAY_MS) };
  const by = model === undefined ? ([] as const) : (["model"] as const);
  const rows = await store.usageTotals({ accounts: { ids: [id] }, ...days, by }, signal);
  if (model !== undefined && rows.some((row) => row.model === OTHER_MODELS)) return null;
  const own = rows.filter((row) => row.model === model?.toWellFormed());
  const totals = own.map(({ requests, cost }) => ({ count: requests, amount: -cost })).reduce(added, NONE);
  const rests = [
    ...(from < first * DAY_MS ? [{ ...filter, until: first * DAY_MS }] : []),
    ...(end * DAY_MS < until ? [{ ...filter, from: end * DAY_MS }] : []),
  ];
  return { totals, rests };
}
