// Adds up usage rows in one pass: by day and model, and by account with its models of highest cost and most
// requests. Sums are exact to the nano-dollar and kept in flat columns, because a month of a large tree is
// millions of rows. It reads and stores nothing.

import { type Cell, SUMS } from "./usage-rows.ts";

/** Sums of usage in both groupings of a `UsageReport`. */
export interface UsageAggregator {
  /**
   * Returns a function that adds rows of one day and model. Each row belongs to one account; its sums begin
   * at `row[from]`, in the order of SUMS.
   */
  of(day: string, model: string): (account: number, row: readonly Cell[], from: number) => void;
  /** Rows of day, model and sums, in the order of day, then model. */
  days(): Cell[][];
  /**
   * Rows of account, model of highest cost, model of most requests, and sums; ordered by cost, highest first,
   * then by id.
   */
  accounts(): Cell[][];
}

/** Creates an empty aggregator. */
export function createUsageAggregator(): UsageAggregator {
  const [days, models, accounts] = [numbering<string>(), numbering<string>(), numbering<number>()];
  const [byDay, byAccount] = [chains(), chains()];

  /** The sums of an account over all models, and its leading models. */
  function accountOf(account: number, group: number) {
    const all: number[] = Array(WIDTH).fill(0);
    const [dearest, most] = [leading(models.all), leading(models.all)];
    for (let entry = byAccount.first(group); entry >= 0; entry = byAccount.next(entry)) {
      const model = byAccount.model(entry);
      for (let i = 0; i < WIDTH; i++) all[i]! += byAccount.figure(entry, i);
      dearest.offer(model, costOf(byAccount.figure(entry, COST), byAccount.figure(entry, COST + 1)));
      most.offer(model, byAccount.figure(entry, REQUESTS));
    }
    const cells = [account, dearest.name(), most.name(), ...cellsOf(all)];
    return { account, cost: costOf(all[COST]!, all[COST + 1]!), cells };
  }

  return {
    of(day, model) {
      const which = models.numberOf(model);
      const ofDay = byDay.entryOf(days.numberOf(day), which);
      return (account, row, from) => {
        byDay.add(ofDay, row, from);
        byAccount.add(byAccount.entryOf(accounts.numberOf(account), which), row, from);
      };
    },
    days() {
      const rows: Cell[][] = [];
      for (const [group, day] of days.all.entries()) {
        for (let entry = byDay.first(group); entry >= 0; entry = byDay.next(entry)) {
          const figures = Array.from({ length: WIDTH }, (_, i) => byDay.figure(entry, i));
          rows.push([day, models.all[byDay.model(entry)]!, ...cellsOf(figures)]);
        }
      }
      return rows.sort((a, b) => compare(a[0]!, b[0]!) || compare(a[1]!, b[1]!));
    },
    accounts: () =>
      accounts.all
        .map(accountOf)
        .sort((a, b) => compare(b.cost, a.cost) || a.account - b.account)
        .map(({ cells }) => cells),
  };
}

const compare = (a: Cell | bigint, b: Cell | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Finds the model with the greatest value; of equal models, the first by name. */
function leading(names: readonly string[]) {
  let best = -1;
  let most: number | bigint = 0;
  return {
    offer(model: number, value: number | bigint): void {
      const order = best < 0 ? 1 : compare(value, most) || compare(names[best]!, names[model]!);
      if (order <= 0) return;
      best = model;
      most = value;
    },
    name: (): string => names[best] ?? "",
  };
}

/** Assigns consecutive numbers to values, from 0. */
function numbering<T>() {
  const numbers = new Map<T, number>();
  const all: T[] = [];
  return {
    all,
    numberOf(value: T): number {
      const known = numbers.get(value);
      if (known !== undefined) return known;
      numbers.set(value, all.length);
      return all.push(value) - 1;
    },
  };
}

const REQUESTS = SUMS.indexOf("requests");
const COST = SUMS.length - 1;
/**
 * A cost is added up in two halves, each of which stays a safe integer. The other sums are safe integers as a
 * whole.
 */
const HALF = 2 ** 32;
const WIDTH = SUMS.length + 1;
/** While the upper half is below this, the whole cost is a safe integer. */
const SAFE_HIGH = 2 ** 20;

function costOf(low: number, high: number): number | bigint {
  const carried = high + Math.floor(low / HALF);
  return carried < SAFE_HIGH ? high * HALF + low : BigInt(high) * BigInt(HALF) + BigInt(low);
}

/** A cost may exceed the safe integers, so it is passed as text. */
const cellsOf = (figures: readonly number[]): Cell[] => [
  ...figures.slice(0, COST),
  String(costOf(figures[COST]!, figures[COST + 1]!)),
];

/**
 * Sums of groups by model. The entries of a group form a linked list; the figures of all entries lie in one
 * array.
 */
function chains() {
  let columns = new Float64Array(WIDTH * 1_024);
  const heads: number[] = [];
  const followers: number[] = [];
  const models: number[] = [];

  function made(group: number, model: number): number {
    const entry = models.push(model) - 1;
    followers.push(heads[group]!);
    heads[group] = entry;
    if (columns.length < models.length * WIDTH) {
      const wider = new Float64Array(columns.length * 2);
      wider.set(columns);
      columns = wider;
    }
    return entry;
  }

  return {
    /** Returns −1 when the group has no entry. */
    first: (group: number): number => heads[group] ?? -1,
    next: (entry: number): number => followers[entry]!,
    model: (entry: number): number => models[entry]!,
    figure: (entry: number, which: number): number => columns[entry * WIDTH + which]!,
    entryOf(group: number, model: number): number {
      while (heads.length <= group) heads.push(-1);
      for (let entry = heads[group]!; entry >= 0; entry = followers[entry]!) {
        if (models[entry] === model) return entry;
      }
      return made(group, model);
    },
    add(entry: number, row: readonly Cell[], from: number): void {
      const place = entry * WIDTH;
      for (let i = 0; i < COST; i++) columns[place + i]! += row[from + i] as number;
      const cost = row[from + COST] as number;
      const high = Math.floor(cost / HALF);
      columns[place + COST]! += cost - high * HALF;
      columns[place + COST + 1]! += high;
    },
  };
}
