// The connection to NATS: opens it, keeps it open, and knows whether it is up. Nothing is sent while it is
// down, because the client would buffer it and deliver it after its sender has stopped waiting. It knows no
// frames and no nodes. It also reads what a server says about itself, for a check before a start.

import {
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
} from "@nats-io/transport-node";

/** How fast a dead connection is noticed and retried, and how much may wait on it. */
export interface NatsLinkLimits {
  readonly pingMs: number;
  readonly reconnectMs: number;
  /** Characters sent that the server has not taken yet; above this, publications are dropped. */
  readonly unsentLength: number;
}

/** A message that may grow until it is sent or dropped: `close` ends that, and returns its text. */
export interface GrowingMessage {
  close(): string;
}

/** What a server does not permit. */
export interface RefusedSubject {
  readonly operation: "publish" | "subscription";
  readonly subject: string;
}

export interface NatsLink {
  readonly nats: NatsConnection;
  up(): boolean;
  /**
   * Sends the message at the end of this turn of the event loop. It is dropped when the connection is down, and
   * when it goes down before that.
   */
  send(subject: string, message: string | GrowingMessage, reply?: string): void;
  /** Counts characters by which a `GrowingMessage` has grown as not taken by the server. */
  countUnsent(length: number): void;
  /** Resolves when the server has taken what was sent. Rejects when the connection breaks. */
  flush(): Promise<void>;
  /** Returns whether what the server has not taken is below `unsentLength`. */
  hasRoom(): boolean;
  close(): Promise<void>;
}

/**
 * Connects to one of the servers of a NATS_URL. Calls `changed` when the connection goes down or comes back, and `refused` for what
 * a server does not permit. Once a server has refused a subject the connection counts as down for good, since the client gives such
 * a subscription up and the node would be deaf.
 * Throws an error whose message is one line that may be shown, without any password.
 */
export async function openNatsLink(
  url: string,
  limits: NatsLinkLimits,
  changed: (up: boolean) => void,
  refused: (subject: RefusedSubject) => void = () => {},
): Promise<NatsLink> {
  const options = { ...parseNatsUrl(url), ...reconnectOptions(limits) };
  const nats = await connect(options).catch((error) => {
    throw new Error(`NATS cannot be reached at ${withoutPassword(url)}: ${error.message}`);
  });
  let up = true;
  let isRefused = false;
  let unsent = 0;
  let isFlushing = false;
  let held: HeldMessage[] = [];

  function setUp(to: boolean): void {
    if (up === to || (to && isRefused)) return;
    up = to;
    const dropped = held;
    held = [];
    for (const { message } of dropped) closed(message);
    changed(to);
  }

  const refuse = (subject: RefusedSubject) => {
    isRefused = true;
    setUp(false);
    refused(subject);
  };
  watchStatus(nats, setUp, refuse).catch(() => setUp(false));
  nats.closed().then(() => setUp(false));

  /**
   * Sends all messages of one turn in one write, because most of a message's cost is waking the server and
   * the receiver.
   */
  function sendHeld(): void {
    const turned = held;
    held = [];
    for (const { subject, message, reply } of turned) {
      const text = closed(message);
      try {
        nats.publish(subject, text, reply === undefined ? {} : { reply });
      } catch {
        // The client takes it no more (it is closed, or the server of a new connection takes less): it is lost as
        // on a broken connection. Those behind it are not.
      }
    }
    // Asks the server what it has taken by now. Little is not worth the question, which wakes both sides
    // once more.
    if (!up || isFlushing || unsent < limits.unsentLength / 32) return;
    isFlushing = true;
    const before = unsent;
    const settle = (taken: number) => {
      isFlushing = false;
      unsent -= taken;
      sendHeld();
    };
    // When the connection breaks, what the server had not taken is lost.
    nats.flush().then(
      () => settle(before),
      () => settle(unsent),
    );
  }

  return {
    nats,
    up: () => up,
    hasRoom: () => unsent < limits.unsentLength,
    send(subject, message, reply) {
      if (!up) {
        closed(message);
        return;
      }
      if (held.length === 0) setImmediate(sendHeld);
      held.push({ subject, message, reply });
      if (typeof message === "string") unsent += message.length;
    },
    countUnsent(length) {
      if (up) unsent += length;
    },
    flush() {
      sendHeld();
      return nats.flush();
    },
    async close() {
      sendHeld();
      setUp(false);
      await nats.close();
    },
  };
}

