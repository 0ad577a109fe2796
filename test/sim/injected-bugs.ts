// Bugs injected into the parts under test, each to be found by one checker: without these nobody knows whether the
// checkers see anything at all.

import type { AccountCommand } from "../../actors/account/account.ts";
import type { Account, AccountEvent } from "../../actors/account/state.ts";
import type { Nano } from "../../actors/money.ts";
import type { AnyBehavior, Behavior } from "../../src/runtime/actor.ts";
import type { Store } from "../../src/store/store.ts";
import type { Options } from "./simulate.ts";

type AccountBehavior = Behavior<Account, AccountCommand, AccountEvent>;

/** The behaviour of an account, changed. */
export const inAccount =
  (change: (real: AccountBehavior) => Partial<AccountBehavior>) =>
  (real: AnyBehavior): AnyBehavior =>
    real.kind === "account" ? { ...real, ...change(real as AccountBehavior) } : real;

const changedStore = (change: (real: Store) => Partial<Store>) => (real: Store) => ({
  ...real,
  ...change(real),
});

export interface InjectedBug {
  /** Name of the checker that must speak. */
  readonly checker: string;
  readonly bug: string;
  readonly options: Options;
}

export const INJECTED_BUGS: readonly InjectedBug[] = [
  {
    checker: "1 order",
    bug: "a store that lets time fall",
    options: {
      injected: {
        store: changedStore((real) => ({
          append: (commits) =>
            real.append(
              commits.map((one) =>
                one.seq % 5 === 0
                  ? { ...one, at: one.at - 1e9, events: one.events.map((e) => ({ ...e, at: 1 })) }
                  : one,
              ),
            ),
        })),
      },
    },
  },
  {
    checker: "2 once",
    bug: "a behaviour that does not believe the ledger's look-up",
    options: {
      load: { duplicated: 1, settled: 0, cancelled: 0, abandoned: 0 },
      faults: { crashEveryMs: 5_000, restartMs: 10, graceful: 0 },
      injected: {
        behavior: inAccount((real) => ({
          decide: (state, command, turn) => real.decide(state, command, { ...turn, done: false }),
        })),
      },
    },
  },
  {
    checker: "2 once",
    bug: "a store that answers `committed` although another writer was first, or nobody knows",
    options: {
      load: { settled: 0 },
      faults: { failBefore: 0.2 },
      injected: {
        store: changedStore((real) => ({
          append: async (commits) => (await real.append(commits)).map(() => "committed"),
        })),
      },
    },
  },
  {
    checker: "3 conservation",
    bug: "an account that receives one nano-dollar more than was given",
    options: {
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            const events = decision.events?.map((event) =>
              event.type === "transfer_in" || (event.type === "grant" && state.id !== 1)
                ? {
                    ...event,
                    amount: (event.amount + 1) as Nano,
                    balanceAfter: (event.balanceAfter + 1) as Nano,
                  }
                : event,
            );
            return events === undefined ? decision : { ...decision, events };
          },
        })),
      },
    },
  },
  {
    checker: "3 sum",
    bug: "charges that take half of what they say",
    options: {
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            if (command.type !== "charge" || decision.events?.length !== 1) return decision;
            const [line] = decision.events as [Extract<AccountEvent, { type: "charge" }>];
            // Half of the cost, still consistent with the account's own book.
            const amount = Math.ceil(line.amount / 2) as Nano;
            const balanceAfter = (line.balanceAfter - line.amount + amount) as Nano;
            return { ...decision, events: [{ ...line, amount, balanceAfter }] };
          },
        })),
      },
    },
  },
  {
    checker: "19 api keys",
    bug: "an account that takes every secret for that of its main key",
    options: {
      load: { keys: 200, keyed: 0.95, accounts: 6, requests: 300, errands: 0, configuring: 0 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            if (command.type !== "admit" || state.profile === null) return real.decide(state, command, turn);
            return real.decide(state, { ...command, keyHash: state.profile.keyHash }, turn);
          },
        })),
      },
    },
  },
  {
    checker: "4 fold",
    bug: "a snapshot that forgets what was used",
    options: {
      injected: {
        behavior: inAccount((real) => ({
          freeze: (state) => ({ ...(real.freeze(state) as object), creditUsed: 0 }),
        })),
      },
    },
  },
  {
    checker: "4 fold",
    bug: "usage documents that lose a request",
    options: {
      injected: {
        behavior: inAccount((real) => ({
          materialize: (state) =>
            real.materialize(state).map((one) => {
              if (one.table !== "usage") return one;
              const models = structuredClone(one.body.models) as Record<string, { requests: number }>;
              for (const sums of Object.values(models)) if (sums.requests > 1) sums.requests--;
              return { ...one, body: { ...one.body, models } };
            }),
        })),
      },
    },
  },
  {
    checker: "5 money",
    bug: "an admission that looks at the balance, not at the holds",
    options: {
      load: { wealth: 2, hot: 6, accounts: 8, requests: 300, limited: 0, thinkMs: 5_000, durationMs: 20_000 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const held = state.volatile.heldCost;
            if (command.type !== "admit") return real.decide(state, command, turn);
            state.volatile.heldCost = 0 as Nano;
            const decision = real.decide(state, command, turn);
            state.volatile.heldCost = (state.volatile.heldCost + held) as Nano;
            return decision;
          },
        })),
      },
    },
  },
  {
    checker: "5 money",
    bug: "a hold taken anew for another model beside the old one instead of in its place",
    options: {
      load: { wealth: 2, hot: 6, accounts: 8, requests: 300, limited: 0, moved: 0.5, durationMs: 20_000 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const { holds } = state.volatile;
            const old = command.type === "admit" ? holds.get(command.id) : undefined;
            if (command.type !== "admit" || old === undefined || old.model === command.model) {
              return real.decide(state, command, turn);
            }
            state.volatile.heldCost = (state.volatile.heldCost + old.cost) as Nano;
            const decision = real.decide(state, command, turn);
            state.volatile.heldCost = (state.volatile.heldCost - old.cost) as Nano;
            return decision;
          },
        })),
      },
    },
  },
  {
    checker: "6 windows",
    bug: "rate limits twice as wide as they are",
    options: {
      load: { wealth: 1_000, hot: 6, accounts: 8, requests: 400, limited: 1, durationMs: 20_000 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const profile = state.profile;
            if (command.type !== "admit" || profile === null) return real.decide(state, command, turn);
            const { rpm, tpm, ...rest } = profile.limits;
            state.profile = { ...profile, limits: { ...rest, rpm: rpm * 2, tpm: tpm * 2 } };
            const decision = real.decide(state, command, turn);
            state.profile = profile;
            return decision;
          },
        })),
      },
    },
  },
  {
    checker: "9 life",
    bug: "a parent that forgets to count off a child that is gone",
    options: {
      load: { errands: 200 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            return command.type === "removeChild" && !decision.refused ? { reply: {} } : decision;
          },
        })),
      },
    },
  },
  {
    checker: "9 life",
    bug: "a deletion that gives nothing back",
    options: {
      load: { errands: 200 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            if (command.type !== "settleClosing") return decision;
            const kept = decision.events?.filter(({ type }) => type !== "refund_out" && type !== "owing");
            return kept === undefined ? decision : { ...decision, events: kept };
          },
        })),
      },
    },
  },
  {
    checker: "3 conservation",
    bug: "a refund that reaches Root and stays minted",
    options: {
      load: { errands: 200 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            const isRefund =
              command.type === "receiveCredit" && state.id === 1 && decision.events !== undefined;
            return isRefund ? { ...decision, events: [] } : decision;
          },
        })),
      },
    },
  },
  {
    checker: "9 life",
    bug: "AutoQuota that asks again while it is asked",
    options: {
      load: { errands: 100, quota: 1, wealth: 2, hot: 6, accounts: 8 },
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const { quota } = state;
            state.quota = { ...quota, asked: command.type === "charge" ? null : quota.asked };
            const decision = real.decide(state, command, turn);
            state.quota = quota;
            return decision;
          },
        })),
      },
    },
  },
  {
    checker: "7 liveness",
    bug: "a behaviour that forgets what it owes",
    options: {
      load: { durationMs: 5_000, accounts: 5, requests: 30, thinkMs: 10, duplicated: 0 },
      injected: { behavior: inAccount(() => ({ pendingEffects: () => [] })) },
    },
  },
  {
    checker: "7 claims",
    bug: "a store that forgets to confirm",
    options: {
      load: { accounts: 10 },
      injected: { store: changedStore(() => ({ confirm: async () => {} })) },
    },
  },
];
