// Test mails: an Owner asks whether its own mail server takes mail. Each goes to the address that the Owner's mail comes from, with
// a fixed text. How often an Owner asks is bounded in the whole cluster by a row of the registry. What a server says is never
// passed on but for its codes.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { SealedSecret } from "../../actors/key-pool/provider-key.ts";
import { DAY_MS, dayOf, MINUTE_MS } from "../../actors/time.ts";
import { type Clock, withTimeout } from "../base/clock.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Registry } from "../store/store.ts";
import { type Sender, senderOf } from "./senders.ts";
import type { SmtpMailer } from "./smtp.ts";
import type { SmtpReport } from "./smtp-stage.ts";
import { testLetter } from "./templates.ts";

/** What test mails need of a node. */
export interface TestMailParts {
  readonly system: ActorSystem<Protocol>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly open: (secret: SealedSecret) => string;
  readonly mailer: Pick<SmtpMailer, "attempt">;
  /** A mail that takes longer is given up, ms. */
  readonly deadlineMs?: number;
}

/** Milliseconds that an answer may take: each address of a server has as long as the mailer allows. */
const DEADLINE_MS = 20_000;
/** Test mails of an Owner in a day (UTC), and of all Owners at once on a node. */
const [DAY_MAX, AT_ONCE_MAX] = [10, 20];
/** Attempts to write the row of the registry while other nodes write it. */
const TRIES_MAX = 5;

/** When an Owner asked last, and how often on that day. */
interface Asked {
  /** Wall-clock milliseconds. */
  readonly at: number;
  readonly count: number;
}

/**
 * Returns a function that sends a test mail of an Owner and reports how the dialogue with its mail server has ended. It rejects
 * with `RefusedError`: `invalid_parameter` for a configuration without a mail server or an address of its own, `rpm_exceeded`
 * after 1 in a minute or 10 in a day, `service_unavailable` while too many are sent.
 */
export function createTestMails(parts: TestMailParts): (owner: AccountId) => Promise<SmtpReport> {
  const { system, clock, open, mailer, deadlineMs = DEADLINE_MS } = parts;
  let running = 0;

  return async (owner) => {
    const sender = ownSender(await system.ask(actorRef.owner(owner), "read", {}), open);
    if (running >= AT_ONCE_MAX) throw new RefusedError(BUSY);
    running++;
    try {
      await count(parts, owner);
      const letter = testLetter(owner, clock.wall(), sender.from);
      return await withTimeout(clock, deadlineMs, mailer.attempt(sender.server, letter), () => GIVEN_UP);
    } finally {
      running--;
    }
  };
}

const GIVEN_UP: SmtpReport = { stage: "connect", code: null, enhanced: null };

const BUSY: Refusal = {
  code: "service_unavailable",
  message: "Other test mails are being sent. Nothing was done: ask again in a moment.",
  retryAfterS: 5,
};

const refuse = (message: string): never => {
  throw new RefusedError({ code: "invalid_parameter", message });
};

/** Returns the sender of this configuration. Root's mail server stands in for an Owner's otherwise, but is not tested here. */
function ownSender(config: Parameters<typeof senderOf>[0], open: TestMailParts["open"]): Sender {
  if (config.emailSmtp === "") return refuse('"EMAIL_SMTP" of your own configuration is not set.');
  let sender: Sender | null;
  try {
    sender = senderOf(config, open);
  } catch {
    return refuse('"EMAIL_PASS" cannot be decrypted any more. Set it again.');
  }
  return sender ?? refuse('"SERVICE_MAIL" is not set: mail needs an address that it comes from.');
}

/** Counts a test mail of an Owner. Throws when it is one too many. */
async function count({ registry, clock }: TestMailParts, owner: AccountId): Promise<void> {
  const key = `test-mail/${owner}`;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const row = await registry.read(key);
    const now = clock.wall();
    const before = row === null ? { at: 0, count: 0 } : parseAsked(row.value);
    const today = dayOf(before.at) === dayOf(now) ? before.count : 0;
    if (today >= DAY_MAX) throw tooOften(`${DAY_MAX} test mails a day`, DAY_MS - (now % DAY_MS));
    const wait = before.at + MINUTE_MS - now;
    // The clock of another node may be ahead.
    if (wait > 0) throw tooOften("1 test mail a minute", Math.min(wait, MINUTE_MS));
    const asked: Asked = { at: now, count: today + 1 };
    if ((await registry.cas(key, row?.rev ?? 0, JSON.stringify(asked))) !== null) return;
  }
  throw tooOften("1 test mail a minute", MINUTE_MS);
}

const tooOften = (limit: string, waitMs: number): RefusedError =>
  new RefusedError({
    code: "rpm_exceeded",
    message: `An Owner may send ${limit}.`,
    retryAfterS: Math.ceil(waitMs / 1_000),
  });

/** Reads a row; one that cannot be read counts as none. */
function parseAsked(text: string): Asked {
  try {
    const { at, count } = JSON.parse(text) as Partial<Asked>;
    return { at: Number(at) || 0, count: Number(count) || 0 };
  } catch {
    return { at: 0, count: 0 };
  }
}
