// Which of the refusals of an account have words of their own, and which of its models are at a limit.

import type { STATE } from "../../i18n/state.ts";
import type { Live } from "./headlines.tsx";

/** A state with words of its own. */
export type StateName = keyof (typeof STATE)["en"]["of"];

/** What each refusal that holds for every model says of an account (contract section 8, `blocked`). */
const STATES: Readonly<Record<string, StateName>> = {
  account_disabled: "disabled",
  account_suspended: "suspended",
  insufficient_balance: "balance",
  hard_limit_reached: "month",
  daily_limit_reached: "day",
  ...{ rpm_exceeded: "rate", rph_exceeded: "rate", rpd_exceeded: "rate" },
  ...{ tpm_exceeded: "rate", tph_exceeded: "rate", tpd_exceeded: "rate" },
};

/** Returns the state of an account whose requests are refused with `code`; null for a code without words of its own. */
export const accountStateOf = (code: string): StateName | null =>
  Object.hasOwn(STATES, code) ? STATES[code]! : null;

/** A limit of a model that is used up. */
export interface ReachedModel {
  readonly model: string;
  readonly name: string;
  readonly resetsAt: string | null;
}

/** Returns the limits of models that are used up now. */
export const reachedModels = ({ windows }: Pick<Live, "windows">): readonly ReachedModel[] =>
  windows.flatMap(({ scope, model, name, used, limit, resets_at }) =>
    scope === "model" && model !== undefined && used >= limit ? [{ model, name, resetsAt: resets_at }] : [],
  );
