// The connections to MongoDB, and the time limits of all operations. Every write waits for the journals of a
// majority, and every read sees only what a majority has, whatever the address says. Quick operations, those
// that leases depend on, and reads that take minutes use separate pools, so that a bill never delays a
// charge, nor a charge a heartbeat. It must not hand out a client: every caller uses one of these ways.
//
//   read, write   repeated until answered or the deadline has passed: only for what may be applied twice
//   patiently     repeated for minutes
//   prompt.once   one attempt: its failure says nothing about the outcome

import assert from "node:assert/strict";
import type { Collection, CollectionOptions, Document, MongoClientOptions, ReadConcernLevel } from "mongodb";
import type { Clock } from "../../base/clock.ts";
import { createFailoverClient } from "./failover-client.ts";
import { mongoRetry } from "./retry.ts";

/** How a connection is opened. */
export interface MongoOptions {
  readonly clock: Clock;
  /**
   * Opens the database beside the nodes of a cluster: nothing is created or changed, and every call that
   * would write rejects.
   */
  readonly readOnly?: boolean;
  /** Called with the reason when an append is answered "unknown". */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds for which a write is sent again before its outcome is unknown; 10 seconds by default. */
  readonly deadlineMs?: number;
}

/** A document; the key of every collection is text. */
export interface Keyed extends Document {
  readonly _id: string;
}

/** The ways to read and write a database. */
export interface MongoConnection {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly onError: (error: unknown) => void;
  collection<T extends Keyed>(name: string): Collection<T>;
  /** A collection that one server acknowledges and reads: for data that may be lost. */
  loose<T extends Keyed>(name: string): Collection<T>;
  /** A collection for reads that take minutes, each as of one moment if the servers support that. */
  patient<T extends Keyed>(name: string): Collection<T>;
  read<T>(work: () => Promise<T>): Promise<T>;
  write<T>(work: () => Promise<T>): Promise<T>;
  patiently<T>(work: () => Promise<T>): Promise<T>;
  readonly prompt: Prompt;
  /** The primary's clock, wall-clock milliseconds. */
  now(): Promise<number>;
  facts(): Promise<ServerFacts>;
  /** Waits for the operations in flight, then refuses later ones and closes the connections. */
  close(): Promise<void>;
}

/** Operations that leases depend on: they end in less than two seconds. */
export interface Prompt {
  collection<T extends Keyed>(name: string): Collection<T>;
  /** Options of a read that sees every write that any primary acknowledged before. */
  readonly linear: ReadConcernLike;
  read<T>(work: () => Promise<T>): Promise<T>;
  once<T>(work: () => Promise<T>): Promise<T>;
}

type ReadConcernLike = {
  readonly readConcern: { readonly level: ReadConcernLevel };
  readonly maxTimeMS: number;
};

/** What the servers say about themselves. */
export interface ServerFacts {
  readonly version: string;
  /** The name of the replica set; null for a standalone server, whose disk is then the only copy. */
  readonly replicaSet: string | null;
  /** Whether the address is that of a router of a sharded cluster. */
  readonly sharded: boolean;
}

const DEADLINE_MS = 10_000;
/** Shorter than the deadline of writes, because a caller waits for a read. */
const READ_MS = 5_000;
/** An attempt that receives nothing for this long is ended, and the next one begins. */
const SILENCE_MS = 4_000;
/** Less than a heartbeat may take; a read of a row is tried twice within it. */
const [PROMPT_MS, PROMPT_READ_MS] = [1_900, 900];
/** Milliseconds that a long read may receive nothing, and the deadline of `patiently`. */
export const PATIENT_MS = 120_000;

const WAYS: MongoClientOptions = {
  appName: "arborgate",
  readPreference: "primary",
  // The store itself sends again: until its own deadline, and to a standalone server too.
  retryWrites: false,
  ignoreUndefined: true,
  connectTimeoutMS: SILENCE_MS,
  serverSelectionTimeoutMS: 2_000,
  heartbeatFrequencyMS: 2_000,
  waitQueueTimeoutMS: 2_000,
};

const QUICK: MongoClientOptions = { ...WAYS, maxPoolSize: 32, socketTimeoutMS: SILENCE_MS };

const PROMPT: MongoClientOptions = {
  ...WAYS,
  minPoolSize: 1,
  maxPoolSize: 8,
  connectTimeoutMS: PROMPT_MS,
  socketTimeoutMS: PROMPT_MS,
  serverSelectionTimeoutMS: PROMPT_READ_MS,
  waitQueueTimeoutMS: PROMPT_READ_MS,
};