/** A number from 0 to 1, by which nodes that lost the same server come back at different times. */
const chance = (): number => crypto.getRandomValues(new Uint8Array(1))[0]! / 255;

interface HeldMessage {
  readonly subject: string;
  readonly message: string | GrowingMessage;
  readonly reply: string | undefined;
}

/** Returns the text of a message, which grows no more. */
const closed = (message: string | GrowingMessage): string =>
  typeof message === "string" ? message : message.close();

/** Tells whether the connection is up, and what its servers refuse, until it is closed. */
async function watchStatus(
  nats: NatsConnection,
  setUp: (up: boolean) => void,
  refused: (subject: RefusedSubject) => void,
): Promise<void> {
  for await (const status of nats.status()) {
    if (status.type === "disconnect" || status.type === "close") setUp(false);
    if (status.type === "reconnect") setUp(true);
    if (status.type === "error" && status.error instanceof PermissionViolationError) {
      const { operation, subject } = status.error;
      refused({ operation, subject });
    }
  }
  setUp(false);
}

/**
 * Options to reconnect forever. `noEcho` is set because a process delivers its own messages itself. The client compares its own
 * pause with the wall clock, and would not dial after that was set back until it has caught up. That pause is therefore always
 * over, and each dial has a delay instead, which is a timer. The first connection has none.
 */
const reconnectOptions = (limits: NatsLinkLimits): NodeConnectionOptions => ({
  noEcho: true,
  maxReconnectAttempts: -1,
  reconnectDelayHandler: () => -Number.MAX_SAFE_INTEGER,
  reconnectToServer: ([next], info) => ({
    server: next!,
    delay: info === null ? 0 : limits.reconnectMs * (1 + chance()),
  }),
  pingInterval: limits.pingMs,
  maxPingOut: 2,
  ignoreAuthErrorAbort: true,
  noAsyncTraces: true,
});

/**
 * Parses a NATS_URL: one server or several with commas between them, as `nats://` or `tls://`, with user and
 * password or a token. Throws when it is malformed.
 */
function parseNatsUrl(url: string): NodeConnectionOptions {
  const all = url.split(",").map((one) => {
    const parsed = URL.parse(one.includes("://") ? one.trim() : `nats://${one.trim()}`);
    if (parsed === null || !/^(nats|tls):$/.test(parsed.protocol) || parsed.host === "") {
      throw new Error(
        "NATS_URL must name servers as nats://HOST:PORT or tls://HOST:PORT, with commas between them",
      );
    }
    return parsed;
  });
  const first = all.find(({ username }) => username !== "") ?? all[0]!;
  const [user, pass] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  return {
    servers: all.map(({ host }) => host),
    ...(all.some(({ protocol }) => protocol === "tls:") ? { tls: {} } : {}),
    ...(user === "" ? {} : pass === "" ? { token: user } : { user, pass }),
  };
}

const withoutPassword = (url: string): string => url.replace(/[^/,@]*@/g, "");

export interface NatsFacts {
  /** Version of the server that answered, one of those in the address. */
  readonly version: string;
  /** Largest message that the server takes, in bytes. */
  readonly maxPayload: number;
}

const PROBE_LIMITS = { pingMs: 2_000, reconnectMs: 200, unsentLength: 1 };

/**
 * Connects, reads the facts and disconnects. Throws an error whose message is one line that may be shown when
 * no server can be reached.
 */
export async function natsFacts(url: string): Promise<NatsFacts> {
  const link = await openNatsLink(url, PROBE_LIMITS, () => {});
  const { version = "unknown", max_payload = 0 } = link.nats.info ?? {};
  await link.close();
  return { version, maxPayload: max_payload };
}
