// What PROCESSES brings: the same cluster on one port, of one process and of more, each on a database of its own. They take
// turns in short rounds with as many requests in flight; CPU time is that of the parent and all its processes.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { anyNatsServer } from "../test/bus/nats-server.ts";
import { dropDatabase, newDatabase, startMongo } from "../test/store/mongo-server.ts";
import { type Administration, administration, type BenchAccount } from "./accounts.ts";
import { allowingRefusals, type Books, openBooks } from "./books.ts";
import { DATABASE_HEAP, needed, PROVIDER_SECRETS } from "./cluster-stage.ts";
import { readTable, settled } from "./cluster-table.ts";
import { type Spent, spend } from "./cpu.ts";
import { grouped, median, range } from "./figures.ts";
import type { Target } from "./load.ts";
import type { ClusterRows } from "./measure.ts";
import { ownProgramsMs, type Process } from "./process.ts";
import { serve, startUpstream } from "./serve.ts";
import type { Ask } from "./styles.ts";

const ACCOUNTS = 50;
const KINDS: readonly (Ask & { readonly what: string })[] = [
  { what: "whole, 50 accounts", stream: false },
  { what: "stream of 100 events one by one", stream: true, word: "bench-apart" },
];
const FULL = { warmUp: 3_000, rounds: 5, ms: 3_000 };
const QUICK = { warmUp: 1_000, rounds: 3, ms: 1_000 };

/** A machine with so many processes. */
interface Machine {
  readonly processes: number;
  readonly parent: Process;
  readonly admin: Administration;
  readonly accounts: readonly BenchAccount[];
  readonly target: Target;
}

/** A round, and what the servers beside it took, µs of CPU a request. */
interface Round extends Spent {
  readonly besidesUs: number;
}

/** Measures each of these numbers of processes. Throws `MissingServerError` where there is no NATS or no database. */
export async function measureProcesses(counts: readonly number[], quick: boolean): Promise<ClusterRows> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-processes-"));
  /** Functions that end what was started; the last one runs first. */
  const ends: (() => unknown)[] = [() => rmSync(directory, { recursive: true })];
  try {
    const mongo = needed(await startMongo(DATABASE_HEAP));
    ends.push(() => mongo.stop());
    const nats = needed(await anyNatsServer("several processes"));
    ends.push(() => nats.kill());
    const upstream = await startUpstream();
    ends.push(() => upstream.stop());
    const started: Machine[] = [];
    for (const processes of counts) {
      console.error(`${processes} of a machine: starting, and sharing the work out …`);
      const storeUrl = newDatabase(mongo.url);
      ends.push(() => dropDatabase(storeUrl));
      const one = await startMachine({
        ...{ processes, storeUrl, natsUrl: nats.url, upstreamUrl: upstream.url },
        directory: join(directory, `of-${processes}`),
      });
      ends.push(() => one.parent.stop());
      started.push(one);
    }
    const books = openBooks("chat");
    const { load, refused } = allowingRefusals(books.load);
    const rows: ClusterRows[] = [];
    for (const kind of KINDS) rows.push(await measureKind(load, started, kind, quick ? QUICK : FULL));
    for (const { admin, accounts } of started) await books.checkLedgers(admin, accounts);
    const notes = rows.flatMap((one) => one.notes);
    if (refused() > 0) notes.push(`${refused()} requests were refused, since the store was slow`);
    notes.push(`${cpus().length} cores; load average at the end: ${loadavg()[0]!.toFixed(1)}`);
    return { rows: rows.flatMap((one) => one.rows), notes };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface MachineOptions {
  readonly processes: number;
  readonly storeUrl: string;
  readonly natsUrl: string;
  readonly upstreamUrl: string;
  readonly directory: string;
}

async function startMachine(options: MachineOptions): Promise<Machine> {
  const { processes, storeUrl, natsUrl, upstreamUrl, directory } = options;
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const node = `of-${processes}`;
  const parent = await serve({
    ...{ storeUrl, rootKey, secretsKey: randomBytes(32).toString("base64") },
    spoolDir: directory,
    env: {
      ...{ NODE_NAME: node, NATS_URL: natsUrl, PROCESSES: String(processes) },
      ...{ LB_WAIT_MS: "0", LOG_LEVEL: "error" },
    },
  });
  try {
    const admin = administration({ serviceUrl: parent.url, upstreamUrl, rootKey, style: "chat" });
    const names = processes === 1 ? [node] : Array.from({ length: processes }, (_, i) => `${node}-${i + 1}`);
    await settled(() => readTable(parent.url, rootKey, names), processes);
    const accounts = await admin.createOwner({ name: node, secrets: PROVIDER_SECRETS, accounts: ACCOUNTS });
    return {
      ...{ processes, parent, admin, accounts },
      target: { url: parent.url, keys: accounts.map(({ key }) => key) },
    };
  } catch (error) {
    await parent.stop();
    throw error;
  }
}

async function measureKind(
  load: Books["load"],
  machines: readonly Machine[],
  kind: (typeof KINDS)[number],
  times: typeof FULL,
): Promise<ClusterRows> {
  console.error(`${kind.what} …`);
  for (const { target, processes } of machines) {
    const most = { requests: times.warmUp * processes };
    await load({ targets: [target], ask: kind, concurrency: 64, most, times: "none" });
  }
  const rounds: Round[][] = machines.map(() => []);
  for (let round = 0; round < times.rounds; round++) {
    for (const [i, { parent, target }] of machines.entries()) {
      const before = besidesMs();
      const spent = await spend(load, [parent], [target], kind, times.ms);
      rounds[i]!.push({ ...spent, besidesUs: ((besidesMs() - before) * 1000) / spent.requests });
    }
  }
  const perS = rounds.map((all) => median(all.map((one) => one.perS)));
  return {
    rows: machines.map(({ processes }, i) => [
      `${kind.what}, ${processes === 1 ? "1 process" : `${processes} processes`}`,
      grouped(perS[i]!),
      `× ${(perS[i]! / perS[0]!).toFixed(2)}`,
      `${median(rounds[i]!.map(({ cpuUs }) => cpuUs)).toFixed(0)} µs (${range(
        rounds[i]!.map(({ cpuUs }) => cpuUs),
        0,
      )})`,
      `${median(rounds[i]!.map(({ besidesUs }) => besidesUs)).toFixed(0)} µs`,
    ]),
    notes: [],
  };
}

/** CPU time of NATS and of the database; a shell watches mongod. */
function besidesMs(): number {
  const programs = ownProgramsMs();
  return ["nats-server", "java", "sh"].reduce((sum, name) => sum + (programs.get(name) ?? 0), 0);
}
