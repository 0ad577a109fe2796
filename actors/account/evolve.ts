// The only writer of an account's durable state, together with evolve-lifecycle.ts: one case per event, the
// same live and on replay. It must not decide or read a clock (`at` comes from the commit). It asserts the
// book balance of every line.

import { assert } from "../../src/base/errors.ts";
import { SmallMap } from "../../src/base/small-map.ts";
import { bookBalance, expire, grant, pay, spend } from "../credit.ts";
import type { ApiKeyId } from "../ids.ts";
import { type Nano, negate, plusCapped, ZERO } from "../money.ts";
import { addTo, emptyWindows, isEmpty, type RateWindows } from "../rate-window.ts";
import { dayOf, monthOf } from "../time.ts";
import { addCharge, noChargeTotals } from "./charge-totals.ts";
import type { Adjusted } from "./events.ts";
import { evolveApiKeys } from "./evolve-api-keys.ts";
import { evolveLifecycle, quotaRefused } from "./evolve-lifecycle.ts";
import { NO_QUOTA_REQUEST } from "./lifecycle.ts";
import { type Account, type AccountEvent, type ChargeFacts, including, isRoot, without } from "./state.ts";

/**
 * Models with their own windows or totals; further ones share one entry, so that names cannot fill the
 * memory.
 */
const MODELS_MAX = 1_000;
const OTHER_MODELS = "(other)";
/** Refused transfers that are remembered, the newest ones; a repeated delivery comes within minutes. */
const DECLINED_MAX = 1_000;

/**
 * Applies a committed event to `state` in place. Throws if the book balance differs from the line's
 * `balanceAfter`.
 */
export function evolve(state: Account, event: AccountEvent, at: number): void {
  apply(state, event, at);
  if ("balanceAfter" in event) {
    const book = bookBalance(state.credit);
    // The text of the assertion is made only when it fails, because each charge comes here.
    if (book !== event.balanceAfter) {
      const { type, id, balanceAfter } = event;
      assert(
        false,
        `account ${state.id}: after ${type} ${id} the book says ${book}, the line ${balanceAfter}`,
      );
    }
    state.volatile.profileDirty = true;
  }
}

function apply(state: Account, event: AccountEvent, at: number): void {
  switch (event.type) {
    case "minted":
      state.minted = tally(state.minted, event.amount);
      return;
    case "transfer_out":
    case "refund_out":
    case "late_charge":
    case "query_fee":
      spend(state.credit, negate(event.amount), event.taken);
      if (event.type === "query_fee" && event.apiKey !== undefined) {
        state.apiKeys?.get(event.apiKey)?.addFee(negate(event.amount), at);
      }
      return;
    case "delete_fee":
      spend(state.credit, negate(event.amount));
      return;
    case "write_off":
      pay(state.credit, event.amount);
      return;
    case "adjust":
      adjust(state, event.after);
      return;
    case "owing":
      state.owing = [...state.owing, event.transfer];
      if (event.transfer.child !== null) {
        state.children++;
        // Root writes no line for it, but its document shows the number of children.
        state.volatile.profileDirty = true;
      }
      return;
    case "settled":
      state.owing = without(state.owing, event.id);
      return;
    case "returned":
      giveBack(state, event.id);
      return;
    case "declined":
      state.declined = [...state.declined, event.id].slice(-DECLINED_MAX);
      if (state.quota.asked?.id === event.id) state.quota = quotaRefused(at);
      return;
    case "grant":
    case "transfer_in":
    case "auto_quota":
    case "refund":
      grant(state.credit, { amount: event.amount, expiresAt: event.expiresAt });
      if (event.type !== "refund") state.chargeAmount = tally(state.chargeAmount, event.amount);
      // Root's grants to itself pay its own charges, so the line also counts as minted credit.
      if (state.profile !== null && isRoot(state.profile)) state.minted = tally(state.minted, event.amount);
      if (state.quota.asked?.id === event.id) state.quota = NO_QUOTA_REQUEST;
      return;
    case "charge":
      spend(state.credit, negate(event.amount), event.taken);
      count(state, event, at);
      return;
    case "released":
      countRequest(state, event, at, 0);
      return;
    case "expire":
      expire(state.credit, negate(event.amount), at, event.parts);
      return;
    case "api_key_added":
    case "api_key_updated":
    case "api_key_rotated":
    case "api_key_deleted":
    case "api_key_used":
    case "api_key_secrets_forgotten":
      evolveApiKeys(state, event, at);
      return;
    default:
      evolveLifecycle(state, event, at);
  }
}

