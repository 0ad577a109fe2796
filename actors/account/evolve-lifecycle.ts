// Applies the events that are not money: profile, children, move, closing, AutoQuota requests, alerts. One
// case per event, the same live and on replay. No ledger line is handled here.

import { assert, unreachable } from "../../src/base/errors.ts";
import { SmallMap } from "../../src/base/small-map.ts";
import { ZERO } from "../money.ts";
import { dayOf } from "../time.ts";
import { compactProfile } from "./compact-profile.ts";
import type { LifeEvent } from "./events.ts";
import { disableForeignKeys } from "./evolve-api-keys.ts";
import type { AccountMove, Closing, QuotaRequest } from "./lifecycle.ts";
import { type Account, including, without } from "./state.ts";
import type { Profile, ProfileChange } from "./types.ts";

/** Milliseconds after a refusal in which no charge asks for AutoQuota; `topUp` may still ask. */
const QUOTA_PAUSE_MS = 60_000;

/** Returns the quota state after a refusal at `at` (wall-clock ms). */
export const quotaRefused = (at: number): QuotaRequest => ({ asked: null, notBefore: at + QUOTA_PAUSE_MS });

/** Applies a lifecycle event to `state` in place; `at` is the wall-clock time of the commit. */
export function evolveLifecycle(state: Account, event: LifeEvent, at: number): void {
  switch (event.type) {
    case "created":
      assert(state.profile === null, `account ${state.id} is created twice`);
      assert(!state.forgone, `account ${state.id} is created after its birth was forgone`);
      setProfile(state, event.profile);
      return;
    case "forgone":
      state.forgone = true;
      return;
    case "rotated":
      state.formerKeyHash = profileOf(state).keyHash;
      setProfile(state, { ...profileOf(state), keyHash: event.keyHash, updatedAt: at });
      return;
    case "updated":
      setProfile(state, applyProfileChange(profileOf(state), event.change, at));
      // The parent may answer a different amount differently.
      if (event.change.autoQuota !== undefined) state.quota = { ...state.quota, notBefore: 0 };
      return;
    case "child_joined":
      state.children++;
      state.volatile.profileDirty = true;
      return;
    case "child_left":
      state.children--;
      state.volatile.profileDirty = true;
      return;
    case "moving": {
      const { type: _, by: __, ...asked } = event;
      state.move = { ...asked, stage: "asked", refusal: null };
      return;
    }
    case "moved":
      applyMove(state, asked(state, event.id), at);
      return;
    case "move_refused": {
      const { code, message } = event;
      state.move = { ...asked(state, event.id), stage: "refused", refusal: { code, message } };
      return;
    }
    case "left":
      state.leaving = without(state.leaving, event.id);
      return;
    case "closing":
      state.closing = {
        ...{ id: event.id, bornAt: event.bornAt, by: event.by, at },
        ...{ stage: "closing", fee: ZERO, refunded: ZERO },
      };
      // A closing account would refuse the credit.
      state.quota = { ...state.quota, asked: null };
      setProfile(state, profileOf(state));
      return;
    case "emptied":
      state.closing = {
        ...closingOf(state),
        stage: "emptied",
        fee: event.fee,
        refunded: event.refunded,
      };
      return;
    case "closed":
      state.closing = { ...closingOf(state), stage: "closed" };
      leave(state, closingOf(state));
      setProfile(state, profileOf(state));
      return;
    case "quota_asked": {
      const { id, bornAt, from, amount, keep } = event;
      state.quota = { ...state.quota, asked: { id, bornAt, from, amount, keep, granted: false } };
      return;
    }
    case "quota_granted":
      // The credit may have arrived before the answer and ended the request.
      if (state.quota.asked?.id === event.id) {
        state.quota = { ...state.quota, asked: { ...state.quota.asked, granted: true } };
      }
      return;
    case "quota_refused":
      state.quota = quotaRefused(at);
      return;
    case "soft_limit_reached": {
      const { month, limit, spent } = event;
      state.alerts = [...state.alerts, { month, state: "waiting", dueAt: at, limit, spent }];
      state.volatile.alertsDirty = including(state.volatile.alertsDirty, month);
      return;
    }
    case "mail_sent":
      alert(state, event.month, { state: "sent" });
      return;
    case "mail_postponed":
      alert(state, event.month, { dueAt: event.nextAt });
      return;
    default:
      unreachable(event);
  }
}

/** Puts the account under its new parent; the former parent still has to learn of it. */
function applyMove(state: Account, move: ReturnType<typeof asked>, at: number): void {
  leave(state, move);
  const { dna } = profileOf(state);
  setProfile(state, { ...profileOf(state), ...move.brings, parent: move.to, dna: move.dna, updatedAt: at });
  disableForeignKeys(state, profileOf(state));
  state.move = { ...move, stage: "moved" };
  // The pause followed a refusal by the former parent.
  state.quota = { ...state.quota, notBefore: 0 };
  // The current day's usage is written under the new DNA; earlier days stay where they were charged.
  const today = dayOf(at);
  const { volatile } = state;
  if (state.usage.has(today)) volatile.daysDirty = including(volatile.daysDirty, today);
  const former = volatile.formerDna ?? new SmallMap<string, string>();
  for (const day of state.usage.keys()) if (day !== today && !former.has(day)) former.set(day, dna);
  volatile.formerDna = former.size === 0 ? null : former;
}

/** Returns the profile with a change applied; `limits` is merged, every other field is replaced. */
export function applyProfileChange(profile: Profile, change: ProfileChange, at: number): Profile {
  const { limits, ...fields } = change;
  return { ...profile, ...fields, limits: { ...profile.limits, ...limits }, updatedAt: at };
}

/** Sets the profile and raises its version, which makes every existing route stale. */
function setProfile(state: Account, profile: Profile): void {
  state.profile = compactProfile(profile);
  state.version++;
  state.volatile.profileDirty = true;
}

function profileOf(state: Account): Profile {
  assert(state.profile !== null, `account ${state.id} changes before it is created`);
  return state.profile;
}

function closingOf(state: Account): Closing {
  assert(state.closing !== null, `account ${state.id} is emptied before it closes`);
  return state.closing;
}

function asked(state: Account, id: string): AccountMove {
  assert(state.move?.id === id && state.move.stage === "asked", `account ${state.id} never asked for ${id}`);
  return state.move;
}

/** Adds the pending notice to the current parent that this account is no longer its child. */
function leave(state: Account, { id, bornAt }: { readonly id: string; readonly bornAt: number }): void {
  const { parent } = profileOf(state);
  assert(parent !== null, "Root leaves nobody");
  const notice = `${id}:left`;
  state.leaving = [...state.leaving, { id: notice, parent, bornAt }];
}

function alert(state: Account, month: string, change: { state?: "sent"; dueAt?: number }): void {
  if (!state.alerts.some((known) => known.month === month)) return;
  state.alerts = state.alerts.map((known) => (known.month === month ? { ...known, ...change } : known));
  state.volatile.alertsDirty = including(state.volatile.alertsDirty, month);
}
