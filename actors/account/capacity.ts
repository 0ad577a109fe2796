// How much credit an account can give away and how much it can still take. A balance is an exact integer, so it has a bound;
// what is under way to another account may come back, so it counts as if it were here.

import type { Refusal } from "../../src/base/errors.ts";
import { availableAt, bookBalance } from "../credit.ts";
import { formatUsd, least, minus, most, type Nano, toNano, ZERO } from "../money.ts";
import { type Account, isRoot } from "./state.ts";

/** The highest balance of an account. */
export const BALANCE_NANO_MAX = toNano(Number.MAX_SAFE_INTEGER);

/** null: no bound, which is so for Root. */
export interface Margins {
  /** Not needed by requests in flight; UserMinBalance is not taken off. */
  readonly free: Nano | null;
  readonly room: Nano | null;
}

export function margins(state: Account, now: number): Margins | null {
  const { profile, credit, volatile } = state;
  if (profile === null) return null;
  if (isRoot(profile)) return { free: null, room: null };
  return { free: availableAt(credit, volatile.heldCost, now), room: roomOf(state) };
}

/** What the balance may rise by and stay exact, also if all that is under way comes back. */
export function roomOf({ credit, owing }: Account): Nano {
  // Each step stays exact: what is under way was part of a balance once.
  const rest = owing.values().reduce((left, { amount }) => minus(left, amount), BALANCE_NANO_MAX);
  const balance = bookBalance(credit);
  return balance <= 0 ? rest : most(ZERO, minus(rest, least(balance, rest)));
}

/** Is there so much free beside what must be kept? A transfer never makes a debt, whatever UserMinBalance says. */
export const affords = ({ free }: Pick<Margins, "free">, amount: Nano, keep: Nano): boolean =>
  free === null || free >= amount + most(ZERO, keep);

/** Why the receiver of a transfer cannot take it; null: it can. `room` undefined: nobody looked. */
export function overfull(to: Account["id"], amount: Nano, room: Nano | null | undefined): Refusal | null {
  if (room === null || room === undefined || amount <= room) return null;
  return {
    code: "invalid_parameter",
    message:
      `Account ${to} cannot take ${formatUsd(amount)} USD: a balance is at most ${formatUsd(BALANCE_NANO_MAX)} USD, ` +
      `and ${formatUsd(room)} USD is left of that.`,
  };
}
