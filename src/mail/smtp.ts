// Sends letters by SMTP. The server's address is checked like a provider's, and the connection goes to the
// checked IP address, so that DNS cannot lead into the private network in between. Every letter has its own
// connection and deadline. Errors are reported as codes, because a server's text may repeat what was sent to
// it.

import type { Clock } from "../base/clock.ts";
import type { Letter, Mailer, MailServer, Security, SendResult } from "./mail.ts";
import { type SmtpReport, SmtpStageWatch } from "./smtp-stage.ts";

/** Checks the address of a URL, and returns the IP addresses that may be connected to. Never rejects. */
export type Judge = (url: string) => Promise<
  | {
      readonly ok: true;
      readonly pinned: { readonly addresses: readonly string[]; readonly name: string | null };
    }
  | { readonly ok: false; readonly kind: string; readonly reason: string }
>;

/** What `smtpMailer` needs. */
export interface SmtpParts {
  readonly judge: Judge;
  readonly clock: Clock;
  /** Deadline for sending one letter, ms; a minute by default. */
  readonly deadlineMs?: number;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string;
}

const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
/** IP addresses of a host that are tried. */
const ADDRESSES_MAX = 3;

/** The options of nodemailer for each kind of security. */
const SECURITY: Readonly<Record<Security, { readonly secure: boolean; readonly requireTLS: boolean }>> = {
  implicit: { secure: true, requireTLS: false },
  required: { secure: false, requireTLS: true },
  offered: { secure: false, requireTLS: false },
};

/** Sends letters by SMTP. */
export interface SmtpMailer extends Mailer {
  /** Sends as `send` does, and reports where the dialogue has ended. Never rejects. */
  attempt(server: MailServer, letter: Letter): Promise<SmtpReport>;
}

/** What came of a letter, and where its dialogue has ended. */
interface Attempt {
  readonly result: SendResult;
  readonly report: SmtpReport;
}

/** Creates a mailer that sends by SMTP. */
export function smtpMailer({ judge, clock, deadlineMs = DEADLINE_MS, ca }: SmtpParts): SmtpMailer {
  async function sendTo(
    address: string,
    name: string | null,
    server: MailServer,
    letter: Letter,
    { logger }: SmtpStageWatch,
  ): Promise<unknown> {
    // Loaded with the first letter: many services never send one.
    const { createTransport } = await import("nodemailer");
    const deadline = new AbortController();
    const cancel = clock.after(deadlineMs, () => deadline.abort());
    const transport = createTransport({
      host: address,
      port: server.port,
      ...SECURITY[server.security],
      ...(server.login === null ? {} : { auth: server.login, forceAuth: true }),
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      socketCloseTimeout: 0,
      // It keeps the names of commands alone.
      logger,
      transactionLog: true,
      // The content is made by this program and must never make nodemailer read a file or a URL.
      disableFileAccess: true,
      disableUrlAccess: true,
      tls: { ...(name === null ? {} : { servername: name }), ...(ca === undefined ? {} : { ca }) },
    });
    try {
      const { subject, text, html, messageId } = letter;
      const { response } = await transport.sendMail({
        from: { name: "", address: letter.from },
        to: { name: "", address: letter.to },
        ...{ subject, text, html, messageId },
        // Prevents automatic replies (RFC 3834).
        headers: { "Auto-Submitted": "auto-generated" },
        signal: deadline.signal,
      });
      return response;
    } finally {
      cancel();
      transport.close();
    }
  }

  async function attempt(server: MailServer, letter: Letter): Promise<Attempt> {
    const url = urlOf(server);
    if (url === null) return unreached("EMAIL_SMTP is not a host name");
    const judged = await judge(url);
    if (!judged.ok) return unreached(`forbidden or unknown host: ${judged.kind}`);
    const { addresses, name } = judged.pinned;
    let last = unreached("no address");
    for (const address of addresses.slice(0, ADDRESSES_MAX)) {
      const watch = new SmtpStageWatch();
      try {
        const response = await sendTo(address.replace(/^\[|\]$/g, ""), name, server, letter, watch);
        return { result: { ok: true }, report: watch.accepted(response) };
      } catch (error) {
        last = { result: { ok: false, why: whyOf(error) }, report: watch.failed(error) };
        if (!isUnreached(error)) break;
      }
    }
    return last;
  }

  return {
    send: async (server, letter) => (await attempt(server, letter)).result,
    attempt: async (server, letter) => (await attempt(server, letter)).report,
  };
}

/** The end of a letter that no server was asked to take. */
const unreached = (why: string): Attempt => ({
  result: { ok: false, why },
  report: { stage: "address", code: null, enhanced: null },
});

/** Returns the server as a URL for `Judge`; null when host or port are invalid. */
function urlOf({ host, port }: MailServer): string | null {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return /^[\w.:[\]-]+$/.test(bracketed) && Number.isInteger(port) ? `https://${bracketed}:${port}/` : null;
}

/** Whether no connection was made; only then another address of the server may help. */
const isUnreached = (error: unknown): boolean =>
  fieldOf(error, "command") === "CONN" && ["ESOCKET", "ECONNECTION"].includes(fieldOf(error, "code"));

const WORD = /^[\w.-]{1,60}$/;

/** Describes an error by codes alone: `EAUTH 535`, `ESOCKET ECONNREFUSED`, `timeout`. */
function whyOf(error: unknown): string {
  if (error instanceof Error && error.name === "AbortError") return "timeout";
  const words = ["code", "originalCode", "responseCode"].map((name) => fieldOf(error, name));
  const known = [...new Set(words)].filter((word) => WORD.test(word));
  return known.length === 0 ? "failed" : known.join(" ");
}

function fieldOf(error: unknown, name: string): string {
  if (typeof error !== "object" || error === null || !(name in error)) return "";
  return String((error as Readonly<Record<string, unknown>>)[name] ?? "");
}
