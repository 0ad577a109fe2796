// A real SMTP server for tests: it takes letters, refuses the addresses that a test names, and can be closed for a while.
// Nothing here asserts.

import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";

/** A letter as it came over the wire. */
export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  /** Who logged in; null: nobody. */
  readonly user: string | null;
  readonly encrypted: boolean;
  readonly raw: string;
}

export interface PostOffice {
  readonly port: number;
  readonly letters: Received[];
  /** The users of every login that was tried. */
  readonly logins: string[];
  /** Stops answering; `open` listens on the same port again. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

export interface PostOfficeOptions {
  readonly tls?: "implicit" | "starttls" | "none";
  /** Who may log in; then everybody must. */
  readonly login?: { readonly user: string; readonly pass: string };
  /** Recipients that it does not know. */
  readonly unknown?: readonly string[];
  /** The port; 0: any. */
  readonly port?: number;
  /** Takes a letter and never says so. */
  readonly silent?: boolean;
}

export async function startPostOffice(options: PostOfficeOptions = {}): Promise<PostOffice> {
  const { tls = "none", login, unknown = [], silent = false } = options;
  const letters: Received[] = [];
  const logins: string[] = [];
  let port = options.port ?? 0;
  let server: SMTPServer | null = null;

  const build = () =>
    new SMTPServer({
      secure: tls === "implicit",
      cert: CERTIFICATE,
      key: CERTIFICATE_KEY,
      logger: false,
      authOptional: login === undefined,
      disabledCommands: [...(tls === "starttls" ? [] : ["STARTTLS"]), ...(login ? [] : ["AUTH"])],
      allowInsecureAuth: tls === "none",
      disableReverseLookup: true,
      closeTimeout: 50,
      onAuth(auth, _session, callback) {
        logins.push(String(auth.username));
        if (auth.username === login?.user && auth.password === login?.pass) {
          return callback(null, { user: auth.username });
        }
        callback(new Error(`wrong password: ${auth.password}`));
      },
      onRcptTo(address, _session, callback) {
        callback(unknown.includes(address.address) ? new Error(`no such user: ${address.address}`) : null);
      },
      onData(stream, session, callback) {
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk));
        stream.on("end", () => {
          const { mailFrom, rcptTo } = session.envelope;
          letters.push({
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: typeof session.user === "string" ? session.user : null,
            encrypted: session.secure,
            raw: Buffer.concat(chunks).toString("utf8"),
          });
          if (!silent) callback(null);
        });
      },
    });

  async function open(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server = build();
    // A client that hangs up, or does not trust the certificate, is its own affair.
    server.on("error", reject);
    server.listen(port, "127.0.0.1", resolve);
    await promise;
    port = (server.server.address() as AddressInfo).port;
  }

  await open();
  return {
    get port() {
      return port;
    },
    letters,
    logins,
    open,
    shut: () => new Promise((resolve) => (server === null ? resolve() : server.close(resolve))),
  };
}

/** A header of a letter, unfolded; undefined: it has none. */
export const headerOf = ({ raw }: Received, name: string): string | undefined =>
  raw
    .split("\r\n\r\n")[0]!
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
    ?.slice(name.length + 2);