/**
 * A lifetime total is unbounded: beyond the range of `Nano` it is approximate, but no decision depends on it.
 */
const tally = (a: Nano, b: Nano): Nano => (a + b) as Nano;

function giveBack(state: Account, id: string): void {
  const transfer = state.owing.find((one) => one.id === id);
  assert(transfer !== undefined, `account ${state.id} gets back ${id}, which it does not owe`);
  for (const entry of transfer.taken) grant(state.credit, entry);
  if (transfer.child !== null) state.children--;
  state.owing = without(state.owing, id);
  // The refund was returned, so the closing account must be emptied again.
  if (state.closing?.stage === "emptied") state.closing = { ...state.closing, stage: "closing" };
}

function adjust(state: Account, after: Partial<Adjusted>): void {
  state.creditUsed = after.creditUsed ?? state.creditUsed;
  state.chargeAmount = after.chargeAmount ?? state.chargeAmount;
  if (after.xCredit === undefined || state.profile === null) return;
  state.profile = { ...state.profile, xCredit: after.xCredit };
  state.version++;
}

function count(state: Account, charge: ChargeFacts & Counted, at: number): void {
  state.creditUsed = tally(state.creditUsed, charge.cost);
  const month = monthOf(at);
  const day = dayOf(at);
  if (state.month.key !== month) state.month = { key: month, cost: ZERO, models: new SmallMap() };
  state.month.cost = plusCapped(state.month.cost, charge.cost);
  addCharge(bounded(state.month.models, charge.model, noChargeTotals), charge);
  state.day = { key: day, cost: plusCapped(state.day.key === day ? state.day.cost : ZERO, charge.cost) };
  countRequest(state, charge, at, charge.prompt + charge.completion, charge.counted ? 0 : 1);
  if (charge.apiKey !== undefined) state.apiKeys?.charge(charge.apiKey, charge.cost, at);

  let models = state.usage.get(day);
  if (models === undefined) {
    models = new SmallMap();
    state.usage.set(day, models);
  }
  addCharge(bounded(models, charge.model, noChargeTotals), charge);
  state.volatile.daysDirty = including(state.volatile.daysDirty, day);
}

interface Counted {
  readonly model: string;
  readonly admittedAt: number;
  readonly takenAt?: number;
  readonly counted?: true;
  readonly apiKey?: ApiKeyId;
}

/**
 * The windows of account and API key count a request at its admission, the model's windows when its hold was taken for the
 * model.
 */
function countRequest(state: Account, request: Counted, at: number, tokens: number, requests = 1): void {
  const { model, admittedAt, takenAt = admittedAt, apiKey } = request;
  addTo(state.windows, admittedAt, at, requests, tokens);
  addTo(modelWindows(state.modelWindows, model, at), takenAt, at, requests, tokens);
  if (apiKey !== undefined) state.apiKeys?.get(apiKey)?.countRequest(admittedAt, at, requests, tokens);
}

/**
 * Returns a model's windows, creating them if missing. At the bound, empty windows of other models are
 * removed first.
 */
export function modelWindows(map: SmallMap<string, RateWindows>, model: string, now: number): RateWindows {
  if (map.size >= MODELS_MAX && !map.has(model)) {
    for (const [name, windows] of map) if (isEmpty(windows, now)) map.delete(name);
  }
  return bounded(map, model, emptyWindows);
}

/** Returns the windows that count a model's requests, or undefined if there were none. */
export const findModelWindows = (
  map: SmallMap<string, RateWindows>,
  model: string,
): RateWindows | undefined => map.get(model) ?? (map.size < MODELS_MAX ? undefined : map.get(OTHER_MODELS));

function bounded<T>(map: SmallMap<string, T>, name: string, make: () => T): T {
  const known = map.get(name);
  if (known !== undefined) return known;
  const key = map.size < MODELS_MAX ? name : OTHER_MODELS;
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Returns the nano-dollars spent in the UTC month of `now`. */
export const spentInMonth = (state: Account, now: number) =>
  state.month.key === monthOf(now) ? state.month.cost : ZERO;
/** Returns the nano-dollars spent on the UTC day of `now`. */
export const spentOnDay = (state: Account, now: number) =>
  state.day.key === dayOf(now) ? state.day.cost : ZERO;
