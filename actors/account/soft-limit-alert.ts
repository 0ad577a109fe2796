// The SoftLimit alert: decided once a month in the turn of the charge that reached the limit, so that a crash
// can neither lose nor repeat it. This file owns its content and whether it was sent; a reader of the outbox
// table sends the mail.

import type { Decision, Document } from "../../src/runtime/actor.ts";
import { ownerOf } from "../ids.ts";
import { type Nano, plusCapped } from "../money.ts";
import { monthOf } from "../time.ts";
import { NO_LIST } from "./compact-profile.ts";
import { spentInMonth } from "./evolve.ts";
import type { SoftLimitAlert } from "./lifecycle.ts";
import { type Account, type AccountEvent, isRoot, type Profile } from "./state.ts";

/**
 * Returns the alert to write beside a charge of `cost` that first reaches SoftLimit in its month; otherwise
 * null.
 */
export function alertAfter(state: Account, cost: Nano, now: number): AccountEvent | null {
  const { profile } = state;
  if (profile === null || isRoot(profile) || profile.softLimit === 0) return null;
  const month = monthOf(now);
  const spent = plusCapped(spentInMonth(state, now), cost);
  if (spent < profile.softLimit || alertOf(state, month) !== undefined) return null;
  return { type: "soft_limit_reached", month, limit: profile.softLimit, spent };
}

/** Input of the command `mailSent`. */
export interface MailSent {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly ok: boolean;
  /** Wall-clock ms of the next try; used only if this one failed. */
  readonly nextAt: number;
}

/**
 * Records how a try to send the mail ended. A repeat, or the report of a mail that is not waiting, changes
 * nothing.
 */
export function mailSent(state: Account, { month, ok, nextAt }: MailSent): Decision<AccountEvent> {
  if (alertOf(state, month)?.state !== "waiting") return { reply: {} };
  const event: AccountEvent = ok ? { type: "mail_sent", month } : { type: "mail_postponed", month, nextAt };
  return { reply: {}, events: [event], save: true };
}

/**
 * Returns the mails that changed since the last call, as documents of the outbox table. Clears the list of
 * changes, and drops the mails that are sent, whose documents say so by then. The newest is kept, so that its
 * month has no second one.
 */
export function alertDocuments(state: Account, profile: Profile): Document[] {
  const { alertsDirty } = state.volatile;
  const changed = alertsDirty.flatMap((month) => alertOf(state, month) ?? []);
  state.volatile.alertsDirty = NO_LIST;
  const newest = state.alerts.at(-1);
  if (state.alerts.length > 1) {
    state.alerts = state.alerts.filter((alert) => alert.state !== "sent" || alert === newest);
  }
  return changed.map((alert) => ({
    table: "outbox",
    id: `${state.id}:${alert.month}`,
    body: {
      ...alert,
      id: `${state.id}:${alert.month}`,
      dueAt: alert.state === "sent" ? null : alert.dueAt,
      account: state.id,
      owner: ownerOf(profile),
      billingEmail: profile.billingEmail,
      name: profile.name,
    },
  }));
}

const alertOf = ({ alerts }: Account, month: string): SoftLimitAlert | undefined =>
  alerts.find((alert) => alert.month === month);
