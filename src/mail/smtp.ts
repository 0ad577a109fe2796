// Letters by SMTP. The server's address is judged as a provider's is, and what was judged is what is connected to, so that
// no name leads inside between the two. Every letter has a connection of its own and a deadline; what went wrong is told
// in codes, since a server's words may repeat what it was sent.

import { createTransport } from "nodemailer";
import type { Clock } from "../base/clock.ts";
import type { Letter, Mailer, MailServer, Security, SendResult } from "./mail.ts";

/** Judges an address by its URL, and pins what it leads to. Never rejects. */
export type Judge = (url: string) => Promise<
  | {
      readonly ok: true;
      readonly pinned: { readonly addresses: readonly string[]; readonly name: string | null };
    }
  | { readonly ok: false; readonly kind: string; readonly reason: string }
>;

export interface SmtpParts {
  readonly judge: Judge;
  readonly clock: Clock;
  /** All of one letter. Default: a minute. */
  readonly deadlineMs?: number;
  /** Certificates to trust besides the usual ones, PEM. */
  readonly ca?: string;
}

const DEADLINE_MS = 60_000;
const CONNECT_MS = 10_000;
const SILENCE_MS = 30_000;
/** Of a name's addresses so many are tried. */
const ADDRESSES_MOST = 3;

/** What the transport is told for each kind of security. */
const SECURITY: Readonly<Record<Security, { readonly secure: boolean; readonly requireTLS: boolean }>> = {
  implicit: { secure: true, requireTLS: false },
  required: { secure: false, requireTLS: true },
  offered: { secure: false, requireTLS: false },
};

export function smtpMailer({ judge, clock, deadlineMs = DEADLINE_MS, ca }: SmtpParts): Mailer {
  async function sendTo(address: string, name: string | null, server: MailServer, letter: Letter) {
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
      logger: false,
      // Content is ours alone: nothing in it may name a file or an address to be read.
      disableFileAccess: true,
      disableUrlAccess: true,
      tls: { ...(name === null ? {} : { servername: name }), ...(ca === undefined ? {} : { ca }) },
    });
    try {
      const { subject, text, html, messageId } = letter;
      await transport.sendMail({
        from: { name: "", address: letter.from },
        to: { name: "", address: letter.to },
        ...{ subject, text, html, messageId },
        // Nobody answers a machine, least of all another machine.
        headers: { "Auto-Submitted": "auto-generated" },
        signal: deadline.signal,
      });
    } finally {
      cancel();
      transport.close();
    }
  }

  return {
    async send(server, letter): Promise<SendResult> {
      const url = urlOf(server);
      if (url === null) return { ok: false, why: "EMAIL_SMTP is not a host name" };
      const judged = await judge(url);
      if (!judged.ok) return { ok: false, why: `forbidden or unknown host: ${judged.kind}` };
      const { addresses, name } = judged.pinned;
      let why = "no address";
      for (const address of addresses.slice(0, ADDRESSES_MOST)) {
        try {
          await sendTo(address.replace(/^\[|\]$/g, ""), name, server, letter);
          return { ok: true };
        } catch (error) {
          why = whyOf(error);
          if (!isUnreached(error)) break;
        }
      }
      return { ok: false, why };
    },
  };
}

/** As the judge wants it; null: this is no host and no port. */
function urlOf({ host, port }: MailServer): string | null {
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return /^[\w.:[\]-]+$/.test(bracketed) && Number.isInteger(port) ? `https://${bracketed}:${port}/` : null;
}

/** Only then may another address of the same server be better. */
const isUnreached = (error: unknown): boolean =>
  fieldOf(error, "command") === "CONN" && ["ESOCKET", "ECONNECTION"].includes(fieldOf(error, "code"));

const WORD = /^[\w.-]{1,60}$/;

/** `EAUTH 535`, `ESOCKET ECONNREFUSED`, `timeout`: codes alone. */
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
