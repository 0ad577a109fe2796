// A client of the driver that is replaced when it hears nothing while another one is answered. A command of the driver that
// meets a socket in the moment of its breaking waits for ever; if it is the one by which the driver watches the server,
// the client never learns that the server is back, and one by one its connections go the same way. So silence is not
// left to the driver: after a while another client asks, and the one that is answered is used from then on. Must never
// fail what is under way with an error that does not pass.

import type { MongoClientOptions } from "mongodb";
import { type Collection, type CollectionOptions, type Document, MongoClient } from "mongodb";
import { type Clock, inTime } from "../../base/clock.ts";

export interface FailoverClient {
  connect(): Promise<void>;
  /** Of the client of each moment. */
  collection<T extends Document>(name: string, options: CollectionOptions): Collection<T>;
  command(command: Document): Promise<Document>;
  /** The server answered, whatever it said. */
  heard(): void;
  /** Nothing came back from the server. */
  unheard(): void;
  close(): Promise<void>;
}

/** Longer than a line takes to be made anew; then the driver has had its time. */
const SILENT_MS = 3_000;
/** More than a way there and back, or a few where a password is proved. */
const ASK_MS = 4_000;

/** Throws when the address is none. Without a database in it, `database` is meant. */
export function createFailoverClient(parts: {
  readonly url: string;
  readonly database: string;
  readonly options: MongoClientOptions;
  readonly clock: Clock;
}): FailoverClient {
  const { url, database, options, clock } = parts;
  let client = new MongoClient(url, options);
  /** mono ms of the first of the attempts in a row that heard nothing. */
  let silentFrom: number | null = null;
  let isAsking = false;
  let isClosed = false;

  /** Uses another client if that one is answered. */
  async function replace(): Promise<void> {
    const other = new MongoClient(url, options);
    try {
      await inTime(clock, ASK_MS, other.db(database).command({ ping: 1 }));
    } catch {
      // The server is away for everybody. Who hears nothing again will ask again.
      return putAway(other);
    }
    if (isClosed) return putAway(other);
    const before = client;
    client = other;
    silentFrom = null;
    putAway(before);
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
    heard() {
      silentFrom = null;
    },
    unheard() {
      silentFrom ??= clock.mono();
      if (isAsking || isClosed || clock.mono() - silentFrom < SILENT_MS) return;
      isAsking = true;
      void replace().finally(() => {
        isAsking = false;
      });
    },
    close() {
      isClosed = true;
      return client.close();
    },
  };
}

/** What it is still asked ends with an error that passes. Nobody waits for it: it may hang on its own last words. */
function putAway(client: MongoClient): void {
  client
    .close()
    .catch(() => client.close())
    .catch(() => {});
}

/** Stands for whatever `current` answers when something is asked of it. */
function following<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get(_, name) {
      const one = current();
      const value: unknown = Reflect.get(one, name, one);
      return typeof value === "function" ? value.bind(one) : value;
    },
  });
}
