// Bugs injected into what checker 18 looks at: AutoQuota after a refusal, and refunds that do not fit.

import { ROOT } from "../../actors/ids.ts";
import { type InjectedBug, inAccount } from "./injected-bugs.ts";

const load = { depth: 3, accounts: 12, requests: 30, durationMs: 10_000, errands: 0, configuring: 0 };

export const CREDIT_BUGS: readonly InjectedBug[] = [
  {
    checker: "18 credit",
    bug: "an account that does not ask its parent again for a minute after a refusal",
    options: {
      load,
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const waits = command.type === "topUp" && turn.now < state.quota.notBefore;
            return waits ? { reply: { asked: false } } : real.decide(state, command, turn);
          },
        })),
      },
    },
  },
  {
    checker: "18 credit",
    bug: "a closing account that sends its credit without a look at its parent's room",
    options: {
      load,
      injected: {
        behavior: inAccount((real) => ({
          decide: (state, command, turn) =>
            real.decide(state, command.type === "settleClosing" ? { ...command, room: null } : command, turn),
        })),
      },
    },
  },
  {
    checker: "18 credit",
    bug: "a full account that says there is room while somebody looks, and refuses what comes",
    options: {
      load,
      injected: {
        behavior: inAccount((real) => ({
          decide(state, command, turn) {
            const decision = real.decide(state, command, turn);
            if (command.type !== "margins" || state.id === ROOT || decision.refused) return decision;
            const found = decision.reply as { readonly room: number };
            // Up to what it lacks to be filled it says the truth.
            return found.room > FEW ? decision : { reply: { ...found, room: Number.MAX_SAFE_INTEGER } };
          },
        })),
      },
    },
  },
];

/** Less is left where an account was filled. */
const FEW = 250_000_000;
