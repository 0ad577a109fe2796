// Through which server an Owner's mail goes, and in whose name: its own configuration, Root's where it has none. It opens
// the password at the last moment and keeps nothing.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { SealedSecret } from "../../actors/key-pool/provider-key.ts";
import type { MailConfig } from "../../actors/owner/owner.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { MailServer, Security } from "./mail.ts";

export interface Sender {
  readonly server: MailServer;
  /** The From address. */
  readonly from: string;
}

/** Null: neither the Owner nor Root has a mail server. Throws when the password cannot be opened. */
export type SenderFor = (owner: AccountId) => Promise<Sender | null>;

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

/** Null: no server, or nobody in whose name it could write. */
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
