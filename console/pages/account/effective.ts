// What holds for an account: its own values, those of the accounts above it as far as the signed-in one sees them, and what the two
// come to (contract section 3). The service decides on each request; this shows why.

import type { Account } from "../../api/accounts.ts";
import type { Answers } from "../../api/answers.ts";
import { itemsOf } from "./list-change.ts";

/** The lists that every account above must allow too. */
export const SHARED_LISTS = ["AllowModels", "AllowLevels", "Resources"] as const;

/** One of them. */
export type SharedList = (typeof SHARED_LISTS)[number];

/** What an account above has; an empty list allows everything. */
export interface Above extends Readonly<Record<SharedList, readonly string[]>> {
  readonly name: string;
  readonly rates: number;
}

/** A list of one account among those that must all allow. */
export interface ListOf {
  readonly name: string;
  readonly items: readonly string[];
}

/** Returns what the signed-in account has, as its dashboard states it. */
export const aboveOfMe = ({ user, restrictions }: Answers["/dashboard/info"]): Above => ({
  name: user.name,
  rates: user.rates,
  AllowModels: restrictions.allow_models,
  AllowLevels: restrictions.allow_levels.map(String),
  Resources: restrictions.resources,
});

/** Returns what an account between has. */
export const aboveOf = ({ Name, Rates, AllowModels, AllowLevels, Resources }: Account): Above => ({
  name: Name,
  rates: Rates,
  AllowModels: itemsOf(AllowModels),
  AllowLevels: itemsOf(AllowLevels),
  Resources: itemsOf(Resources),
});

/** Returns the lists that a request must pass: those that are not empty, the account's own last. */
export const listsThatHold = (
  field: SharedList,
  own: { readonly name: string; readonly items: readonly string[] },
  above: readonly Above[],
): readonly ListOf[] =>
  [...above.map((one) => ({ name: one.name, items: one[field] })), own].filter(
    ({ items }) => items.length > 0,
  );

/** Returns the highest Rates among those above; null where there is none. */
export const highestRates = (above: readonly Above[]): Above | null =>
  above.reduce<Above | null>(
    (highest, one) => (highest === null || one.rates > highest.rates ? one : highest),
    null,
  );
