// The line to NATS: connects, stays connected, and knows whether it is. Nothing is sent while it is down, since what the
// client keeps back would be executed when nobody waits for it any more. It knows no frames and no nodes.

import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";

/** How fast a dead line is noticed and tried anew. */
export interface LineLimits {
  readonly pingMs: number;
  readonly reconnectMs: number;
  /** Sent and not yet taken by the server; over it news are dropped. */
  readonly unsentBytes: number;
}

export interface NatsLink {
  readonly nats: NatsConnection;
  up(): boolean;
  /** Sends at the end of this turn of the loop, or says that it will not: the line is down. The message is the line's. */
  send(subject: string, message: Uint8Array, reply?: string): boolean;
  /** Resolves when the server has taken what was sent. Rejects when the line breaks. */
  flush(): Promise<void>;
  /** There is room for more: the server takes what it is given. */
  roomy(): boolean;
  close(): Promise<void>;
}

/** Opens the line to one of the servers of a NATS_URL. Throws with a line fit to be shown, without any password. */
export async function openLine(
  url: string,
  limits: LineLimits,
  changed: (up: boolean) => void,
): Promise<NatsLink> {
  const options = { ...addressed(url), ...steady(limits) };
  const nats = await connect(options).catch((error) => {
    throw new Error(`NATS cannot be reached at ${shown(url)}: ${error.message}`);
  });
  let up = true;
  let unsent = 0;
  let asking = false;
  let held: { readonly subject: string; readonly message: Uint8Array; readonly reply?: string }[] = [];

  function turn(to: boolean): void {
    if (up === to) return;
    up = to;
    held = [];
    changed(to);
  }

  async function watch(): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === "disconnect" || type === "close") turn(false);
      if (type === "reconnect") turn(true);
    }
    turn(false);
  }
  watch().catch(() => turn(false));
  nats.closed().then(() => turn(false));

  /** All of one turn in one write: what a message costs is above all that it wakes the server and who it is for. */
  function spill(): void {
    const turned = held;
    held = [];
    for (const { subject, message, reply } of turned) {
      nats.publish(subject, message, reply === undefined ? {} : { reply });
    }
    // Asks the server what it has taken by now; not for a little, since it would wake everybody once more.
    if (!up || asking || unsent < limits.unsentBytes / 32) return;
    asking = true;
    const before = unsent;
    const settle = (taken: number) => {
      asking = false;
      unsent -= taken;
      spill();
    };
    // What a broken line had not taken is gone.
    nats.flush().then(
      () => settle(before),
      () => settle(unsent),
    );
  }

  return {
    nats,
    up: () => up,
    roomy: () => unsent < limits.unsentBytes,
    send(subject, message, reply) {
      if (!up) return false;
      if (held.length === 0) setImmediate(spill);
      held.push(reply === undefined ? { subject, message } : { subject, message, reply });
      unsent += message.length;
      return true;
    },
    flush() {
      spill();
      return nats.flush();
    },
    async close() {
      spill();
      turn(false);
      await nats.close();
    },
  };
}

/** Never gives up. `noEcho`: what a process tells itself takes no detour. */
const steady = (limits: LineLimits): NodeConnectionOptions => ({
  noEcho: true,
  maxReconnectAttempts: -1,
  reconnectTimeWait: limits.reconnectMs,
  reconnectJitter: limits.reconnectMs,
  pingInterval: limits.pingMs,
  maxPingOut: 2,
  ignoreAuthErrorAbort: true,
  noAsyncTraces: true,
});

/** A NATS_URL names one server or several with commas between, as `nats://` or `tls://`, with user and password or a token. */
function addressed(url: string): NodeConnectionOptions {
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

const shown = (url: string): string => url.replace(/[^/,@]*@/g, "");
