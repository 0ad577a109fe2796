// Idle connections to providers, by address, so that a request need not connect anew. Bounds: open connections in
// all, idle connections in all and for each peer, and the time for which one may be idle. At the bound of open
// connections a request fails at once; at a bound of idle ones the connection is closed.

import type { CancelSignal } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { TurnQueue } from "../../base/turn-queue.ts";
import {
  ConnectionError,
  type ConnectionOwner,
  type ConnectionParts,
  HttpConnection,
  type PeerAddress,
} from "./connection.ts";

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

/** The connections to one peer. It reports to the pool, which bounds all of them. */
class PeerConnections implements ConnectionOwner {
  /** Idle connections, the one used last at the end. */
  readonly idle: HttpConnection[] = [];
  /** Connections in use and idle, and those that are being opened. */
  readonly open = new Set<HttpConnection>();

  constructor(
    readonly peer: PeerAddress,
    readonly parts: ConnectionParts,
    private readonly pool: ConnectionPool,
  ) {}

  onIdle(connection: HttpConnection): void {
    this.pool.onIdle(this, connection);
  }

  onClose(connection: HttpConnection): void {
    this.pool.onClose(this, connection);
  }
}

/** The connections of one node. */
export class ConnectionPool {
  readonly #parts: ConnectionParts;
  /** By address; the peers of an address differ in port or name. */
  readonly #peers = new Map<string, PeerConnections[]>();
  #openCount = 0;
  #idleCount = 0;
  #stopSweep: (() => void) | null = null;
  #isClosed = false;
  readonly #most: number;

  /** `most` is how many connections may be open. */
  constructor(clock: Clock, most = CONNECTIONS_MAX) {
    this.#most = most;
    this.#parts = {
      clock,
      reads: new TurnQueue(clock, (connection) => connection.readArrived()),
      // A peer on the same machine is woken once for all requests of a turn, which is most of what a small write costs.
      writes: new TurnQueue(clock, (connection) => connection.writeRequest()),
    };
  }

  /** Takes the idle connection to a peer that was used last; null when there is none. */
  takeIdle(peer: PeerAddress): HttpConnection | null {
    const idle = this.#find(peer)?.idle;
    for (let found = idle?.pop(); found !== undefined; found = idle?.pop()) {
      this.#idleCount--;
      if (this.#isFresh(found)) {
        found.isReferenced = true;
        return found;
      }
      found.close(null);
    }
    return null;
  }

  /**
   * Opens a connection. At the bound an idle one to any peer is closed for it; where all are in use it rejects with ECONNLIMIT.
   * Rejects with the reason of `signal`, or with the error of the system.
   */
  async connect(to: PeerAddress, signal: CancelSignal): Promise<HttpConnection> {
    if (this.#openCount >= this.#most) this.#allIdle()[0]?.close(null);
    if (this.#openCount >= this.#most) {
      throw new ConnectionError("ECONNLIMIT", `${this.#most} connections to providers are open`);
    }
    const peer = this.#find(to) ?? this.#add(to);
    const connection = new HttpConnection(peer);
    this.#openCount++;
    peer.open.add(connection);
    const onAbort = () => connection.close(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const stopTimer = this.#parts.clock.after(CONNECT_MS_MAX, () => connection.close(TOO_SLOW));
    try {
      await connection.open();
      return connection;
    } catch (error) {
      // A connection that was never open does not report that it closed.
      this.#closed(peer, connection);
      throw error;
    } finally {
      stopTimer();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Open connections, in use and idle. */
  get size(): number {
    return this.#openCount;
  }

  /** Closes idle connections. Those in use close when their response ends. */
  close(): void {
    this.#isClosed = true;
    this.#stopSweep?.();
    for (const connection of this.#allIdle()) connection.close(null);
  }

  /** Called by the connections of a peer: a connection can carry another request. */
  onIdle({ idle }: PeerConnections, connection: HttpConnection): void {
    if (this.#isClosed || this.#idleCount >= IDLE_MAX || idle.length >= IDLE_PER_PEER_MAX) {
      connection.close(null);
      return;
    }
    connection.idleAtMs = this.#parts.clock.mono();
    idle.push(connection);
    this.#idleCount++;
    this.#stopSweep ??= this.#parts.clock.after(SWEEP_MS, () => this.#sweep());
  }

  /** Called by the connections of a peer: a connection that was open is closed. */
  onClose(peer: PeerConnections, connection: HttpConnection): void {
    const at = peer.idle.indexOf(connection);
    if (at !== -1) {
      peer.idle.splice(at, 1);
      this.#idleCount--;
    }
    this.#closed(peer, connection);
  }

  #find({ address, port, serverName }: PeerAddress): PeerConnections | undefined {
    const peers = this.#peers.get(address);
    if (peers === undefined) return undefined;
    for (const one of peers) if (one.peer.port === port && one.peer.serverName === serverName) return one;
    return undefined;
  }

  #add({ address, port, serverName }: PeerAddress): PeerConnections {
    const added = new PeerConnections({ address, port, serverName }, this.#parts, this);
    const peers = this.#peers.get(address);
    if (peers === undefined) this.#peers.set(address, [added]);
    else peers.push(added);
    return added;
  }

  #closed(peer: PeerConnections, connection: HttpConnection): void {
    if (!peer.open.delete(connection)) return;
    this.#openCount--;
    if (peer.open.size > 0) return;
    const { address } = peer.peer;
    const left = (this.#peers.get(address) ?? []).filter((one) => one !== peer);
    if (left.length === 0) this.#peers.delete(address);
    else this.#peers.set(address, left);
  }

  #allIdle(): HttpConnection[] {
    return [...this.#peers.values()].flatMap((peers) => peers.flatMap(({ idle }) => idle));
  }

  #sweep(): void {
    this.#stopSweep = null;
    for (const connection of this.#allIdle()) {
      if (this.#isFresh(connection)) connection.isReferenced = false;
      else connection.close(null);
    }
    if (this.#idleCount > 0) this.#stopSweep = this.#parts.clock.after(SWEEP_MS, () => this.#sweep());
  }

  /** Whether an idle connection may still be used. */
  #isFresh({ keepAliveMs, idleAtMs }: HttpConnection): boolean {
    const maxMs = keepAliveMs === null ? IDLE_MS_MAX : Math.min(keepAliveMs, KEEP_ALIVE_MS_MAX);
    return this.#parts.clock.mono() - idleAtMs < maxMs;
  }
}

const TOO_SLOW = new ConnectionError("ETIMEDOUT", "the provider did not accept a connection in time");
