// The load generator, a process of its own: keeps N requests in flight on as many connections until its time or its number
// is over, lets every one of them end, and prints what came. `bun bench/load.ts` reads the job as JSON from its standard
// input and prints the result as JSON. An answer is an error when it is not 200, is cut short, or took another number of
// attempts than it should. It never retries.

import { type Answered, type Connection, connect, unchunked } from "./connection.ts";
import { type Ask, bodyText, STYLES, type StyleName } from "./styles.ts";

export interface Job {
  /** Asked in turn by every connection: with two, each request to one is followed by one to the other. */
  readonly targets: readonly Target[];
  readonly style: StyleName;
  readonly ask: Ask;
  readonly concurrency: number;
  /**
   * Requests a second, evenly spaced, for a load below the most that a server takes. A request that finds no free
   * connection when it is due starts late, and its time counts from when it was due.
   */
  readonly perS?: number;
  readonly most: { readonly ms: number } | { readonly requests: number };
  readonly times: "none" | "whole" | "first_content";
  /** Whether a 503 with Retry-After is no error: a machine that is busy with something else makes the store slow. */
  readonly mayRefuse?: boolean;
}

export interface Target {
  readonly url: string;
  /** API keys, each request with the next. */
  readonly keys: readonly string[];
  /** Headers that this target needs besides those of the style. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The value that x-arbor-attempts must have. Without it any value is right. */
  readonly attempts?: number;
}

export interface Loaded {
  /** By target, then by key. */
  readonly answered: readonly (readonly number[])[];
  readonly refused: number;
  readonly errors: number;
  readonly firstError: string | null;
  readonly ms: number;
  /** By target, in ms, in the order they came. Empty when `times` is "none". */
  readonly times: readonly (readonly number[])[];
}

const ERRORS_MAX = 100;
/** How long a connection waits after a refusal. */
const REST_MS = 100;

async function run(job: Job): Promise<Loaded> {
  const answered = job.targets.map(({ keys }) => keys.map(() => 0));
  const times: number[][] = job.targets.map(() => []);
  let refused = 0;
  let errors = 0;
  let firstError: string | null = null;
  let begun = 0;
  const requests = job.targets.map((target) => target.keys.map((key) => requestBytes(target, key, job)));
  const workers = await Promise.all(Array.from({ length: job.concurrency }, () => connectAll(job)));
  const startedAt = performance.now();
  const { most, perS } = job;
  const goesOn = () =>
    errors < ERRORS_MAX &&
    ("ms" in most ? performance.now() - startedAt < most.ms : begun < most.requests * job.targets.length);

  /** Waits until the next request is due. Returns by how many ms it is late. */
  async function pace(nth: number, perS: number): Promise<number> {
    const earlyMs = startedAt + (nth * 1_000) / perS - performance.now();
    if (earlyMs > 0) await Bun.sleep(earlyMs);
    return Math.max(0, -earlyMs);
  }

  async function work(connections: readonly Connection[], worker: number): Promise<void> {
    for (let turn = 0; goesOn(); turn++) {
      const nth = begun++;
      const lateMs = perS === undefined ? 0 : await pace(nth, perS);
      const target = turn % connections.length;
      const key =
        (worker + Math.floor(turn / connections.length) * job.concurrency) % requests[target]!.length;
      const answer = await connections[target]!.ask(requests[target]![key]!);
      if (job.mayRefuse && isRefusal(answer)) {
        refused++;
        await Bun.sleep(REST_MS);
        continue;
      }
      const fault = faultOf(answer, job, job.targets[target]!.attempts);
      if (fault !== null) {
        errors++;
        firstError ??= fault;
        continue;
      }
      answered[target]![key]!++;
      if (job.times !== "none")
        times[target]!.push(lateMs + (job.times === "whole" ? answer.ms : answer.firstContentMs));
    }
  }

  await Promise.all(
    workers.map((connections, worker) =>
      work(connections, worker).catch((error) => {
        errors++;
        firstError ??= String(error);
      }),
    ),
  );
  const ms = performance.now() - startedAt;
  for (const connection of workers.flat()) connection.close();
  return { answered, refused, errors, firstError, ms, times };
}

/** Opens the connections of one worker, one to each target. */
const connectAll = (job: Job): Promise<Connection[]> =>
  Promise.all(job.targets.map(({ url }) => connect(url, job.times === "first_content")));

function requestBytes({ url, headers: more = {} }: Target, key: string, { style, ask }: Job): Buffer {
  const { path, headers } = STYLES[style];
  const body = bodyText(style, ask);
  const head = Object.entries({
    host: new URL(url).host,
    ...headers(key),
    ...more,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines}\r\n${body}`);
}

const isRefusal = ({ status, bytes }: Answered): boolean =>
  status === 503 && bytes.includes("\r\nretry-after: ");

function faultOf({ status, bytes }: Answered, job: Job, attempts: number | undefined): string | null {
  if (status !== 200) return bytes.toString("utf8", 0, 1_000);
  const { streamEnd } = STYLES[job.style];
  // The end of a stream may be spread over chunks, which is rare enough to look twice.
  const isCut = job.ask.stream && bytes.indexOf(streamEnd, bytes.length - 64) < 0;
  if (isCut && !unchunked(bytes).toString().endsWith(streamEnd))
    return `a stream without its end: …${bytes.toString("utf8", bytes.length - 300)}`;
  if (attempts === undefined || bytes.indexOf(`x-arbor-attempts: ${attempts}\r\n`) >= 0) return null;
  return `not ${attempts} attempts:\n${bytes.toString("utf8", 0, 1_000)}`;
}

if (import.meta.main) console.log(JSON.stringify(await run((await Bun.stdin.json()) as Job)));
