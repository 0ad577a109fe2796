// One soak from its start to its judgment: the load, the samples, and at the end every ledger against the prices that
// answers stated, the whole store verified, and the service's log.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Counts, runBackground } from "./background.ts";
import type { LivingHeap } from "./heap-probe.ts";
import { type Ending, REQUEST_KINDS, sendRequest } from "./requests.ts";
import { breachesOf, type Growth, growthOf, JUDGED_MINUTES_MIN, type Sample, sample } from "./resources.ts";
import { type ComparedSums, type LedgerLine, StatedPrices } from "./stated-prices.ts";
import { type SoakAccount, startWorld, type World } from "./world.ts";

export interface SoakOptions {
  readonly ms: number;
  /** Requests a second, evenly spaced. */
  readonly perSecond: number;
  /** Whether the service collects its garbage every minute and says what is left. Growth is then not judged. */
  readonly heap?: boolean;
}

/** What came of a soak. */
export interface SoakResult {
  /** By kind of request, how often each ending came. */
  readonly requests: ReadonlyMap<string, Readonly<Record<Ending, number>>>;
  readonly background: ReadonlyMap<string, number>;
  readonly samples: readonly Sample[];
  readonly growth: Growth;
  /** By minute; empty unless it was asked for. */
  readonly living: readonly LivingHeap[];
  /** Descriptors before the load, and when nothing was asked any more. */
  readonly atRest: readonly [before: number, after: number];
  readonly sums: ComparedSums;
  /** What `verify` printed. */
  readonly verified: string;
  /** What was wrong; empty: nothing was. */
  readonly findings: readonly string[];
  /** What grew; empty too when the run was too short to be judged. */
  readonly breaches: readonly string[];
  readonly isJudged: boolean;
}

const TICK_MS = 10;
/** Requests in flight above which the load waits, so that a machine that is too busy is not buried. */
const IN_FLIGHT_MAX = 128;
/** Requests that were broken off are charged by then, and idle connections to the provider closed. */
const REST_MS = 3_000;
/** How many findings of each kind the run keeps. */
const FINDINGS_MAX = 200;

/** Runs a soak on a service of its own. */
export async function soak({ ms, perSecond, heap = false }: SoakOptions): Promise<SoakResult> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-soak-"));
  let world: World | null = null;
  try {
    const heapFile = heap ? join(directory, "heap.jsonl") : null;
    world = await startWorld(directory, heapFile);
    const book = new StatedPrices();
    const findings: string[] = [];
    const background: Counts = new Map();
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt >= ms || findings.length > FINDINGS_MAX;
    const sampling = sample(world.service, () => heapOf(world!));
    const [requests] = await Promise.all([
      sendAll({ world, book, findings, isOver, perSecond }),
      runBackground({ world, book, findings, counts: background, isOver }),
    ]);
    sampling.stop();
    const samples = [...sampling.samples];
    await Bun.sleep(REST_MS);
    const rested = sample(world.service, async () => null);
    rested.stop();
    const sums = await compareAll(world, book, findings);
    await world.stop();
    const verified = await verify(world, findings);
    findings.push(...faultsIn(readFileSync(world.logFile, "utf8")));
    const growth = growthOf(samples);
    const living = heapFile === null || !existsSync(heapFile) ? [] : linesOf(heapFile);
    const isJudged = !heap && ms >= JUDGED_MINUTES_MIN * 60_000;
    return {
      ...{ requests, background, samples, growth, living, sums, verified, findings, isJudged },
      atRest: [samples[0]!.descriptors, rested.samples.at(-1)!.descriptors],
      breaches: isJudged ? breachesOf(growth) : [],
    };
  } finally {
    await world?.stop();
    world?.close();
    rmSync(directory, { recursive: true });
  }
}

/** What the service says of its own heap; null when it does not answer. */
async function heapOf({ service, rootKey }: World): Promise<number | null> {
  try {
    const headers = { authorization: `Bearer ${rootKey}` };
    const text = await (await fetch(`${service.url}/metrics`, { headers })).text();
    const found = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1];
    return found === undefined ? null : Number(found);
  } catch {
    return null;
  }
}

interface Load {
  readonly world: World;
  readonly book: StatedPrices;
  readonly findings: string[];
  readonly isOver: () => boolean;
  readonly perSecond: number;
}

/** Requests begin when they are due, before those that began earlier have ended. */
async function sendAll(load: Load): Promise<SoakResult["requests"]> {
  const { world, book, findings, isOver, perSecond } = load;
  const endings = new Map(
    REQUEST_KINDS.map(({ name }) => [name, { answered: 0, aborted: 0, refused: 0, wrong: 0 }]),
  );
  const running = new Set<Promise<void>>();
  const startedAt = performance.now();
  async function send(nth: number): Promise<void> {
    const kind = REQUEST_KINDS[nth % REQUEST_KINDS.length]!;
    const accounts = kind.aborts ? world.aborters : world.accounts;
    const account = accounts[Math.floor(nth / REQUEST_KINDS.length) % accounts.length]!;
    const ending = await sendRequest(world, book, { kind, account, id: `soak-${nth}` }, findings);
    endings.get(kind.name)![ending]++;
  }
  for (let begun = 0; !isOver(); await Bun.sleep(TICK_MS)) {
    const due = ((performance.now() - startedAt) * perSecond) / 1_000;
    for (; begun < due && running.size < IN_FLIGHT_MAX; begun++) {
      const ended: Promise<void> = send(begun).finally(() => running.delete(ended));
      running.add(ended);
    }
  }
  await Promise.all(running);
  return endings;
}

async function compareAll(world: World, book: StatedPrices, findings: string[]): Promise<ComparedSums> {
  const total = { statedNano: 0, chargedNano: 0, brokenOffNano: 0 };
  for (const account of [...world.accounts, ...world.aborters]) {
    const lines = await ledgerOf(world, account);
    const { balance } = await world.call<{ balance: number }>(account.key, "GET", "/dashboard/status");
    const sums = book.compare({ name: account.name, lines, balance }, findings);
    total.statedNano += sums.statedNano;
    total.chargedNano += sums.chargedNano;
    total.brokenOffNano += sums.brokenOffNano;
  }
  if (total.statedNano + total.brokenOffNano !== total.chargedNano)
    findings.push(
      `sums: stated ${total.statedNano}, broken off ${total.brokenOffNano}, charged ${total.chargedNano}`,
    );
  return total;
}

interface LedgerPage {
  readonly lines: readonly LedgerLine[];
  readonly has_more: boolean;
}

async function ledgerOf({ call }: World, { key }: SoakAccount): Promise<LedgerLine[]> {
  const lines: LedgerLine[] = [];
  for (let page = 1; ; page++) {
    const read = await call<LedgerPage>(key, "GET", `/dashboard/ledger?size=1000&page=${page}`);
    lines.push(...read.lines);
    if (!read.has_more) return lines;
  }
}

async function verify({ env }: World, findings: string[]): Promise<string> {
  const main = join(import.meta.dirname, "../../src/main.ts");
  const child = Bun.spawn([process.execPath, main, "verify"], {
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) findings.push(`verify: ${said}`);
  return said;
}

const linesOf = (file: string): LivingHeap[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** Lines of the log that no load explains. */
function faultsIn(log: string): string[] {
  const isFault = (line: string) => !line.startsWith("{") || /"level":(50|60)/.test(line);
  return log
    .split("\n")
    .filter((line) => line !== "" && isFault(line))
    .slice(0, FINDINGS_MAX)
    .map((line) => `log: ${line}`);
}
