// Finds the mail server and From address of an Owner's mail: those of its own configuration, or Root's if it
// has none. The password is decrypted at each use and must not be kept.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { SealedSecret } from "../../actors/key-pool/provider-key.ts";
import type { MailConfig } from "../../actors/owner/owner.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { MailServer, Security } from "./mail.ts";

/** A mail server, and the address that mails sent over it come from. */
export interface Sender {
  readonly server: MailServer;
  /** The From address. */
  readonly from: string;
}

/**
 * Returns null when neither the Owner nor Root has a mail server. Throws when the password cannot be
 * decrypted.
 */
export type SenderFor = (owner: AccountId) => Promise<Sender | null>;

/** Creates a `SenderFor` that reads the configurations from their actors. */
export function senders(parts: {
  system: ActorSystem<Protocol>;
  open: (secret: SealedSecret) => string;
}): SenderFor {
  const configured = async (owner: AccountId): Promise<Sender | null> =>
    senderOf(await parts.system.ask(actorRef.owner(owner), "read", {}), parts.open);
  return async (owner) => (await configured(owner)) ?? (owner === ROOT ? null : await configured(ROOT));
}

/** Ports on which TLS begins with STARTTLS; on every other it begins with the first byte. */
const STARTTLS_PORTS = new Set([25, 587, 2525]);
const IMPLICIT_PORT = 465;
const SUBMISSION_PORT = 587;

/** Builds a sender from a configuration. Returns null when it has no server or no address to send from. */
export function senderOf(config: MailConfig, open: (secret: SealedSecret) => string): Sender | null {
  const { emailSmtp: host, emailAuth: user, emailPass, emailTls } = config;
  const from = [config.serviceMail, user].find((text) => text.includes("@"));
  if (host === "" || from === undefined) return null;
  const port = config.emailPort ?? (emailTls ? IMPLICIT_PORT : SUBMISSION_PORT);
  const login = user === "" ? null : { user, pass: emailPass === null ? "" : open(emailPass) };
  return { server: { host, port, security: securityOf(port, emailTls), login }, from };
}

function securityOf(port: number, tls: boolean): Security {
  if (port === IMPLICIT_PORT) return "implicit";
  if (!tls) return "offered";
  return STARTTLS_PORTS.has(port) ? "required" : "implicit";
}
