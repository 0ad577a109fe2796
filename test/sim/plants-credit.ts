// Faults planted into what checker 18 looks at: AutoQuota after a refusal, and refunds that do not fit.

import { ROOT } from "../../actors/ids.ts";
import { inAccount, type Plant } from "./plants.ts";

const load = { depth: 3, accounts: 12, requests: 30, durationMs: 10_000, errands: 0, configuring: 0 };

export const CREDIT_PLANTS: readonly Plant[] = [
  {
    checker: "18 credit",
    planted: "an account that does not ask its parent again for a minute after a refusal",
    options: {
      load,
      plants: {
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
    planted: "a closing account that sends its credit without a look at its parent's room",
    options: {
      load,
      plants: {
        behavior: inAccount((real) => ({
          decide: (state, command, turn) =>
            real.decide(state, command.type === "settleClosing" ? { ...command, room: null } : command, turn),
        })),
      },
    },
  },
  {
    checker: "18 credit",
    planted: "a full account that says there is room while somebody looks, and refuses what comes",
    options: {
      load,
      plants: {
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
