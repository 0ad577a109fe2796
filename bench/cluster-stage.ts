// What a cluster is measured on: three nodes on NATS and a database that speaks MongoDB's protocol, beside one node on the
// same kind of store without NATS and one on SQLite. All have the same accounts and the same upstream, and each its own
// books: at the end every ledger must say what its clients were answered.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anyNatsServer } from "../test/bus/nats-server.ts";
import { dropDatabase, newDatabase, startMongo } from "../test/store/mongo-server.ts";
import { type Administration, administration, type BenchAccount } from "./accounts.ts";
import { allowingRefusals, type Books, openBooks } from "./books.ts";
import { readTable, type ShardTable, settled } from "./cluster-table.ts";
import { sum } from "./figures.ts";
import type { Target } from "./load.ts";
import type { Process } from "./process.ts";
import { factsOf, serve, startUpstream } from "./serve.ts";

/** One way to run the service, in one process or more. */
export interface Fleet {
  readonly name: string;
  readonly nodes: readonly Process[];
  readonly accounts: readonly BenchAccount[];
  /** Every node with all accounts in turn. */
  readonly targets: readonly Target[];
  /** The runtime's counters by name, of all its nodes together. */
  counters(): Promise<ReadonlyMap<string, number>>;
}

export interface ClusterStage {
  readonly cluster: Fleet;
  readonly single: Fleet;
  /** For orientation. */
  readonly sqlite: Fleet;
  /** A refusal because the store is slow is no wrong answer here. */
  readonly load: Books["load"];
  /** How many requests were refused so. */
  refused(): number;
  /** Which node of the cluster owns which shard by now. */
  table(): Promise<ShardTable>;
}

const NODES = ["bench-1", "bench-2", "bench-3"];
/** A few hundred thousand commits, where the database is the stand-in. */
export const DATABASE_HEAP = "10g";
export const PROVIDER_SECRETS = ["sk-provider-first-0123456789", "sk-provider-second-0123456789"];

/** `flagsOf` gives flags of Bun for a node by its name. A node that is alone in its fleet is named like it. */
export async function onCluster<T>(
  options: { readonly accounts: number; readonly flagsOf?: (node: string) => readonly string[] },
  measure: (stage: ClusterStage) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-cluster-"));
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const secretsKey = randomBytes(32).toString("base64");
  /** Functions that end them; the last one runs first. */
  const ends: (() => Promise<unknown>)[] = [() => removed(directory)];
  try {
    const mongo = needed(await startMongo(DATABASE_HEAP));
    ends.push(() => mongo.stop());
    const nats = needed(await anyNatsServer("the cluster"));
    ends.push(() => nats.kill());
    const upstream = await startUpstream();
    ends.push(() => upstream.stop());
    const books = openBooks("chat");

    const node = (name: string, storeUrl: string, env: Record<string, string> = {}) =>
      serve({
        ...{ storeUrl, rootKey, secretsKey },
        spoolDir: join(directory, name),
        flags: options.flagsOf?.(name) ?? [],
        env: { NODE_NAME: name, LB_WAIT_MS: "0", LOG_LEVEL: "error", ...env },
      });
    const database = () => {
      const url = newDatabase(mongo.url);
      ends.push(() => dropDatabase(url));
      return url;
    };
    const fleet = async (name: string, starting: readonly Promise<Process>[]): Promise<Fleet & Checked> => {
      const outcomes = await Promise.allSettled(starting);
      const nodes = outcomes.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      // All at the same time, because a node that leaves looks for another to take its work.
      ends.push(() => Promise.all(nodes.map((one) => one.stop())));
      for (const one of outcomes) if (one.status === "rejected") throw one.reason;
      const admins = nodes.map(({ url }) =>
        administration({ serviceUrl: url, upstreamUrl: upstream.url, rootKey, style: "chat" }),
      );
      const accounts = await admins[0]!.createOwner({
        name,
        secrets: PROVIDER_SECRETS,
        accounts: options.accounts,
      });
      const keys = accounts.map(({ key }) => key);
      return {
        name,
        nodes,
        accounts,
        targets: nodes.map(({ url }) => ({ url, keys })),
        counters: async () => added(await Promise.all(admins.map((admin) => admin.counters()))),
        admin: admins.at(-1)!,
      };
    };

    const shared = database();
    const cluster = await fleet(
      "cluster",
      NODES.map((name) => node(name, shared, { NATS_URL: nats.url, LB_NODE_HEADER: "1" })),
    );
    const single = await fleet("single", [node("single", database())]);
    const sqlite = await fleet("sqlite", [node("sqlite", `sqlite:${join(directory, "bench.db")}`)]);
    const fleets = [cluster, single, sqlite];
    const table = () => readTable(cluster.nodes[0]!.url, rootKey, NODES);
    await settled(table);
    await books.checkSame(
      fleets.flatMap(({ targets }) => targets),
      () => factsOf(upstream),
    );
    const { load, refused } = allowingRefusals(books.load);
    const result = await measure({ cluster, single, sqlite, load, refused, table });
    for (const { admin, accounts } of fleets) await books.checkLedgers(admin, accounts);
    return result;
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface Checked {
  /** Asks another node than the one that made the accounts, where there is one. */
  readonly admin: Administration;
}

/** Neither the machine nor the environment has a server that a cluster needs. */
export class MissingServerError extends Error {}

/** Throws where there is no such server. */
export function needed<T>(server: T | null): T {
  if (server !== null) return server;
  throw new MissingServerError(
    "a cluster needs nats-server and mongod in PATH, or NATS_TEST_URL and MONGODB_TEST_URL, or Go, Java and Maven",
  );
}

const removed = async (directory: string) => rmSync(directory, { recursive: true });

function added(all: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const names = new Set(all.flatMap((one) => [...one.keys()]));
  return new Map([...names].map((name) => [name, sum(all.map((one) => one.get(name) ?? 0))]));
}
