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
import { type Nano, toNano } from "../../actors/money.ts";
import { DAY_MS, MINUTE_MS, monthEnd } from "../../actors/time.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { StoredRow } from "../store/stored-rows.ts";
import type { DocumentBody } from "../store/tables.ts";
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

/** A mail that an account has pending, as its document in the outbox says. */
interface PendingMail {
  readonly id: string;
  readonly account: AccountId;
  readonly name: string;
  readonly month: string;
  readonly limit: Nano;
  readonly spent: Nano;
}

function parsePendingMail(body: DocumentBody): PendingMail {
  const row = new StoredRow("outbox", body);
  return {
    id: row.text("id"),
    account: row.integer("account") as AccountId,
    name: row.text("name"),
    month: row.text("month"),
    limit: toNano(row.integer("limit")),
    spent: toNano(row.integer("spent")),
  };
}

/** What this process knows about a mail beyond the table. */
interface MailState {
  tries: number;
  /** Wall-clock milliseconds of the next try; the table may lag behind with an earlier time. */
  notBefore: number;
  sent: boolean;
  /** True once both logs say that there is no mail server. */
  isReported: boolean;
}

/** Creates the outbox of a node; it sends only when `sweep` is called. */
export const createMailOutbox = (parts: MailOutboxParts): MailOutbox => new NodeMailOutbox(parts);

class NodeMailOutbox implements MailOutbox {
  readonly #parts: MailOutboxParts;
  readonly #states = new Map<string, MailState>();

  constructor(parts: MailOutboxParts) {
    this.#parts = parts;
  }

  async sweep(): Promise<number> {
    let sent = 0;
    const waiting = (await this.#dueMails()).values();
    const worker = async () => {
      for (const mail of waiting) {
        // An account that cannot be reached must not delay the mails of others.
        const isSent = await this.#deliver(mail).catch((error) => {
          this.#parts.log("warn", "mail_untold", { mail: mail.id, error: String(error) });
          return false;
        });
        if (isSent) sent++;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return sent;
  }

  async #dueMails(): Promise<readonly PendingMail[]> {
    const { system, store, clock } = this.#parts;
    const where = [
      { field: "state", is: "=", value: "waiting" },
      { field: "dueAt", is: "<=", value: clock.wall() },
    ] as const;
    const due: PendingMail[] = [];
    for await (const body of store.scan({ table: "outbox", where, order: "dueAt" })) {
      const mail = parsePendingMail(body);
      if (!system.owns(actorRef.account(mail.account))) continue;
      if (due.push(mail) >= BATCH) break;
    }
    return due;
  }

  /**
   * Sends one mail if it is due, and reports the result to its account. Returns true when it was sent now.
   */
  async #deliver(mail: PendingMail): Promise<boolean> {
    const { clock, log } = this.#parts;
    const state = this.#stateOf(mail.id);
    if (state.sent) {
      await this.#report(mail, true, 0);
      return false;
    }
    if (clock.wall() < state.notBefore) return false;
    if (clock.wall() > monthEnd(Date.parse(`${mail.month}-01`)) + GRACE_MS) {
      // Reported first, because the table lists the mail until the account has written the result.
      await this.#report(mail, false, NEVER);
      state.notBefore = NEVER;
      await this.#warn(mail, "mail_given_up", `The mail of ${mail.month} could not be sent in time.`);
      return false;
    }
    const sent = await this.#send(mail, state).catch((error) => {
      log("warn", "mail_failed", { mail: mail.id, tries: state.tries + 1, error: String(error) });
      return false;
    });
    if (!sent) {
      await this.#postpone(mail, state);
      return false;
    }
    state.sent = true;
    log("info", "mail_sent", { mail: mail.id });
    await this.#report(mail, true, 0);
    return true;
  }

  /** Tries to send a mail. Returns true when the server accepted it. */
  async #send(mail: PendingMail, state: MailState): Promise<boolean> {
    const { system, senderFor, mailer, log } = this.#parts;
    // The table may hold a former address, and the account may have moved to another Owner.
    const { profile } = await system.ask(actorRef.account(mail.account), "profile", {});
    const sender = await senderFor(ownerOf(profile));
    if (sender === null) {
      if (!state.isReported) {
        await this.#warn(mail, "mail_without_server", "No mail server: see EMAIL_SMTP.");
      }
      state.isReported = true;
      return false;
    }
    const sent = await mailer.send(sender.server, softLimitLetter(mail, sender.from, profile.billingEmail));
    if (!sent.ok) log("warn", "mail_failed", { mail: mail.id, tries: state.tries + 1, why: sent.why });
    return sent.ok;
  }

  async #postpone(mail: PendingMail, state: MailState): Promise<void> {
    const pauseMs = Math.min(PAUSE_MS_MAX, MINUTE_MS * 2 ** Math.min(state.tries, 10));
    state.tries++;
    state.notBefore = this.#parts.clock.wall() + pauseMs;
    await this.#report(mail, false, state.notBefore);
  }

  /** Reports what became of a mail to its account. */
  #report({ account, month }: PendingMail, ok: boolean, nextAt: number): Promise<unknown> {
    return this.#parts.system.ask(actorRef.account(account), "mailSent", { month, ok, nextAt });
  }

  /** Writes a warning to the process log and a line to the operation log. */
  async #warn(mail: PendingMail, event: string, details: string): Promise<void> {
    const { system, log, write } = this.#parts;
    log("warn", event, { mail: mail.id, account: mail.account });
    const { profile } = await system.ask(actorRef.account(mail.account), "profile", {});
    await write({
      action: "soft_limit_mail",
      operator: mail.account,
      subject: { type: "user", id: mail.account, dna: profile.dna },
      details,
      ip: "",
      status: "failed",
    });
  }

  #stateOf(id: string): MailState {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    if (this.#states.size >= KNOWN_MAX) this.#states.delete(this.#states.keys().next().value!);
    const fresh = { tries: 0, notBefore: 0, sent: false, isReported: false };
    this.#states.set(id, fresh);
    return fresh;
  }
}
