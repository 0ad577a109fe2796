// The load of the memory measures, a process of its own: `bun bench/memory-load.ts` reads a job as JSON from its standard
// input and prints what came. It asks many accounts in turn, asks some at a steady rate while more are made, or keeps
// streams open. It measures nothing, and repeats only what a busy machine made the service refuse.

import { administration, type BenchAccount } from "./accounts.ts";
import { type Connection, connect } from "./connection.ts";
import { type Ask, bodyText, STYLES } from "./styles.ts";

export type MemoryJob =
  /** Asks each key `times` times, one key after the other, so that the next time comes when all had theirs. */
  | { readonly kind: "turns"; readonly url: string; readonly keys: readonly string[]; readonly times: number }
  /** Asks keys at random, `perSecond` in all, and makes accounts below the Owner, which are asked from then on. */
  | {
      readonly kind: "mixed";
      readonly url: string;
      readonly keys: readonly string[];
      readonly ownerKey: string;
      readonly perSecond: number;
      readonly madePerMinute: number;
      readonly ms: number;
    }
  /** Opens streams that send one event, prints a line, and keeps them until it is killed. */
  | {
      readonly kind: "streams";
      readonly url: string;
      readonly keys: readonly string[];
      readonly streams: number;
    };

export interface MemoryLoaded {
  readonly answered: number;
  /** Requests that the service refused because the store was slow, and that were sent again. */
  readonly refused: number;
  readonly made: number;
  readonly errors: number;
  readonly firstError: string | null;
}

const CONCURRENCY = 64;
const TICK_MS = 10;
/** Requests in flight above which a mixed load waits, so that a machine that is too busy is not buried. */
const IN_FLIGHT_MAX = 256;
/** After a refusal. */
const REST_MS = 100;
const STREAM = { stream: true };
const WHOLE = { stream: false };
/** One request of so many is a stream. */
const STREAM_EVERY = 5;

let answered = 0;
let refused = 0;
let made = 0;
let errors = 0;
let firstError: string | null = null;

function failed(why: string): void {
  errors++;
  firstError ??= why;
}

function requestBytes(url: string, key: string, ask: Ask): Buffer {
  const { path, headers } = STYLES.chat;
  const body = bodyText("chat", ask);
  const head = Object.entries({
    host: new URL(url).host,
    ...headers(key),
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines}\r\n${body}`);
}

async function askOnce(connection: Connection, request: Buffer): Promise<void> {
  for (;;) {
    const { status, bytes } = await connection.ask(request);
    if (status === 503 && bytes.includes("\r\nretry-after: ")) {
      refused++;
      await Bun.sleep(REST_MS);
      continue;
    }
    if (status === 200) answered++;
    else failed(bytes.toString("utf8", 0, 1_000));
    return;
  }
}

async function inTurns({ url, keys, times }: MemoryJob & { kind: "turns" }): Promise<void> {
  let begun = 0;
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      const connection = await connect(url, false);
      while (begun < keys.length * times) {
        await askOnce(connection, requestBytes(url, keys[begun++ % keys.length]!, WHOLE));
      }
      connection.close();
    }),
  );
}

/** Requests begin on the clock's ticks, before those that began earlier have ended; each takes a free connection. */
async function mixed(job: MemoryJob & { kind: "mixed" }): Promise<void> {
  const { url, ownerKey } = job;
  const keys = [...job.keys];
  const free: Connection[] = [];
  const running = new Set<Promise<void>>();
  const admin = administration({ serviceUrl: url, upstreamUrl: url, rootKey: "", style: "chat" });
  const startedAt = performance.now();
  let begun = 0;
  let asked = 0;

  /** The connections at the bottom have been idle the longest, since a burst of requests needed them. */
  function takeFree(): Connection | undefined {
    for (let last = free.pop(); last !== undefined; last = free.pop()) if (last.isOpen()) return last;
    return undefined;
  }

  async function ask(nth: number): Promise<void> {
    const key = keys[Math.floor(Math.random() * keys.length)]!;
    const connection = takeFree() ?? (await connect(url, false));
    await askOnce(connection, requestBytes(url, key, nth % STREAM_EVERY === 0 ? STREAM : WHOLE));
    free.push(connection);
  }

  async function make(nth: number): Promise<void> {
    const { key }: BenchAccount = await admin.createAccount(ownerKey, `mixed-${nth}`);
    keys.push(key);
    made++;
  }

  const run = (task: Promise<void>) => {
    const ended = task.catch((error) => failed(String(error))).finally(() => running.delete(ended));
    running.add(ended);
  };
  for (;;) {
    const ms = performance.now() - startedAt;
    if (ms >= job.ms) break;
    const due = (ms * job.perSecond) / 1_000;
    while (begun < due && running.size < IN_FLIGHT_MAX) run(ask(begun++));
    while (asked < (ms * job.madePerMinute) / 60_000) run(make(asked++));
    await Bun.sleep(TICK_MS);
  }
  await Promise.all(running);
  for (const connection of free) connection.close();
}

async function openStreams({ url, keys, streams }: MemoryJob & { kind: "streams" }): Promise<void> {
  const { hostname, port } = new URL(url);
  let begun = 0;

  function open(key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const fail = (why: string) => {
      failed(why);
      resolve();
    };
    let head = "";
    void Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(requestBytes(url, key, { stream: true, word: "bench-idle" })),
        data: (_, chunk) => {
          if (head.includes("data: {")) return;
          head += chunk.toString("latin1");
          if (!head.startsWith("HTTP/1.1 200")) return fail(head);
          if (!head.includes("data: {")) return;
          answered++;
          resolve();
        },
        close: () => fail("the server closed a stream"),
        error: (_, error) => fail(error.message),
      },
    });
    return promise;
  }

  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (begun < streams) await open(keys[begun++ % keys.length]!);
    }),
  );
}

if (import.meta.main) {
  const job = JSON.parse(await Bun.stdin.text()) as MemoryJob;
  if (job.kind === "turns") await inTurns(job);
  else if (job.kind === "mixed") await mixed(job);
  else await openStreams(job);
  console.log(JSON.stringify({ answered, refused, made, errors, firstError } satisfies MemoryLoaded));
}