const PATIENT: MongoClientOptions = { ...WAYS, maxPoolSize: 4, socketTimeoutMS: PATIENT_MS };

/** Set on every collection, because the options of an address override those of a client. */
const safe = (answerMs: number): CollectionOptions => ({
  readPreference: "primary",
  readConcern: { level: "majority" },
  writeConcern: { w: "majority", journal: true, wtimeoutMS: answerMs - 500 },
});

/**
 * Connects to the servers of a `mongodb:` address; the default database is `arborgate`. Rejects when they
 * cannot be reached within the deadline; its errors contain no password.
 */
export async function connectMongo(url: string, options: MongoOptions): Promise<MongoConnection> {
  const { clock, onError = () => {}, deadlineMs = DEADLINE_MS } = options;
  const readMs = Math.min(READ_MS, deadlineMs);
  const database = databaseOf(url);
  const { once, repeat } = mongoRetry(clock);
  const client = (how: MongoClientOptions) => createFailoverClient({ url, database, options: how, clock });
  const [quick, prompt, patient] = accepted(() => [client(QUICK), client(PROMPT), client(PATIENT)] as const);
  const promptMs = Math.min(PROMPT_MS, deadlineMs);
  const running = new Set<Promise<unknown>>();
  let closed = false;
  let linear: ReadConcernLevel = "majority";
  let moment: ReadConcernLevel = "majority";

  function tracked<T>(work: Promise<T>): Promise<T> {
    const forget = () => void running.delete(work);
    running.add(work);
    work.then(forget, forget);
    return work;
  }

  const open =
    (run: <T>(work: () => Promise<T>) => Promise<T>) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      assert(!closed, "the store is closed");
      return tracked(run(work));
    };
  const read = open((work) => repeat(quick, readMs, work));

  // Old and new servers know the command by this name.
  const hello = () => read(() => quick.command({ isMaster: 1 }));

  async function hangUp(): Promise<void> {
    // An operation of several steps starts the next one as soon as one is done.
    const until = clock.mono() + deadlineMs;
    while (running.size > 0 && clock.mono() < until) {
      await Promise.allSettled(running);
      await new Promise(setImmediate);
    }
    closed = true;
    await Promise.allSettled(running);
    await Promise.all([quick.close(), prompt.close(), patient.close()]);
  }

  try {
    const { setName, msg } = await reached(async () => {
      await repeat(quick, deadlineMs, quick.connect);
      return hello();
    });
    if (setName !== undefined || msg === ROUTER) [linear, moment] = ["linearizable", "snapshot"];
  } catch (error) {
    await hangUp();
    throw error;
  }

  return {
    clock,
    deadlineMs,
    onError,
    collection: (table) => quick.collection(table, safe(SILENCE_MS)),
    loose: (table) =>
      quick.collection(table, {
        ...safe(SILENCE_MS),
        readConcern: { level: "local" },
        writeConcern: { w: 1 },
      }),
    patient: (table) => patient.collection(table, { ...safe(PATIENT_MS), readConcern: { level: moment } }),
    read,
    write: open((work) => repeat(quick, deadlineMs, work)),
    patiently: open((work) => repeat(patient, PATIENT_MS, work)),
    prompt: {
      collection: (table) => prompt.collection(table, safe(PROMPT_MS)),
      linear: { readConcern: { level: linear }, maxTimeMS: PROMPT_READ_MS },
      read: open((work) => repeat(prompt, promptMs, work, PROMPT_READ_MS)),
      once: open((work) => once(prompt, promptMs, work)),
    },
    async now() {
      const { localTime } = await hello();
      assert(localTime instanceof Date, "the server tells its time");
      return localTime.getTime();
    },
    async facts() {
      const [{ setName, msg }, { version }] = await Promise.all([
        hello(),
        read(() => quick.command({ buildInfo: 1 })),
      ]);
      return { version: String(version), replicaSet: setName ?? null, sharded: msg === ROUTER };
    },
    close: hangUp,
  };
}

/** How a router of a sharded cluster identifies itself. */
const ROUTER = "isdbgrid";

/** An address may name several hosts, which `URL` cannot parse. */
const databaseOf = (url: string): string =>
  /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^?]+)/.exec(url)?.[1] ?? "arborgate";

/** The driver refuses an address with which no connection could ever come about; waiting would not help. */
function accepted<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    assert.fail(`STORE_URL: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Describes a failure to connect. The driver's errors do not quote the address, so no password is shown. */
async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`MongoDB cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  }
}
