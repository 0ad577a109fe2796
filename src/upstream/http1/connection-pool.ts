// Idle connections to providers, by address, so that a request need not connect anew. Bounds: open connections in
// all, idle connections in all and for each peer, and the time for which one may be idle. At the bound of open
// connections a request fails at once; at a bound of idle ones the connection is closed.

import type { Clock } from "../../base/clock.ts";
import { ConnectionError, type ConnectionOwner, HttpConnection, type PeerAddress } from "./connection.ts";

/** Sockets to providers on this node, in use and idle. */
const CONNECTIONS_MAX = 16_000;
const IDLE_MAX = 2_000;
const IDLE_PER_PEER_MAX = 512;
/**
 * A peer that states no limit keeps idle connections for 60 s or more as a rule; half of it leaves no doubt about
 * which end closes first.
 */
const IDLE_MS_MAX = 30_000;
/** The longest that a connection may be idle when the peer states a limit, ms. */
const KEEP_ALIVE_MS_MAX = 300_000;
/** How often idle connections are looked through. */
const SWEEP_MS = 5_000;
/** How long one address may take to connect, ms, its TLS handshake included. */
const CONNECT_MS_MAX = 10_000;

/** The connections of one node. */
export class ConnectionPool implements ConnectionOwner {
  readonly #clock: Clock;
  /** Idle connections by peer, the most recently used last. */
  readonly #idle = new Map<string, HttpConnection[]>();
  readonly #open = new Set<HttpConnection>();
  #idleCount = 0;
  #stopSweep: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the idle connection to an peer that was used last; null when there is none. */
  takeIdle(peer: PeerAddress): HttpConnection | null {
    const connections = this.#idle.get(keyOf(peer));
    for (let found = connections?.pop(); found !== undefined; found = connections?.pop()) {
      this.#idleCount--;
      if (this.#isFresh(found)) {
        found.isReferenced = true;
        return found;
      }
      found.close(null);
    }
    return null;
  }

  /** Opens a connection. Rejects with the reason of `signal`, or with the error of the system. */
  async connect(peer: PeerAddress, signal: AbortSignal): Promise<HttpConnection> {
    if (this.#open.size >= CONNECTIONS_MAX) {
      throw new ConnectionError(
        "ECONNLIMIT",
        `more than ${CONNECTIONS_MAX} connections to providers are open`,
      );
    }
    const connection = new HttpConnection(peer, this);
    this.#open.add(connection);
    const onAbort = () => connection.close(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const stopTimer = this.#clock.after(CONNECT_MS_MAX, () => connection.close(TOO_SLOW));
    try {
      await connection.open();
      return connection;
    } catch (error) {
      this.#open.delete(connection);
      throw error;
    } finally {
      stopTimer();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Open connections, in use and idle. */
  get size(): number {
    return this.#open.size;
  }

  /** Closes idle connections. Those in use close when their response ends. */
  close(): void {
    this.#stopSweep?.();
    for (const connections of this.#idle.values()) {
      for (const connection of [...connections]) connection.close(null);
    }
  }

  onIdle(connection: HttpConnection): void {
    const key = keyOf(connection.peer);
    const connections = this.#idle.get(key) ?? [];
    if (connections.length === 0) this.#idle.set(key, connections);
    if (this.#idleCount >= IDLE_MAX || connections.length >= IDLE_PER_PEER_MAX) {
      connection.close(null);
      return;
    }
    connection.idleAtMs = this.#clock.mono();
    connection.isReferenced = false;
    connections.push(connection);
    this.#idleCount++;
    this.#stopSweep ??= this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  onClose(connection: HttpConnection): void {
    this.#open.delete(connection);
    const key = keyOf(connection.peer);
    const connections = this.#idle.get(key);
    const at = connections?.indexOf(connection) ?? -1;
    if (connections === undefined || at === -1) return;
    connections.splice(at, 1);
    this.#idleCount--;
    if (connections.length === 0) this.#idle.delete(key);
  }

  #sweep(): void {
    this.#stopSweep = null;
    for (const connections of this.#idle.values()) {
      for (const connection of [...connections]) if (!this.#isFresh(connection)) connection.close(null);
    }
    if (this.#idleCount > 0) this.#stopSweep = this.#clock.after(SWEEP_MS, () => this.#sweep());
  }

  /** Whether an idle connection may still be used. */
  #isFresh({ keepAliveMs, idleAtMs }: HttpConnection): boolean {
    const maxMs = keepAliveMs === null ? IDLE_MS_MAX : Math.min(keepAliveMs, KEEP_ALIVE_MS_MAX);
    return this.#clock.mono() - idleAtMs < maxMs;
  }
}

const TOO_SLOW = new ConnectionError("ETIMEDOUT", "the provider did not accept a connection in time");

const keyOf = ({ address, port, serverName }: PeerAddress): string =>
  `${serverName ?? ""} ${address} ${port}`;
