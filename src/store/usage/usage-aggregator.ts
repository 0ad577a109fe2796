// Adds up usage rows in one pass: by day and model, and by account with its models of highest cost and most
// requests. Sums are exact to the nano-dollar and kept in flat columns, because a month of a large tree is
// millions of rows. It reads and stores nothing.

import { type Cell, figureOf, SUMS } from "./usage-rows.ts";

/** The sums of one account: the model of highest cost, the model of most requests, then the sums as cells. */
export interface AccountSums {
  readonly account: number;
  readonly cells: readonly Cell[];
}

/** Sums of usage in both groupings of a `UsageReport`. */
export class UsageAggregator {
  readonly #days = new Numbering<string>();
  readonly #models = new Numbering<string>();
  readonly #accounts = new Numbering<number>();
  readonly #byDay = new GroupedSums();
  readonly #byAccount = new GroupedSums();

  /** Returns the group of a day and model, to which `add` adds rows. */
  group(day: string, model: string): number {
    return this.#byDay.entryOf(this.#days.numberOf(day), this.#models.numberOf(model));
  }

  /**
   * Adds the row of an account to a group. Its sums begin at `row[from]`, in the order of SUMS. Throws
   * `StoredRowError` when one of them is not a number.
   */
  add(group: number, account: number, row: readonly unknown[], from: number): void {
    this.#byDay.add(group, row, from);
    const ofAccount = this.#byAccount.entryOf(this.#accounts.numberOf(account), this.#byDay.model(group));
    this.#byAccount.add(ofAccount, row, from);
  }

  /** Rows of day, model and sums, in the order of day, then model. */
  days(): Cell[][] {
    const rows: Cell[][] = [];
    for (const [group, day] of this.#days.all.entries()) {
      for (let entry = this.#byDay.first(group); entry >= 0; entry = this.#byDay.next(entry)) {
        const figures = Array.from({ length: WIDTH }, (_, i) => this.#byDay.figure(entry, i));
        rows.push([day, this.#models.all[this.#byDay.model(entry)]!, ...cellsOf(figures)]);
      }
    }
    return rows.sort((a, b) => compare(a[0]!, b[0]!) || compare(a[1]!, b[1]!));
  }

  /**
   * Yields all accounts, `size` at a time, ordered by cost, highest first, then by id. Only the rows that are
   * yielded exist as objects. Rows must not be added meanwhile.
   */
  *accounts(size: number): Generator<readonly AccountSums[]> {
    const ranked = this.#ranked();
    for (let from = 0; from < ranked.length; from += size) {
      yield Array.from(ranked.subarray(from, from + size), (group) => this.#accountSums(group));
    }
  }

  /** The ids of all accounts, in no order. */
  accountIds(): readonly number[] {
    return this.#accounts.all;
  }

  /** The groups of all accounts in the order of `accounts`. */
  #ranked(): Uint32Array {
    const ids = this.#accounts.all;
    const [high, low] = [new Float64Array(ids.length), new Float64Array(ids.length)];
    const sums = this.#byAccount;
    for (let group = 0; group < ids.length; group++) {
      for (let entry = sums.first(group); entry >= 0; entry = sums.next(entry)) {
        low[group]! += sums.figure(entry, COST);
        high[group]! += sums.figure(entry, COST + 1);
      }
      const carried = Math.floor(low[group]! / HALF);
      low[group]! -= carried * HALF;
      high[group]! += carried;
    }
    return Uint32Array.from(ids.keys()).sort(
      (a, b) => high[b]! - high[a]! || low[b]! - low[a]! || ids[a]! - ids[b]!,
    );
  }

  /** The sums of an account over all models, and its leading models. */
  #accountSums(group: number): AccountSums {
    const all: number[] = Array(WIDTH).fill(0);
    const [dearest, busiest] = [new LeadingModel(this.#models.all), new LeadingModel(this.#models.all)];
    const sums = this.#byAccount;
    for (let entry = sums.first(group); entry >= 0; entry = sums.next(entry)) {
      const model = sums.model(entry);
      for (let i = 0; i < WIDTH; i++) all[i]! += sums.figure(entry, i);
      dearest.offer(model, costOf(sums.figure(entry, COST), sums.figure(entry, COST + 1)));
      busiest.offer(model, sums.figure(entry, REQUESTS));
    }
    const cells = [dearest.name(), busiest.name(), ...cellsOf(all)];
    return { account: this.#accounts.all[group]!, cells };
  }
}

const compare = (a: Cell | bigint, b: Cell | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Finds the model with the greatest value; of equal models, the first by name. */
class LeadingModel {
  readonly #names: readonly string[];
  #best = -1;
  #value: number | bigint = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  offer(model: number, value: number | bigint): void {
    const names = this.#names;
    const order =
      this.#best < 0 ? 1 : compare(value, this.#value) || compare(names[this.#best]!, names[model]!);
    if (order <= 0) return;
    this.#best = model;
    this.#value = value;
  }

  name(): string {
    return this.#names[this.#best] ?? "";
  }
}

/** Assigns consecutive numbers to values, from 0. */
class Numbering<T> {
  readonly #numbers = new Map<T, number>();
  readonly all: T[] = [];

  numberOf(value: T): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    this.#numbers.set(value, this.all.length);
    return this.all.push(value) - 1;
  }
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

/** Entries per block of columns, as a power of two. */
const BLOCK_BITS = 12;
const BLOCK_MASK = 2 ** BLOCK_BITS - 1;

/**
 * Sums of groups by model. The entries of a group form a linked list; their figures lie in blocks, so that
 * adding an entry never copies the others.
 */
class GroupedSums {
  readonly #blocks: Float64Array[] = [];
  readonly #heads: number[] = [];
  readonly #followers: number[] = [];
  readonly #models: number[] = [];

  /** Returns −1 when the group has no entry. */
  first(group: number): number {
    return this.#heads[group] ?? -1;
  }

  next(entry: number): number {
    return this.#followers[entry]!;
  }

  model(entry: number): number {
    return this.#models[entry]!;
  }

  figure(entry: number, which: number): number {
    return this.#blocks[entry >> BLOCK_BITS]![(entry & BLOCK_MASK) * WIDTH + which]!;
  }

  entryOf(group: number, model: number): number {
    while (this.#heads.length <= group) this.#heads.push(-1);
    for (let entry = this.#heads[group]!; entry >= 0; entry = this.#followers[entry]!) {
      if (this.#models[entry] === model) return entry;
    }
    return this.#addEntry(group, model);
  }

  add(entry: number, row: readonly unknown[], from: number): void {
    const block = this.#blocks[entry >> BLOCK_BITS]!;
    const start = (entry & BLOCK_MASK) * WIDTH;
    for (let i = 0; i < COST; i++) block[start + i]! += figureOf(row[from + i]);
    const cost = figureOf(row[from + COST]);
    const high = Math.floor(cost / HALF);
    block[start + COST]! += cost - high * HALF;
    block[start + COST + 1]! += high;
  }

  #addEntry(group: number, model: number): number {
    const entry = this.#models.push(model) - 1;
    this.#followers.push(this.#heads[group]!);
    this.#heads[group] = entry;
    if ((entry & BLOCK_MASK) === 0) this.#blocks.push(new Float64Array(WIDTH * (BLOCK_MASK + 1)));
    return entry;
  }
}
