// Lists an account's pending effects for the runtime and dispatches their answers. The effects are derived
// from durable state, so a crash cannot lose one; each receiver recognizes a repeat by its dedup id.

import type { Decision, EffectDone, EffectOf, Turn } from "../../src/runtime/actor.ts";
import { quotaEffects, settleQuotaRequest } from "./auto-quota.ts";
import { childRemovalEffects, childRemoved } from "./closing.ts";
import type { AccountCommands } from "./commands.ts";
import { childAdded, moveEffects } from "./move.ts";
import type { Account, AccountEvent } from "./state.ts";
import { transferEffects, transferSettled } from "./transfer.ts";

/** What an account may owe: commands to other accounts. */
export type AccountEffect = EffectOf<{ readonly account: AccountCommands }>;

const NOTHING: readonly AccountEffect[] = [];

/** Returns the effects that the runtime must still deliver to other accounts. */
export function pendingEffects(state: Account): readonly AccountEffect[] {
  const { owing, leaving, move, quota } = state;
  if (owing.length === 0 && leaving.length === 0 && move?.stage !== "asked" && quota.asked === null)
    return NOTHING;
  return [
    ...transferEffects(state),
    ...childRemovalEffects(state),
    ...moveEffects(state),
    ...quotaEffects(state),
  ];
}

/** Handlers of answers, by the suffix of the effect's id. */
const ANSWERS: Readonly<
  Record<string, (state: Account, done: EffectDone, bare: string, turn: Turn) => Decision<AccountEvent>>
> = {
  in: (state, { refused }, bare) => transferSettled(state, bare, refused),
  give: (state, { refused }, bare) => settleQuotaRequest(state, bare, refused),
  join: (state, { effect, refused }, _, turn) => childAdded(state, effect, refused, turn),
  left: (state, { effect }) => childRemoved(state, effect),
};

/** Handles another account's answer to a pending effect; does nothing if the effect is no longer pending. */
export function effectDone(state: Account, done: EffectDone, turn: Turn): Decision<AccountEvent> {
  const colon = done.effect.lastIndexOf(":");
  const answer = ANSWERS[done.effect.slice(colon + 1)];
  return answer?.(state, done, done.effect.slice(0, colon), turn) ?? { reply: {} };
}
