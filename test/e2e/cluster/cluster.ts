// A whole cluster on this machine: three nodes as processes, a NATS server and a MongoDB with a line of each node's own to
// them, HAProxy before them all, and the stand-in provider in this process. Nothing here asserts, and nothing of it outlives
// this process. Where a server is not to be had, `startCluster` answers null, and says loudly what is skipped.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Verified, verify } from "../../../src/report/verify/verify.ts";
import { shardOf } from "../../../src/runtime/shards.ts";
import { openAudit } from "../../../src/store/open.ts";
import { type NatsServer, ownNatsServer } from "../../bus/nats-server.ts";
import { type Provider, startProvider } from "../../provider/provider.ts";
import { announceSkipped } from "../../skipped.ts";
import { dropDatabase, mongoServer, newDatabase } from "../../store/mongo-server.ts";
import { accountFactory, type Bench, callsTo, type Json, until } from "../harness.ts";
import { type Balancer, haproxy, startBalancer } from "./balancer.ts";
import { type Address, type ClusterNode, createNode } from "./node.ts";

export const NAMES = ["a", "b", "c"] as const;
export const ROOT_KEY = "sk-root-of-a-cluster-under-test-0123456789";

/** Anybody's may be read by a test; nobody else's is opened with it. */
const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
const SETTLED_MS = 90_000;
/** Shards that one node may have more than another when they are spread evenly. */
const SPAN_MOST = 20;

export interface ClusterOptions {
  /** What the tests that need it are called when they are skipped. */
  readonly what: string;
  readonly nodes?: readonly string[];
  /** Over the settings of every node. */
  readonly env?: Record<string, string>;
  /** Whether the balancer sends an account's requests to the node that serves it; otherwise they go to all nodes in turn. */
  readonly byAccount?: boolean;
  /** When false, nodes are created, and their test starts them. */
  readonly started?: boolean;
}

