// The connections to MongoDB, and how long anything may take. Every write waits for the journals of a majority, every
// read sees nothing less, whatever the address asks for. What must be quick, what leases hang on and what may read for
// minutes use pools of their own, so that a bill never stands before a charge, nor a charge before a beat. Must never hand
// out a client: whoever writes does it in one of these ways.
//
//   read, write   the same again until it is answered or the deadline is over: only for what may happen twice
//   patiently     the same again for minutes
//   prompt.once   one attempt: its failure says nothing about the outcome

import assert from "node:assert/strict";
import type { Collection, CollectionOptions, Document, MongoClientOptions, ReadConcernLevel } from "mongodb";
import { type Clock, sleep } from "../../base/clock.ts";
import { StoreTimeoutError } from "../store.ts";
import { isAnswer, isPassing } from "./errors.ts";
import { createFailoverClient, type FailoverClient } from "./failover-client.ts";

export interface MongoOptions {
  readonly clock: Clock;
  /** Beside the nodes of a cluster: makes and changes nothing, and every call that would write throws. */
  readonly readOnly?: boolean;
  /** Hears why an append was answered "unknown". */
  readonly onError?: (error: unknown) => void;
  /** How long a write is sent again before its outcome is unknown, ms. Absent: 10 seconds. */
  readonly deadlineMs?: number;
}

/** Every collection is keyed by text. */
export interface Keyed extends Document {
  readonly _id: string;
}

export interface MongoConnection {
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly onError: (error: unknown) => void;
  collection<T extends Keyed>(name: string): Collection<T>;
  /** Acknowledged and read by one server: for what may be forgotten. */
  loose<T extends Keyed>(name: string): Collection<T>;
  /** For reads of minutes, each as of one moment where the servers can do that. */
  patient<T extends Keyed>(name: string): Collection<T>;
  read<T>(work: () => Promise<T>): Promise<T>;
  write<T>(work: () => Promise<T>): Promise<T>;
  patiently<T>(work: () => Promise<T>): Promise<T>;
  readonly prompt: Prompt;
  /** The primary's clock, wall ms. */
  now(): Promise<number>;
  facts(): Promise<ServerFacts>;
  /** Waits for what is under way, then refuses what comes, and hangs up. */
  close(): Promise<void>;
}

/** What leases hang on: answered in less than two seconds, or not at all. */
export interface Prompt {
  collection<T extends Keyed>(name: string): Collection<T>;
  /** For reads that see every write that was acknowledged before, by whatever primary. */
  readonly linear: ReadConcernLike;
  read<T>(work: () => Promise<T>): Promise<T>;
  once<T>(work: () => Promise<T>): Promise<T>;
}

type ReadConcernLike = {
  readonly readConcern: { readonly level: ReadConcernLevel };
  readonly maxTimeMS: number;
};

export interface ServerFacts {
  readonly version: string;
  /** Of the replica set; null: it is none, and the server's disk is all there is. */
  readonly replicaSet: string | null;
  /** Reached by a router of a sharded cluster. */
  readonly sharded: boolean;
}

/** What went wrong until there was no more time. */
const silent = (why: unknown): StoreTimeoutError =>
  why instanceof StoreTimeoutError
    ? why
    : new StoreTimeoutError(why instanceof Error ? why.message : String(why), { cause: why });

const DEADLINE_MS = 10_000;
/** Whoever reads has somebody waiting. */
const READ_MS = 5_000;
/** An attempt that hears nothing for so long is given up, for the next one. */
const SILENCE_MS = 4_000;
/** Less than a beat may take; a read of a row is tried twice within it. */
const [PROMPT_MS, PROMPT_READ_MS] = [1_900, 900];
/** What reads for long may be silent for so long. */
export const PATIENT_MS = 120_000;
const [FIRST_PAUSE_MS, MOST_PAUSE_MS] = [20, 500];

const WAYS: MongoClientOptions = {
  appName: "arborgate",
  readPreference: "primary",
  // The store sends again by itself: until its own deadline, and to a standalone server too.
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

/** Said with every collection: what an address says of it would count for more than what a client is made with. */
const safe = (answerMs: number): CollectionOptions => ({
  readPreference: "primary",
  readConcern: { level: "majority" },
  writeConcern: { w: "majority", journal: true, wtimeoutMS: answerMs - 500 },
});

/** Connects to the servers of a `mongodb:` address; without a database in it, to `arborgate`. */
export async function connectMongo(url: string, options: MongoOptions): Promise<MongoConnection> {
  const { clock, onError = () => {}, deadlineMs = DEADLINE_MS } = options;
  const readMs = Math.min(READ_MS, deadlineMs);
  const database = databaseOf(url);
  const client = (how: MongoClientOptions) => createFailoverClient({ url, database, options: how, clock });
  const [quick, prompt, patient] = await reached(async () => [
    client(QUICK),
    client(PROMPT),
    client(PATIENT),
  ]);
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

  /** Rejects when the time is over; what was sent may still arrive. */
  async function within<T>(ms: number, work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(ms, () =>
      late.reject(new StoreTimeoutError("the store did not answer in time")),
    );
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      cancel();
    }
  }

  async function attempt<T>(by: FailoverClient, ms: number, work: () => Promise<T>): Promise<T> {
    try {
      const result = await within(ms, work());
      by.heard();
      return result;
    } catch (error) {
      if (isAnswer(error)) by.heard();
      else if (isPassing(error)) by.unheard();
      throw error;
    }
  }

  async function again<T>(by: FailoverClient, ms: number, work: () => Promise<T>, mostMs = ms): Promise<T> {
    const until = clock.mono() + ms;
    let reason: unknown;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS)) {
      try {
        return await attempt(by, Math.min(mostMs, until - clock.mono()), work);
      } catch (error) {
        if (!isPassing(error)) throw error;
        // Cut short by the deadline, the last attempt says less than the one before.
        const why = (error instanceof StoreTimeoutError ? reason : undefined) ?? error;
        if (clock.mono() + pauseMs >= until) throw silent(why);
        reason = error;
        await sleep(clock, pauseMs);
      }
    }
  }

  const open =
    (run: <T>(work: () => Promise<T>) => Promise<T>) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      assert(!closed, "the store is closed");
      return tracked(run(work));
    };
  const read = open((work) => again(quick, readMs, work));

  // Old and new servers alike know it by this name.
  const hello = () => read(() => quick.command({ isMaster: 1 }));

  async function hangUp(): Promise<void> {
    // What takes several steps starts the next one as soon as one is done.
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
      await again(quick, deadlineMs, quick.connect);
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
    write: open((work) => again(quick, deadlineMs, work)),
    patiently: open((work) => again(patient, PATIENT_MS, work)),
    prompt: {
      collection: (table) => prompt.collection(table, safe(PROMPT_MS)),
      linear: { readConcern: { level: linear }, maxTimeMS: PROMPT_READ_MS },
      read: open((work) => again(prompt, promptMs, work, PROMPT_READ_MS)),
      once: open((work) => attempt(prompt, promptMs, work)),
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

/** How a router of a sharded cluster calls itself. */
const ROUTER = "isdbgrid";

/** Hosts may be many, so that this is no address that `URL` knows. */
const databaseOf = (url: string): string =>
  /^mongodb(?:\+srv)?:\/\/[^/?]+\/([^?]+)/.exec(url)?.[1] ?? "arborgate";

/** The driver's errors say what is wrong with an address without quoting it. */
async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`MongoDB cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
  }
}
