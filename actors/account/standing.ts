// How an account stands now: what would refuse any request of it before model and path matter, and what counts in
// the windows of its models. Reads only, by the rules of admission; it has none of its own.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { type Nano, toNano } from "../money.ts";
import type { AdmissionRequest } from "./admit.ts";
import { type AdmitDryRun, admitDryRun } from "./admit-dry-run.ts";
import { heldWindows } from "./held-windows.ts";
import { type LimitRow, modelRows } from "./rate-limits.ts";
import type { Account, AccountEvent } from "./state.ts";

/** Input of the command `standing`. */
export interface StandingInput {
  readonly keyHash: string;
  /** The Owner's UserApiBalance, in nano-dollars. */
  readonly threshold: Nano;
}

/** Output of the command `standing`. */
export interface Standing {
  /** Wall-clock ms at which it was so. */
  readonly at: number;
  /** What the smallest request would be refused with, whatever its model and path; null when it would be admitted. */
  readonly refusal: Refusal | null;
  /** The limits of the account that are set, the balance included. */
  readonly limits: readonly LimitRow[];
  /** What counts in the windows of each model, by name; at most `MODELS_SHOWN_MAX` of them. `limit` is not set here. */
  readonly models: readonly { readonly model: string; readonly rows: readonly LimitRow[] }[];
}

/** Models whose windows are shown: the first by name. */
const MODELS_SHOWN_MAX = 200;
const SMALLEST_COST = toNano(1);

/** Returns how the account stands. It refuses nothing itself. */
export function standing(state: Account, input: StandingInput, turn: Turn): Decision<AccountEvent> {
  const request: AdmissionRequest = {
    ...input,
    ip: null,
    path: null,
    version: state.version,
    routing: null,
    idempotency: null,
    model: "",
    modelLimits: null,
    promptTokens: 1,
    outputTokens: 0,
    cost: SMALLEST_COST,
    promptCost: SMALLEST_COST,
  };
  // The profile is the account's own, so the reply is never that it is stale.
  const { refusal, limits } = admitDryRun(state, request, turn).reply as AdmitDryRun;
  const reply: Standing = { at: turn.now, refusal, limits, models: modelsOf(state, turn.now) };
  return { reply, ungated: true };
}

function modelsOf(state: Account, now: number): Standing["models"] {
  const names = new Set([...state.modelWindows.keys(), ...heldWindows(state, now).models.keys()]);
  const used: Standing["models"][number][] = [];
  for (const model of [...names].sort()) {
    const rows = modelRows(state, model, now).filter((row) => row.used > 0);
    if (rows.length > 0) used.push({ model, rows });
    if (used.length === MODELS_SHOWN_MAX) break;
  }
  return used;
}
