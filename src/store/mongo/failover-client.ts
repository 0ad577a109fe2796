// A driver client that is replaced when it receives nothing while another client is answered. A command of
// the driver that uses a socket at the moment at which it breaks waits forever. If that is the command by
// which the driver monitors the server, the client never learns that the server is back, and one by one its
// connections fail in the same way. So silence is not left to the driver: after a while another client sends
// a ping, and if it is answered, it is used from then on. Operations in flight must not fail with an error
// that does not pass (see `isPassing`).

import type { MongoClientOptions } from "mongodb";
import { type Collection, type CollectionOptions, type Document, MongoClient } from "mongodb";
import { type Clock, inTime } from "../../base/clock.ts";

/** A client that outlives the driver clients behind it. */
export interface FailoverClient {
  connect(): Promise<void>;
  /** A collection that always uses the current client. */
  collection<T extends Document>(name: string, options: CollectionOptions): Collection<T>;
  command(command: Document): Promise<Document>;
  /** Reports that the server answered, whatever it said. */
  answered(): void;
  /** Reports that nothing came back from the server. May start a replacement. */
  unanswered(): void;
  close(): Promise<void>;
}

/**
 * Milliseconds of silence before another client is tried: longer than a connection takes to be opened, so the
 * driver has had its time.
 */
const SILENT_MS = 3_000;
/** Milliseconds for the ping: more than a round trip, or the few of an authentication. */
const PING_MS = 4_000;

/**
 * Creates a client. `database` is the default for an address without one. Throws when the address is invalid.
 */
export function createFailoverClient(parts: {
  readonly url: string;
  readonly database: string;
  readonly options: MongoClientOptions;
  readonly clock: Clock;
}): FailoverClient {
  const { url, database, options, clock } = parts;
  let client = new MongoClient(url, options);
  /**
   * Monotonic milliseconds of the first of the consecutive attempts that received nothing; null when the last
   * attempt was answered.
   */
  let silentFrom: number | null = null;
  let isProbing = false;
  let isClosed = false;

  /** Switches to another client if that one is answered. */
  async function replace(): Promise<void> {
    const other = new MongoClient(url, options);
    try {
      await inTime(clock, PING_MS, other.db(database).command({ ping: 1 }));
    } catch {
      // The server is unreachable for every client. The next silent attempt tries again.
      return closeQuietly(other);
    }
    if (isClosed) return closeQuietly(other);
    const before = client;
    client = other;
    silentFrom = null;
    closeQuietly(before);
  }

  return {
    async connect() {
      await client.connect();
    },
    collection<T extends Document>(name: string, how: CollectionOptions) {
      const at = (one: MongoClient) => one.db(database).collection<T>(name, how);
      let [of, known] = [client, at(client)];
      return following(() => {
        if (of !== client) [of, known] = [client, at(client)];
        return known;
      });
    },
    command: (command) => client.db(database).command(command),
    answered() {
      silentFrom = null;
    },
    unanswered() {
      silentFrom ??= clock.mono();
      if (isProbing || isClosed || clock.mono() - silentFrom < SILENT_MS) return;
      isProbing = true;
      void replace().finally(() => {
        isProbing = false;
      });
    },
    close() {
      isClosed = true;
      return client.close();
    },
  };
}

/**
 * Closes a client in the background. Its operations in flight end with an error that passes. The close is not
 * awaited, because it may hang on its last commands.
 */
function closeQuietly(client: MongoClient): void {
  client
    .close()
    .catch(() => client.close())
    .catch(() => {});
}

/** A proxy for the object that `current` returns at each access. */
function following<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const one = current();
      const value: unknown = Reflect.get(one, name, one);
      return typeof value === "function" ? value.bind(one) : value;
    },
  });
}
