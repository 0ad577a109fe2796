// The soft limit's alert: once a month, decided with the charge that reached it, so that no crash can forget or double
// it. The mail itself is sent by whoever reads the outbox; here is only what it says and whether it was sent.

import type { Decision, Document } from "../../src/runtime/actor.ts";
import { ownerOf } from "../ids.ts";
import { type Nano, plus } from "../money.ts";
import { monthOf } from "../time.ts";
import { spentInMonth } from "./evolve.ts";
import { type Account, type AccountEvent, isRoot, type Profile } from "./state.ts";

/** Beside a charge of `cost`: the alert, when it reaches SoftLimit for the first time in its month. */
export function alertAfter(state: Account, cost: Nano, now: number): AccountEvent[] {
  const { profile } = state;
  if (profile === null || isRoot(profile) || profile.softLimit === 0) return [];
  const month = monthOf(now);
  const spent = plus(spentInMonth(state, now), cost);
  if (spent < profile.softLimit || state.alerts.has(month)) return [];
  return [{ type: "soft_limit_reached", month, limit: profile.softLimit, spent }];
}

export interface MailSent {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly ok: boolean;
  /** Wall ms of the next try, when this one failed. */
  readonly nextAt: number;
}

/** How a try to send the mail ended. A repeat, or word of a mail that nobody owes, changes nothing. */
export function mailSent(state: Account, { month, ok, nextAt }: MailSent): Decision<AccountEvent> {
  if (state.alerts.get(month)?.state !== "waiting") return { reply: {} };
  const event: AccountEvent = ok ? { type: "mail_sent", month } : { type: "mail_postponed", month, nextAt };
  return { reply: {}, events: [event], save: true };
}

/** The mails that changed since the last call, for the outbox. */
export function alertDocuments(state: Account, profile: Profile): Document[] {
  const changed = [...state.volatile.alertsDirty].flatMap((month) => state.alerts.get(month) ?? []);
  state.volatile.alertsDirty.clear();
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
