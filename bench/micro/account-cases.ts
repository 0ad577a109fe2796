// The decisions of an account that every request waits for, each with its `evolve`, as a turn of the runtime calls them. Time passes
// as at 2,560 requests a second, so that what an account keeps for some seconds has its usual size.

import { account } from "../../actors/account/account.ts";
import type { AccountCommand } from "../../actors/account/commands.ts";
import { admitInput, factsOf, type Living, living, usd } from "../../test/actors/account-samples.ts";
import type { Call } from "./timing.ts";

/** Requests between two steps of the clock; also the holds that are open at most. */
const CHUNK = 256;
const STEP_MS = 100;
/** The price of a whole answer of the stand-in provider. */
const COST = usd(0.0000588);
const CREDIT = usd(1_000_000);

/** Decides and evolves a command. Nothing is kept of it but the account's state. */
function turn(one: Living, command: AccountCommand, id: string): void {
  const { state, now } = one;
  const decision = account.decide(state, command, { id, from: "node", now, epoch: 1, done: false });
  if (decision.refused !== undefined) throw new Error(`refused: ${decision.refused.code}`);
  for (const event of decision.events ?? []) account.evolve(state, event, now);
}

const admitted = (one: Living, nth: number): void =>
  turn(
    one,
    { type: "admit", ...admitInput({ id: `r${nth}`, cost: COST, promptCost: COST }) },
    `admit-${nth}`,
  );

const charged = (one: Living, nth: number): void =>
  turn(one, { type: "charge", ...factsOf({ id: `r${nth}`, cost: COST, admittedAt: one.now }) }, `r${nth}`);

/** Admits requests; the holds of a chunk are charged before the next one. */
export function admitDecision(): Call {
  const one = living({ credit: CREDIT });
  let done = 0;
  let open = 0;
  return {
    chunk: CHUNK,
    call(nth) {
      admitted(one, nth);
      open = nth + 1;
    },
    between() {
      for (; done < open; done++) charged(one, done);
      one.now += STEP_MS;
    },
  };
}

/** Charges requests that were admitted before the chunk. */
export function chargeDecision(): Call {
  const one = living({ credit: CREDIT });
  let open = 0;
  return {
    chunk: CHUNK,
    call: (nth) => charged(one, nth),
    between() {
      one.now += STEP_MS;
      for (const end = open + CHUNK; open < end; open++) admitted(one, open);
    },
  };
}
