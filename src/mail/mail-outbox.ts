// Sends the mails that are pending at accounts (actors/account/soft-limit-alert.ts) until the mail server has
// accepted them. Only the account knows whether a mail was sent; the outbox table says which accounts to ask,
// and may lag behind. Each node sends the mails of the accounts that it owns.
//
//   1  find    waiting and due in the table, the account owned here; skipped if this process knows that the
//              mail was sent, or is not due yet
//   2  send    with a Message-ID that is the same on every try
//   3  report  the account writes `mail_sent`, or `mail_postponed` with the time of the next try
//
// crash or failure            recovery
// before 2, or 2 fails        retried after 1 min, 2, 4 … 60 min, until a week after the month
// after 2, before 3           sent again, with the same Message-ID; also when the account moves meanwhile
// 3 fails                     reported again by the next sweep, without sending
// no mail server at all       like a failure, written once to both logs: a server may be configured in time
//
// Only this process remembers the pauses: after a restart they begin with a minute again.

import { type AccountId, ownerOf } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { DAY_MS, MINUTE_MS, monthEnd } from "../../actors/time.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import type { Mailer } from "./mail.ts";
import type { SenderFor } from "./senders.ts";
import { softLimitLetter } from "./templates.ts";

/** What the outbox needs of a node. */
export interface MailOutboxParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Pick<Store, "scan">;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly senderFor: SenderFor;
  /** Writes a line to the operation log. Never rejects. */
  readonly write: (line: MailLine) => Promise<void>;
}

/** The line of the operation log for a mail that cannot be sent. */
export interface MailLine {
  readonly action: "soft_limit_mail";
  readonly operator: AccountId;
  readonly subject: { readonly type: "user"; readonly id: AccountId; readonly dna: string };
  readonly details: string;
  readonly ip: string;
  readonly status: "failed";
}

/** Sends the pending mails of this node's accounts. */
export interface MailOutbox {
  /** Sends due mails and reports them to their accounts. Returns how many were sent. */
  sweep(): Promise<number>;
}

const BATCH = 100;
const AT_ONCE = 8;
const PAUSE_MS_MAX = 60 * MINUTE_MS;
/** A mail is dropped this long (ms) after the end of its month. */
const GRACE_MS = 7 * DAY_MS;
/** Time of the next try of a mail that is never sent again. */
const NEVER = Number.MAX_SAFE_INTEGER;
const KNOWN_MAX = 10_000;

/** An outbox document. */
interface Owed {
  readonly id: string;
  readonly account: AccountId;
  readonly name: string;
  readonly month: string;
  readonly limit: Nano;
  readonly spent: Nano;
}

/** What this process knows about a mail beyond the table. */
interface Known {
  tries: number;
  /** Wall-clock milliseconds of the next try; the table may lag behind with an earlier time. */
  notBefore: number;
  sent: boolean;
  /** True once both logs say that there is no mail server. */
  told: boolean;
}

/** Creates the outbox of a node; it sends only when `sweep` is called. */
export function createMailOutbox(parts: MailOutboxParts): MailOutbox {
  const { system, store, clock, log, mailer, senderFor, write } = parts;
  const known = new Map<string, Known>();

  function knownOf(id: string): Known {
    const found = known.get(id);
    if (found !== undefined) return found;
    if (known.size >= KNOWN_MAX) known.delete(known.keys().next().value!);
    const fresh = { tries: 0, notBefore: 0, sent: false, told: false };
    known.set(id, fresh);
    return fresh;
  }

  const tell = ({ account, month }: Owed, ok: boolean, nextAt: number) =>
    system.ask(actorRef.account(account), "mailSent", { month, ok, nextAt });

  /** Writes a warning to the process log and a line to the operation log. */
  async function complain(owed: Owed, event: string, details: string): Promise<void> {
    log("warn", event, { mail: owed.id, account: owed.account });
    const { profile } = await system.ask(actorRef.account(owed.account), "profile", {});
    await write({
      action: "soft_limit_mail",
      operator: owed.account,
      subject: { type: "user", id: owed.account, dna: profile.dna },
      details,
      ip: "",
      status: "failed",
    });
  }

  async function postpone(owed: Owed, state: Known): Promise<void> {
    const pauseMs = Math.min(PAUSE_MS_MAX, MINUTE_MS * 2 ** Math.min(state.tries, 10));
    state.tries++;
    state.notBefore = clock.wall() + pauseMs;
    await tell(owed, false, state.notBefore);
  }

  /** Tries to send a mail. Returns true when the server accepted it. */
  async function send(owed: Owed, state: Known): Promise<boolean> {
    // The table may hold a former address, and the account may have moved to another Owner.
    const { profile } = await system.ask(actorRef.account(owed.account), "profile", {});
    const sender = await senderFor(ownerOf(profile));
    if (sender === null) {
      if (!state.told) await complain(owed, "mail_without_server", "No mail server: see EMAIL_SMTP.");
      state.told = true;
      return false;
    }
    const sent = await mailer.send(sender.server, softLimitLetter(owed, sender.from, profile.billingEmail));
    if (!sent.ok) log("warn", "mail_failed", { mail: owed.id, tries: state.tries + 1, why: sent.why });
    return sent.ok;
  }

  /**
   * Sends one mail if it is due, and reports the result to its account. Returns true when it was sent now.
   */
  async function deliver(owed: Owed): Promise<boolean> {
    const state = knownOf(owed.id);
    if (state.sent) {
      await tell(owed, true, 0);
      return false;
    }
    if (clock.wall() < state.notBefore) return false;
    if (clock.wall() > monthEnd(Date.parse(`${owed.month}-01`)) + GRACE_MS) {
      // Reported first, because the table lists the mail until the account has written the result.
      await tell(owed, false, NEVER);
      state.notBefore = NEVER;
      await complain(owed, "mail_given_up", `The mail of ${owed.month} could not be sent in time.`);
      return false;
    }
    const sent = await send(owed, state).catch((error) => {
      log("warn", "mail_failed", { mail: owed.id, tries: state.tries + 1, error: String(error) });
      return false;
    });
    if (!sent) {
      await postpone(owed, state);
      return false;
    }
    state.sent = true;
    log("info", "mail_sent", { mail: owed.id });
    await tell(owed, true, 0);
    return true;
  }

  return {
    async sweep() {
      const where = [
        { field: "state", is: "=", value: "waiting" },
        { field: "dueAt", is: "<=", value: clock.wall() },
      ] as const;
      const due: Owed[] = [];
      for await (const body of store.scan({ table: "outbox", where, order: "dueAt" })) {
        const owed = body as unknown as Owed;
        if (!system.owns(actorRef.account(owed.account))) continue;
        if (due.push(owed) >= BATCH) break;
      }
      let sent = 0;
      const waiting = due.values();
      const worker = async () => {
        for (const owed of waiting) {
          // An account that cannot be reached must not delay the mails of others.
          const now = await deliver(owed).catch((error) => {
            log("warn", "mail_untold", { mail: owed.id, error: String(error) });
            return false;
          });
          if (now) sent++;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      return sent;
    },
  };
}
