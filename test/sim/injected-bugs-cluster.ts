// Bugs injected into a cluster, each to be found by one of the checkers that only a cluster has.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { Account, AccountEvent } from "../../actors/account/state.ts";
import type { AnyBehavior, Behavior } from "../../src/runtime/actor.ts";
import type { InjectedBug } from "./injected-bugs.ts";

type AccountBehavior = Behavior<Account, AccountCommand, AccountEvent>;

const inAccount =
  (change: (real: AccountBehavior) => Partial<AccountBehavior>) =>
  (real: AnyBehavior): AnyBehavior =>
    real.kind === "account" ? { ...real, ...change(real as AccountBehavior) } : real;

/** Requests under way while nodes come and go. */
const MOVING = {
  nodes: 3,
  cluster: { kind: true, late: 1 },
  load: { requests: 250, accounts: 12, thinkMs: 8_000, durationMs: 60_000, configuring: 0 },
} as const;

export const CLUSTER_BUGS: readonly InjectedBug[] = [
  {
    checker: "13 placement",
    bug: "a holder who serves on when others may take over",
    options: {
      nodes: 3,
      cluster: { kind: false, freezeEveryMs: 8_000, freezeMs: 9_000, cutEveryMs: 8_000, cutMs: 9_000 },
      placement: { holdMs: 12_000 },
    },
  },
  {
    checker: "14 holds",
    bug: "an account that ignores reasserted holds",
    options: {
      ...MOVING,
      injected: {
        behavior: inAccount((real) => ({
          decide: (state, command, turn) =>
            command.type === "reassertHolds"
              ? { reply: { dropped: 0 }, ungated: true }
              : real.decide(state, command, turn),
        })),
      },
    },
  },
  {
    checker: "14 holds",
    bug: "an account that keeps the hold of a request that was charged",
    options: {
      ...MOVING,
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const hold = command.type === "charge" ? state.volatile.holds.get(command.id) : undefined;
            const decision = real.decide(state, command, turn);
            if (hold !== undefined) state.volatile.holds.set(hold.id, hold);
            return decision;
          },
        })),
      },
    },
  },
  {
    checker: "15 copies",
    bug: "an account that publishes no changes",
    options: {
      ...MOVING,
      injected: {
        behavior: inAccount((real) => ({
          decide: (state, command, turn) => ({ ...real.decide(state, command, turn), publish: [] }),
        })),
      },
    },
  },
];
