// `npm run cluster`: a whole cluster on this machine for a look. Three nodes as processes of their own, a NATS server, a
// MongoDB and the stand-in provider; an Owner with keys and a subaccount that asks through each node. Ctrl-C ends all that it
// started, `--once` ends it by itself. Exits 1 when a charge and the ledger disagree, 2 when a server is not to be had.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHAT_MODEL, CREDIT, call, createDemoAccounts, type DemoAccounts } from "../src/cli/demo-accounts.ts";
import { chatClient, chatWhole, type DemoAnswer } from "../src/cli/demo-requests.ts";
import { anyNatsServer } from "../test/bus/nats-server.ts";
import { type Child, startChild } from "../test/children.ts";
import { type Provider, startProvider } from "../test/provider/provider.ts";
import { skipped } from "../test/skipped.ts";
import { dropDatabase, newDatabase, startMongo } from "../test/store/mongo-server.ts";

const HOME = join(import.meta.dirname, "..");
const NAMES = ["a", "b", "c"];
const ROOT_KEY = `sk-${crypto.getRandomValues(new Uint8Array(24)).toHex()}`;
const SECRETS_KEY = crypto.getRandomValues(new Uint8Array(32)).toBase64();
/** A start on a busy machine. */
const START_MS = 60_000;

interface Node {
  readonly name: string;
  readonly url: string;
  readonly child: Child;
}

const once = process.argv.includes("--once");
/** What was started, in order; ended the other way round. */
const started: (() => unknown)[] = [];

async function end(code: number): Promise<never> {
  for (const stop of started.splice(0).reverse()) await stop();
  process.exit(code);
}

async function startServers(): Promise<{ storeUrl: string; natsUrl: string }> {
  const [nats, mongo] = [await anyNatsServer("the cluster"), await startMongo()];
  if (nats !== null) started.push(nats.kill);
  if (mongo !== null) started.push(mongo.stop);
  if (nats === null || mongo === null) {
    for (const line of skipped) console.error(`cluster: ${line}`);
    if (mongo === null)
      console.error("cluster: no MongoDB: set MONGODB_TEST_URL, or install a JDK and Maven");
    return end(2);
  }
  const storeUrl = newDatabase(mongo.url);
  started.push(() => dropDatabase(storeUrl));
  return { storeUrl, natsUrl: nats.url };
}

/** Resolves when it says that it serves. */
async function startNode(name: string, port: number, env: Record<string, string>): Promise<Node> {
  const serves = Promise.withResolvers<string>();
  const child = startChild([process.execPath, join(HOME, "src/main.ts"), "serve"], {
    cwd: HOME,
    env: { ...env, NODE_NAME: name, PORT: String(port) },
    onLine(line) {
      const url = /serves on (\S+)/.exec(line)?.[1];
      if (url !== undefined) serves.resolve(url);
      else if (/"level":(40|50|60)/.test(line)) console.error(`${name}: ${line}`);
    },
  });
  started.push(async () => {
    child.signal("SIGTERM");
    await child.exited;
  });
  const late = Bun.sleep(START_MS).then(() => null);
  const url = await Promise.race([serves.promise, child.exited.then(() => null), late]);
  if (url !== null) return { name, url, child };
  console.error(`node ${name} did not start:\n${child.tail()}`);
  return end(1);
}

async function startNodes(provider: Provider): Promise<readonly Node[]> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-cluster-"));
  started.push(() => rmSync(directory, { recursive: true, force: true }));
  const { storeUrl, natsUrl } = await startServers();
  const port = Number(process.env.PORT ?? 8081);
  const nodes = await Promise.all(
    NAMES.map((name, i) =>
      startNode(name, port === 0 ? 0 : port + i, {
        ...{ ROOT_KEY, SECRETS_KEY, LOG_FORMAT: "json", LB_WAIT_MS: "0" },
        STORE_URL: storeUrl,
        NATS_URL: natsUrl,
        SPOOL_DIR: join(directory, `spool-${name}`),
        PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      }),
    ),
  );
  console.log(`nats        ${natsUrl}\nmongodb     ${storeUrl}\nprovider    ${provider.url}`);
  for (const { name, url, child } of nodes) console.log(`node ${name}      ${url}  (process ${child.pid})`);
  return nodes;
}

/** A request through each node; does each answer have its one charge in the ledger that all of them read? */
async function ask(nodes: readonly Node[], { userKey }: DemoAccounts): Promise<boolean> {
  console.log("\nteam-blue asks each of them, by the same key:\n");
  const answers: DemoAnswer[] = [];
  for (const { name, url } of nodes) {
    console.log(`through node ${name}`);
    answers.push(await chatWhole(chatClient(url, userKey), `Hello, ${name}. [[output=6]]`));
  }
  const { lines } = await call(nodes[0]!.url, userKey, "GET", "/dashboard/ledger");
  console.log("\nthe ledger of team-blue, the same at every node, newest first:");
  for (const { type, amount, balance_after, request_id } of lines) {
    console.log(
      `  ${type.padEnd(12)} ${amount.toFixed(9).padStart(14)}  balance ${balance_after.toFixed(9)}  ${request_id ?? ""}`,
    );
  }
  const charged = (answer: DemoAnswer) =>
    lines.filter((line: { request_id?: string; amount: number }) => line.request_id === answer.request)
      .length === 1;
  return lines.length === answers.length + 1 && answers.every(charged);
}

async function showCluster(nodes: readonly Node[]): Promise<void> {
  const seen = await call(nodes[0]!.url, ROOT_KEY, "GET", "/x-cluster");
  console.log("\nthe cluster, as its first node sees it:");
  for (const { name, state, shards, version } of seen.nodes) {
    console.log(`  node ${name}: ${state}, ${shards} of 256 shards, version ${version}`);
  }
  console.log(`  health ${JSON.stringify(seen.health)}`);
  console.log("  (whoever came first took all shards; they spread over the nodes within a minute)");
}

function showCommands(nodes: readonly Node[], { ownerKey, userKey }: DemoAccounts): void {
  const [first] = nodes;
  const body = `{"model":"${CHAT_MODEL.model}","messages":[{"role":"user","content":"Hi"}]}`;
  console.log(`
Root's key: ${ROOT_KEY}
Owner's key: ${ownerKey}
team-blue's key (${CREDIT} USD): ${userKey}

Ask any node:`);
  for (const { url } of nodes) {
    console.log(`  curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${userKey}' -d '${body}'`);
  }
  console.log(`who owns what, and how everybody is:
  curl ${first!.url}/x-cluster -H 'Authorization: Bearer ${ROOT_KEY}'
what a load balancer asks:
  curl -i ${first!.url}/readyz
and what if one dies? Its shards are served by the others within 6 to 8 seconds:
  kill -9 ${first!.child.pid}
`);
}

process.on("SIGINT", () => void end(0));
process.on("SIGTERM", () => void end(0));
const provider = startProvider();
started.push(() => provider.close());
console.log("arborgate: a cluster on this machine\n");
const nodes = await startNodes(provider);
const accounts = await createDemoAccounts(nodes[0]!.url, ROOT_KEY, provider);
const booked = await ask(nodes, accounts);
await showCluster(nodes);
console.log(booked ? "\nEvery charge stands in the ledger, once." : "\nTHE LEDGER DISAGREES.");
showCommands(nodes, accounts);
if (once || !booked) await end(booked ? 0 : 1);
console.log("Ctrl-C ends the cluster and removes its data.");
