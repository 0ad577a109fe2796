// The whole bench: a service with short deadlines, all cases side by side, then the store and the stand-in once all is
// quiet, then the judging. It starts and stops what it needs and leaves nothing behind.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Verified, verify } from "../../src/report/verify/verify.ts";
import { openAudit } from "../../src/store/open.ts";
import { type Bench, nano, startBench, until } from "../e2e/harness.ts";
import { type Asked, askCase } from "./ask.ts";
import { becomeOf } from "./become.ts";
import { CLIENTS } from "./client.ts";
import { judge, type Observed } from "./judge.ts";
import type { Case } from "./rows.ts";

export interface Result {
  readonly seen: Observed;
  /** What is wrong with it; none: green. */
  readonly wrong: readonly string[];
}

export interface Outcome {
  readonly results: readonly Result[];
  /** What is wrong with all of them together. */
  readonly wrong: readonly string[];
  readonly verified: Verified;
  /** The charges of all cases, in nano-dollars. */
  readonly charged: number;
  readonly ms: number;
}

/** Far above what a busy machine needs for an answer, and far below the slow answers of the table. */
const SETTINGS = { UPSTREAM_FIRST_MS: "3000", UPSTREAM_IDLE_MS: "3000", UPSTREAM_TIMEOUT_MS: "12000" };
const AT_ONCE = 16;
const QUIET_MS = 20_000;

export async function runBench(cases: readonly Case[]): Promise<Outcome> {
  const began = performance.now();
  const bench = await startBench({ settings: SETTINGS });
  let asked: Asked[];
  const wrong: string[] = [];
  try {
    asked = await sideBySide(cases, (one, nth) => askCase(bench, one, `case-${nth}`));
    wrong.push(...(await busy(bench)));
  } finally {
    // Stopped before it is read: reports of failures are on their way when a response ends.
    await bench.service.stop();
    bench.provider.close();
  }
  try {
    const { results, verified } = await read(bench, asked);
    const charged = results.reduce((sum, { seen }) => sum + spentBy(seen), 0);
    wrong.push(...accountsWrong(verified, charged));
    return { results, wrong, verified, charged, ms: Math.round(performance.now() - began) };
  } finally {
    rmSync(bench.directory, { recursive: true });
  }
}

async function sideBySide<T>(
  cases: readonly Case[],
  work: (one: Case, nth: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async () => {
    for (let nth = next++; nth < cases.length; nth = next++) results[nth] = await work(cases[nth]!, nth);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** What is still under way, or late, once all responses have ended. */
async function busy(bench: Bench): Promise<string[]> {
  const metric = async (name: string) => {
    const { text } = await bench.call(bench.rootKey, "GET", "/metrics");
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return line === undefined ? Number.NaN : Number(line.split(" ").at(-1));
  };
  const wrong: string[] = [];
  const zero = async (what: string, count: () => number | Promise<number>) =>
    until(what, async () => (await count()) === 0, QUIET_MS).catch(async () => {
      wrong.push(`${what}: ${await count()}, not 0`);
    });
  await zero("calls under way at the provider", () => bench.provider.inFlight());
  await zero("keys in flight", () => metric("arborgate_upstream_requests"));
  await zero("late charges", () => metric("arborgate_late_charges_total"));
  const errors = bench.log.filter(({ level }) => level === "error");
  return [
    ...wrong,
    ...new Set(errors.map(({ event, fields }) => `logged: ${event} ${JSON.stringify(fields)}`)),
  ];
}

async function read(bench: Bench, asked: readonly Asked[]) {
  const calls = Map.groupBy(bench.provider.calls(), ({ path, body }) =>
    Object.values(CLIENTS)
      .find((client) => path.endsWith(client.path))
      ?.tagOf(body),
  );
  const audit = await openAudit(`sqlite:${join(bench.directory, "bench.db")}`);
  try {
    const results: Result[] = [];
    for (const one of asked) {
      const seen = { ...one, keys: await becomeOf(audit, one.owner), calls: calls.get(one.tag) ?? [] };
      results.push({ seen, wrong: judge(seen) });
    }
    return { results, verified: await verify(audit) };
  } finally {
    await audit.close();
  }
}

/** What a case was charged in all, in nano-dollars. */
export const spentBy = ({ charges }: Asked): number =>
  charges.reduce((sum, { amount }) => sum - nano(amount), 0);

function accountsWrong({ totals, findings, findingCount }: Verified, charged: number): string[] {
  const wrong = findings.map(({ rule, where, what }) => `verify: ${rule}: ${where}: ${what}`).slice(0, 20);
  if (findingCount > wrong.length) wrong.push(`verify: ${findingCount} findings`);
  if (totals.spent.charged !== BigInt(charged))
    wrong.push(`the ledger charged ${totals.spent.charged} nano-dollars in all, the cases ${charged}`);
  return wrong;
}
