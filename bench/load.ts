// The load generator, a process of its own: keeps N requests under way on as many connections until its time or its number
// is over, lets every one of them end, and prints what came. `bun bench/load.ts JOB`, the job and the result in JSON.
// An answer that is not 200, not told to the end, or came by another number of attempts than it should, is an error; it
// never retries.

import { type Answered, type Connection, connect } from "./connection.ts";
import { type Ask, bodyText, STYLES, type StyleName } from "./styles.ts";

export interface Job {
  /** Asked in turn by every connection: with two, each request to one is followed by one to the other. */
  readonly targets: readonly Target[];
  readonly style: StyleName;
  readonly ask: Ask;
  readonly concurrency: number;
  readonly most: { readonly ms: number } | { readonly requests: number };
  readonly times: "none" | "whole" | "first_content";
  /** A 503 with Retry-After is no error: a machine that is busy with something else makes the store slow. */
  readonly mayRefuse?: boolean;
}

export interface Target {
  readonly url: string;
  /** API keys, given to the connections in turn. */
  readonly keys: readonly string[];
  /** What x-arbor-attempts must say; any number will do without it. */
  readonly attempts?: number;
}

export interface Loaded {
  /** By target, then by key. */
  readonly answered: readonly (readonly number[])[];
  readonly refused: number;
  readonly errors: number;
  readonly firstError: string | null;
  readonly ms: number;
  /** By target, in ms, in the order they came; empty without `times`. */
  readonly times: readonly (readonly number[])[];
}

const ERRORS_MOST = 100;
/** After a refusal. */
const REST_MS = 100;

async function run(job: Job): Promise<Loaded> {
  const answered = job.targets.map(({ keys }) => keys.map(() => 0));
  const times: number[][] = job.targets.map(() => []);
  let refused = 0;
  let errors = 0;
  let firstError: string | null = null;
  let begun = 0;
  const startedAt = performance.now();
  const { most } = job;
  const goesOn = () =>
    errors < ERRORS_MOST &&
    ("ms" in most ? performance.now() - startedAt < most.ms : begun < most.requests * job.targets.length);

  async function work(lines: readonly Line[]): Promise<void> {
    for (let turn = 0; goesOn(); turn++) {
      begun++;
      const { target, key, connection, request, attempts } = lines[turn % lines.length]!;
      const answer = await connection.ask(request);
      if (job.mayRefuse && isRefusal(answer)) {
        refused++;
        await Bun.sleep(REST_MS);
        continue;
      }
      const wrong = faultOf(answer, job, attempts);
      if (wrong !== null) {
        errors++;
        firstError ??= wrong;
        continue;
      }
      answered[target]![key]!++;
      if (job.times !== "none")
        times[target]!.push(job.times === "whole" ? answer.ms : answer.firstContentMs);
    }
  }

  const workers = await Promise.all(Array.from({ length: job.concurrency }, (_, nth) => linesOf(job, nth)));
  await Promise.all(
    workers.map((lines) =>
      work(lines).catch((error) => {
        errors++;
        firstError ??= String(error);
      }),
    ),
  );
  const ms = performance.now() - startedAt;
  for (const { connection } of workers.flat()) connection.close();
  return { answered, refused, errors, firstError, ms, times };
}

interface Line {
  readonly target: number;
  readonly key: number;
  readonly connection: Connection;
  readonly request: Buffer;
  readonly attempts: number | undefined;
}

/** One worker's connections, one to each target. */
const linesOf = (job: Job, nth: number): Promise<Line[]> =>
  Promise.all(
    job.targets.map(async ({ url, keys, attempts }, target) => {
      const key = nth % keys.length;
      return {
        target,
        key,
        connection: await connect(url, job.times === "first_content"),
        request: requestBytes(url, keys[key]!, job),
        attempts,
      };
    }),
  );

function requestBytes(url: string, key: string, { style, ask }: Job): Buffer {
  const { path, headers } = STYLES[style];
  const body = bodyText(style, ask);
  const head = Object.entries({
    host: new URL(url).host,
    ...headers(key),
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
  if (job.ask.stream && bytes.indexOf(streamEnd, bytes.length - 64) < 0)
    return `a stream without its end: …${bytes.toString("utf8", bytes.length - 300)}`;
  if (attempts === undefined || bytes.indexOf(`x-arbor-attempts: ${attempts}\r\n`) >= 0) return null;
  return `not ${attempts} attempts:\n${bytes.toString("utf8", 0, 1_000)}`;
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as Job)));
