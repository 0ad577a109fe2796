// How much credit an account can give and receive. A balance is an exact integer, so it is bounded. Credit in
// transit to another account may return, so it counts as part of the balance.

import type { Refusal } from "../../src/base/errors.ts";
import { availableAt, bookBalance } from "../credit.ts";
import { formatUsd, least, minus, most, NANO_MAX, type Nano, ZERO } from "../money.ts";
import { type Account, isRoot } from "./state.ts";

/** The highest balance of an account, in nano-dollars. */
export const BALANCE_NANO_MAX = NANO_MAX;

/**
 * Credit that an account can give and take, in nano-dollars. Both fields are null, meaning unbounded, for
 * Root.
 */
export interface Margins {
  /** Credit that no open hold needs; UserMinBalance is not subtracted. */
  readonly free: Nano | null;
  /** The amount by which the balance may rise. */
  readonly room: Nano | null;
}

/** Returns the margins at `now` (wall-clock ms), or null if the account does not exist. */
export function margins(state: Account, now: number): Margins | null {
  const { profile, credit, volatile } = state;
  if (profile === null) return null;
  if (isRoot(profile)) return { free: null, room: null };
  return { free: availableAt(credit, volatile, now), room: roomOf(state) };
}

/** Returns the amount by which the balance may rise and stay exact, even if all credit in transit returns. */
export function roomOf({ credit, owing }: Account): Nano {
  // Each step stays exact, because credit in transit was part of a balance.
  const rest = owing.reduce((left, { amount }) => minus(left, amount), BALANCE_NANO_MAX);
  const balance = bookBalance(credit);
  return balance <= 0 ? rest : most(ZERO, minus(rest, least(balance, rest)));
}

/**
 * Returns whether `amount` is free beyond `keep`. A negative `keep` counts as 0, so a transfer never
 * overdraws.
 */
export const affords = ({ free }: Pick<Margins, "free">, amount: Nano, keep: Nano): boolean =>
  free === null || free >= amount + most(ZERO, keep);

/**
 * Returns the refusal (invalid_parameter) of a transfer that exceeds the receiver's room, or null if it fits.
 * `room` is null for an unbounded receiver, and undefined if it was not looked up.
 */
export function overfull(to: Account["id"], amount: Nano, room: Nano | null | undefined): Refusal | null {
  if (room === null || room === undefined || amount <= room) return null;
  return {
    code: "invalid_parameter",
    message:
      `Account ${to} cannot take ${formatUsd(amount)} USD: a balance is at most ${formatUsd(BALANCE_NANO_MAX)} USD, ` +
      `and ${formatUsd(room)} USD is left of that.`,
  };
}
