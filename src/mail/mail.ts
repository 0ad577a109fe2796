// The contract of mail: a letter, the server that takes it, and the result. Implementations must know nothing
// of accounts. A letter may arrive twice, with the same Message-ID, but counts as sent only when the server
// has accepted it.

/** A mail with its content both as plain text and as HTML. */
export interface Letter {
  /** Sender's address without a name; `to` likewise. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Message-ID with its angle brackets; the same on every repeat. */
  readonly messageId: string;
}

/**
 * `implicit` is TLS from the first byte, `required` refuses servers without STARTTLS, `offered` uses STARTTLS
 * if the server has it.
 */
export type Security = "implicit" | "required" | "offered";

/** A mail server, and how to log in to it. */
export interface MailServer {
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  readonly security: Security;
  /** Credentials; null when the server needs none. */
  readonly login: { readonly user: string; readonly pass: string } | null;
}

/** The result of sending. `why` may be logged: it consists of codes, without the server's text or secrets. */
export type SendResult = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Sends letters; see `smtpMailer`. */
export interface Mailer {
  /**
   * Resolves when the server has accepted the letter, or when sending failed or took too long. Never rejects.
   */
  send(server: MailServer, letter: Letter): Promise<SendResult>;
}
