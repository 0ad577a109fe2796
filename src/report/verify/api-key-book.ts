// Recomputes the sums of an account's named API keys from its ledger with its own arithmetic, and compares them with
// the fold at the ledger's end. It must not use the fold's sums: a mistake there would be repeated here.

import type { Account, AccountEvent } from "../../../actors/account/state.ts";
import { differences, type Findings } from "./findings.ts";

/** What was spent on the newest day, in the newest month, and ever; amounts are in nano-dollars. */
interface Sums {
  day: string;
  dayCost: number;
  month: string;
  monthCost: number;
  total: number;
}

/** The sums of one key that is not deleted. */
interface KeySums {
  readonly cost: Sums;
  readonly fees: Sums;
}

/** The recomputed sums of an account's named keys. */
export interface ApiKeyBook {
  /** The id of the newest key; ids are given in order, so that every id up to it has existed. */
  lastId: number;
  readonly keys: Map<number, KeySums>;
  /** Charges of all named keys, deleted ones included. */
  readonly all: Sums;
}

const noSums = (): Sums => ({ day: "", dayCost: 0, month: "", monthCost: 0, total: 0 });

/** Creates the sums of an account without named keys. */
export const emptyApiKeyBook = (): ApiKeyBook => ({ lastId: 0, keys: new Map(), all: noSums() });

/** Adds one event, committed at `at` (wall-clock ms), to the sums; reports lines of keys that never existed. */
export function enterApiKey(
  book: ApiKeyBook,
  event: AccountEvent,
  at: number,
  { findings, where }: { readonly findings: Findings; readonly where: string },
): void {
  switch (event.type) {
    case "api_key_added": {
      const { id } = event.key;
      if (id !== book.lastId + 1) findings.add("api_key", where, `key ${id} is added after ${book.lastId}`);
      book.lastId = Math.max(book.lastId, id);
      book.keys.set(id, { cost: noSums(), fees: noSums() });
      return;
    }
    case "api_key_deleted":
      book.keys.delete(event.apiKey);
      return;
    case "charge":
    case "late_charge":
    case "query_fee": {
      const { apiKey, apiKeyName, type, id } = event;
      if (apiKey === undefined) return;
      if (!(apiKey >= 1 && apiKey <= book.lastId)) {
        findings.add("api_key", where, `${type} ${id} is of key ${apiKey}, which never existed`);
        return;
      }
      if (apiKeyName === undefined) findings.add("api_key", where, `${type} ${id} does not name its key`);
      const sums = book.keys.get(apiKey);
      if (type === "query_fee") {
        if (sums !== undefined) spend(sums.fees, -event.amount, at);
      } else if (type === "charge") {
        spend(book.all, event.cost, at);
        if (sums !== undefined) spend(sums.cost, event.cost, at);
      }
      return;
    }
  }
}

/** The sums that limits compare stop at the largest exact amount. */
const capped = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);

function spend(sums: Sums, cost: number, at: number): void {
  const day = new Date(at).toISOString().slice(0, 10);
  const month = day.slice(0, 7);
  sums.dayCost = capped((sums.day === day ? sums.dayCost : 0) + cost);
  sums.monthCost = capped((sums.month === month ? sums.monthCost : 0) + cost);
  sums.total += cost;
  sums.day = day;
  sums.month = month;
}

/** Compares the fold's keys and sums at the ledger's end with the recomputed ones. */
export function verifyApiKeys(
  name: string,
  { apiKeys }: Account,
  { keys, all, lastId }: ApiKeyBook,
  findings: Findings,
): void {
  const found = {
    cost: apiKeys?.cost ?? noSums(),
    keys: Object.fromEntries(
      [...(apiKeys?.all() ?? [])].map(({ key, cost, fees }) => [key.id, { cost, fees }]),
    ),
    freeId: apiKeys?.freeId ?? 1,
  };
  const computed = { cost: all, keys: Object.fromEntries(keys), freeId: lastId + 1 };
  for (const what of differences(found, computed)) findings.add("api_key", name, what);
}