export interface Cluster
  extends Pick<
    Bench,
    "call" | "chat" | "ledger" | "balance" | "nothingHeld" | "owner" | "level" | "subaccount"
  > {
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Balancer;
  readonly nats: NatsServer;
  readonly provider: Provider;
  node(name: string): ClusterNode;
  /** One more, not started. */
  add(name: string): Promise<ClusterNode>;
  /** What Root sees of it, asked of a node that runs; null when none answers. */
  overview(): Promise<Json>;
  /** The node that serves this account's actor. */
  ownerOf(account: number): Promise<ClusterNode>;
  /** Every node that runs is ready and gets requests, and nobody else owns a shard. */
  settled(mostMs?: number): Promise<void>;
  /** Shards are spread evenly over the nodes that run, too. */
  balanced(mostMs?: number): Promise<void>;
  /** The whole ledger folded anew and compared. */
  verified(): Promise<Verified>;
  /** The ends of all logs. */
  tails(): string;
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster | null> {
  const { what, nodes: names = NAMES, byAccount = false, started = true } = options;
  const env = byAccount ? { LB_NODE_HEADER: "1", ...options.env } : options.env;
  if (haproxy() === null) return missing(what, "HAProxy is not installed");
  const server = await mongoServer(what);
  if (server === null) return null;
  const nats = await ownNatsServer(what);
  if (nats === null) return null;
  const directory = mkdtempSync(join(tmpdir(), "arborgate-cluster-"));
  const storeUrl = newDatabase(server);
  const provider = startProvider();
  const balancer = await startBalancer(directory, [...names, "d"], byAccount);
  const nodes: ClusterNode[] = [];
  const calls = callsTo(
    () => balancer.url,
    () => {},
  );

  async function add(name: string): Promise<ClusterNode> {
    const node = await createNode({
      name,
      directory,
      mongo: { address: addressOf(storeUrl), url: (address) => through(storeUrl, address) },
      nats: addressOf(nats!.url),
      env: { SECRETS_KEY, ROOT_KEY, LB_WAIT_MS: "1500", DRAIN_MS: "20000", API_RPM: "1000000", ...env },
      moved: (url) => balancer.point(name, url),
    });
    nodes.push(node);
    return node;
  }
  for (const name of names) await add(name);

  /** Names of those who own a shard; empty: nobody says. */
  async function shardOwners(): Promise<Set<string>> {
    const seen = await cluster.overview();
    return new Set(seen?.shards.map(({ owner }: Json) => owner));
  }

  const cluster: Cluster = {
    ...calls,
    ...accountFactory(calls.call, ROOT_KEY, provider.url),
    nodes,
    balancer,
    nats,
    provider,
    node: (name) => nodes.find((node) => node.name === name)!,
    add,
    async overview() {
      for (const node of nodes.filter((one) => one.isRunning())) {
        const answer = await node
          .call(ROOT_KEY, "GET", "/x-cluster", undefined, { signal: AbortSignal.timeout(10_000) })
          .catch(() => null);
        if (answer?.status === 200) return answer.body;
      }
      return null;
    },
    async ownerOf(account) {
      const shard = shardOf(`account/${account}`);
      const { shards } = await cluster.overview();
      const name = shards.find((one: Json) => one.shard === shard).owner;
      return cluster.node(name);
    },
    settled: (mostMs = SETTLED_MS) =>
      until(
        "all nodes that run serve",
        async () => {
          const running = nodes.filter((node) => node.isRunning());
          if (!(await Promise.all(running.map((node) => node.isReady()))).every(Boolean)) return false;
          if ((await balancer.serving()).length !== running.length) return false;
          const names = new Set(running.map(({ name }) => name));
          const owners = await shardOwners();
          return owners.size > 0 && owners.isSubsetOf(names);
        },
        mostMs,
      ),
    async balanced(mostMs = SETTLED_MS) {
      await cluster.settled(mostMs);
      const isEven = async () => {
        const owned = (await cluster.overview())?.nodes.map(({ shards }: Json) => shards) ?? [];
        return owned.length > 0 && Math.max(...owned) - Math.min(...owned) < SPAN_MOST;
      };
      await until("shards are spread", isEven, mostMs);
    },
    async verified() {
      const audit = await openAudit(storeUrl);
      try {
        return await verify(audit);
      } finally {
        await audit.close();
      }
    },
    tails: () =>
      [...nodes.map((node) => `${node.tail()}\n${node.alarms().join("\n")}`), balancer.tail()].join("\n\n"),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await balancer.close();
      await nats.kill();
      provider.close();
      await dropDatabase(storeUrl);
      rmSync(directory, { recursive: true, force: true });
    },
  };
  if (!started) return cluster;
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await cluster.settled();
    return cluster;
  } catch (error) {
    const tails = cluster.tails();
    await cluster.close();
    throw new Error(`${error}\n${tails}`);
  }
}

function missing(what: string, why: string): null {
  if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
  announceSkipped(what, why);
  return null;
}

function addressOf(url: string): Address {
  const [, host = "", port = ""] = /^[a-z+]+:\/\/(?:[^@/]*@)?([^:/,?]+):(\d+)(?:[/?]|$)/.exec(url) ?? [];
  if (port === "") throw new Error("a line leads to one server, at a host and a port");
  return { host, port: Number(port) };
}

/** The same database, reached by another address, and by that alone. */
function through(url: string, { host, port }: Address): string {
  const there = url.replace(/^(mongodb:\/\/(?:[^@/]*@)?)[^/?]+/, `$1${host}:${port}`);
  const [where, query] = there.split("?") as [string, string?];
  const settings = new URLSearchParams(query);
  settings.delete("replicaSet");
  settings.set("directConnection", "true");
  return `${where}?${settings}`;
}

/** Does something on a cluster, where there is one; when it fails, the last lines of its nodes are printed. */
export async function withTailsOnFailure(
  on: Cluster | null,
  does: (on: Cluster) => Promise<void>,
): Promise<void> {
  if (on === null) return;
  try {
    await does(on);
  } catch (error) {
    console.error(on.tails());
    throw error;
  }
}
