// The load generator, a process of its own: keeps N requests under way on as many connections until its time or its number
// is over, lets every one of them end, and prints what came. `bun bench/load.ts JOB`, the job and the result in JSON.
// An answer that is not 200, or a stream without [DONE], is an error; it never retries.

import { type Answered, type Connection, connect } from "./connection.ts";

export interface Job {
  /** Asked in turn by every connection: with two, each request to one is followed by one to the other. */
  readonly targets: readonly Target[];
  readonly bodyText: string;
  readonly concurrency: number;
  readonly most: { readonly ms: number } | { readonly requests: number };
  readonly times: "none" | "whole" | "first_content";
}

export interface Target {
  readonly url: string;
  /** API keys, given to the connections in turn. */
  readonly keys: readonly string[];
}

export interface Loaded {
  /** By target, then by key. */
  readonly answered: readonly (readonly number[])[];
  readonly errors: number;
  readonly firstError: string | null;
  readonly ms: number;
  /** By target, in ms, in the order they came; empty without `times`. */
  readonly times: readonly (readonly number[])[];
}

const ERRORS_MOST = 100;

async function run(job: Job): Promise<Loaded> {
  const answered = job.targets.map(({ keys }) => keys.map(() => 0));
  const times: number[][] = job.targets.map(() => []);
  const streamed = job.bodyText.includes('"stream":true');
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
      const { target, key, connection, request } = lines[turn % lines.length]!;
      const answer = await connection.ask(request);
      const wrong = faultOf(answer, streamed);
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
  return { answered, errors, firstError, ms, times };
}

interface Line {
  readonly target: number;
  readonly key: number;
  readonly connection: Connection;
  readonly request: Buffer;
}

/** One worker's connections, one to each target. */
const linesOf = (job: Job, nth: number): Promise<Line[]> =>
  Promise.all(
    job.targets.map(async ({ url, keys }, target) => {
      const key = nth % keys.length;
      return {
        target,
        key,
        connection: await connect(url, job.times === "first_content"),
        request: requestBytes(url, keys[key]!, job.bodyText),
      };
    }),
  );

const requestBytes = (url: string, key: string, body: string): Buffer =>
  Buffer.from(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: ${new URL(url).host}\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

function faultOf({ status, bytes }: Answered, streamed: boolean): string | null {
  if (status !== 200) return bytes.toString("utf8", 0, 1_000);
  if (streamed && bytes.indexOf("data: [DONE]\n\n", bytes.length - 64) < 0)
    return `a stream without [DONE]: …${bytes.toString("utf8", bytes.length - 300)}`;
  return null;
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!) as Job)));
