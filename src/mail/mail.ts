// The contract of mail: a letter, the server that takes it, and what became of it. Whoever sends letters knows nothing of
// accounts; a letter may arrive twice, with the same Message-ID, but is never believed sent without the server's word.

/** Who wrote and who reads it; the same content as plain text and as HTML. */
export interface Letter {
  /** Both bare addresses. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** With its angle brackets; the same on every repeat. */
  readonly messageId: string;
}

/** `implicit`: TLS from the first byte. `required`: STARTTLS or nothing. `offered`: STARTTLS where the server has it. */
export type Security = "implicit" | "required" | "offered";

export interface MailServer {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly security: Security;
  /** null: the server asks for none. */
  readonly login: { readonly user: string; readonly pass: string } | null;
}

/** `why` is fit for a log: codes alone, no words of the server's and no secret. */
export type SendResult = { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface Mailer {
  /** Resolves when the server has taken the letter, or has not in time. Never rejects. */
  send(server: MailServer, letter: Letter): Promise<SendResult>;
}
