// Runs many seeds, in this process or in several, and adds up what happened. A seed that breaks a promise is printed with the
// one command that shows it again. It knows nothing of what a simulation is made of.

import { type Options, type Outcome, simulate } from "./simulate.ts";

export interface Wanted {
  readonly seed: number;
  readonly runs: number;
  /** Instead of what each seed draws; null: as drawn. */
  readonly nodes: number | null;
  /** The same for everything else. */
  readonly options?: Options;
  /** Stop at the first seed that fails. */
  readonly first?: boolean;
}

export interface Failure {
  readonly seed: number;
  readonly complaints: readonly string[];
}

export interface Ran {
  readonly runs: number;
  readonly failed: readonly Failure[];
  readonly totals: Readonly<Record<string, number>>;
  readonly virtualMs: number;
}

/** What one process is given at once: enough to forget what it costs to start, little enough to share the work. */
const CHUNK = 40;
/** A seed takes a second or two; a process that is silent for so long does not end. */
const STUCK_MS = 300_000;

export function command({ nodes, options = {} }: Wanted, seed: number): string {
  const drawn = Object.keys(options).length === 0 ? "" : ` --with '${JSON.stringify(options)}'`;
  return `npm run sim -- --seed ${seed} --runs 1${nodes === null ? "" : ` --nodes ${nodes}`}${drawn} --verbose`;
}

/** In this process, one after another. */
export async function runHere(wanted: Wanted, print?: (line: string) => void): Promise<Ran> {
  const unhandled: string[] = [];
  const notice = (error: unknown) =>
    void unhandled.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.on("unhandledRejection", notice);
  const failed: Failure[] = [];
  const totals: Record<string, number> = {};
  let virtualMs = 0;
  let runs = 0;
  const { nodes } = wanted;
  for (let seed = wanted.seed; seed < wanted.seed + wanted.runs; seed++) {
    const outcome = await simulate(seed, {
      ...wanted.options,
      ...(nodes === null ? {} : { nodes }),
      ...(print ? { print } : {}),
    });
    await new Promise((resolve) => setImmediate(resolve));
    runs++;
    virtualMs += outcome.virtualMs;
    for (const [what, count] of outcome.counts) totals[what] = (totals[what] ?? 0) + count;
    totals[`seeds of ${outcome.nodes} nodes`] = (totals[`seeds of ${outcome.nodes} nodes`] ?? 0) + 1;
    const complaints = [
      ...complaintsOf(outcome),
      ...unhandled.splice(0).map((error) => `0 errors: unhandled rejection: ${error}`),
    ];
    if (complaints.length > 0) failed.push({ seed, complaints });
    if (wanted.first && failed.length > 0) break;
  }
  process.off("unhandledRejection", notice);
  return { runs, failed, totals, virtualMs };
}

export const complaintsOf = ({ violations }: Outcome): string[] =>
  violations
    .slice(0, 3)
    .map(({ at, checker, message }) => `at ${(at / 1_000).toFixed(3)} s: ${checker}: ${message}`);

/** In so many processes, a chunk of seeds at a time; `onChunk` is called with each chunk that is done. */
export async function runApart(wanted: Wanted, jobs: number, onChunk: (ran: Ran) => void): Promise<Ran> {
  const all: Ran[] = [];
  const end = wanted.seed + wanted.runs;
  const size = Math.max(1, Math.min(CHUNK, Math.ceil(wanted.runs / jobs)));
  let next = wanted.seed;
  async function work(): Promise<void> {
    while (next < end && !(wanted.first && all.some(({ failed }) => failed.length > 0))) {
      const seed = next;
      next += size;
      const ran = await child({ ...wanted, seed, runs: Math.min(size, end - seed) });
      all.push(ran);
      onChunk(ran);
    }
  }
  await Promise.all(Array.from({ length: jobs }, work));
  return all.reduce(added, { runs: 0, failed: [], totals: {}, virtualMs: 0 });
}

const main = `${import.meta.dir}/main.ts`;

async function child({ seed, runs, nodes, first, options }: Wanted): Promise<Ran> {
  const seeds = ["--seed", `${seed}`, "--runs", `${runs}`];
  const rest = [...(nodes === null ? [] : ["--nodes", `${nodes}`]), ...(first ? ["--first"] : [])];
  const drawn = options === undefined ? [] : ["--with", JSON.stringify(options)];
  const apart = Bun.spawn([process.execPath, main, "--json", ...seeds, ...rest, ...drawn], {
    stdout: "pipe",
    stderr: "pipe",
    timeout: STUCK_MS,
  });
  const [text, error] = await Promise.all([
    new Response(apart.stdout).text(),
    new Response(apart.stderr).text(),
    apart.exited,
  ]);
  try {
    return JSON.parse(text);
  } catch {
    const complaints = [
      `a process with the seeds ${seed} to ${seed + runs - 1} did not end well: ${error.slice(-2_000)}`,
    ];
    return { runs, failed: [{ seed, complaints }], totals: {}, virtualMs: 0 };
  }
}

function added(a: Ran, b: Ran): Ran {
  const totals = { ...a.totals };
  for (const [what, count] of Object.entries(b.totals)) totals[what] = (totals[what] ?? 0) + count;
  return {
    runs: a.runs + b.runs,
    failed: [...a.failed, ...b.failed].sort((one, other) => one.seed - other.seed),
    totals,
    virtualMs: a.virtualMs + b.virtualMs,
  };
}
