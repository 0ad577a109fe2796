// A cluster of three behind the balancer of deploy/haproxy.cfg, which learns from answers which node serves an account: from the second
// request on an account's requests need no other node, and when its node leaves they follow it to the next one.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, type Answer, asking, charges, until } from "../harness.ts";
import { type Cluster, startCluster, withTailsOnFailure } from "./cluster.ts";

const NODE = "x-arbor-node";
/** Reads metrics without an account, so that it makes nodes send each other nothing. */
const TOKEN = "token-for-metrics-0123456789";
const ACCOUNTS = 9;
const ROUNDS = 4;
/** What nodes that are asked in turn would send each other: of three requests two come to another node, which sends two commands. */
const IN_TURN = Math.floor((ACCOUNTS * ROUNDS * 2 * 2) / 3);

let cluster: Cluster | null;
beforeAll(async () => {
  cluster = await startCluster({
    what: "accounts at their own nodes",
    byAccount: true,
    env: { METRICS_TOKEN: TOKEN },
  });
  await cluster?.balanced();
}, 240_000);
afterAll(() => cluster?.close(), 30_000);

const inCluster = (name: string, does: (on: Cluster) => Promise<void>): void =>
  test(name, () => withTailsOnFailure(cluster, does), 120_000);

const chat = async (on: Cluster, { key }: Account): Promise<void> => {
  const answer = await on.chat(key, "[[output=1]]");
  expect([answer.status, answer.headers.get(NODE)]).toEqual([200, null]);
};

/** How many commands the nodes that run have sent to each other. */
async function remoteCommands(on: Cluster): Promise<number> {
  const running = on.nodes.filter((node) => node.isRunning());
  const pages = await Promise.all(running.map((node) => node.call(TOKEN, "GET", "/metrics")));
  return pages.reduce((sum, { text }) => {
    const [, count] = /^arborgate_remote_commands_total (\d+)$/m.exec(text)!;
    return sum + Number(count);
  }, 0);
}

/** Returns how many commands the nodes send to each other for what `work` does, once nothing else makes them send any. */
async function commandsFor(on: Cluster, work: () => Promise<void>): Promise<number> {
  let before = -1;
  await until("nodes send each other nothing", async () => {
    const last = before;
    before = await remoteCommands(on);
    return before === last;
  });
  await work();
  return (await remoteCommands(on)) - before;
}

inCluster("requests of an account come to the node that serves it, and clients see no name", async (on) => {
  const owner = await on.owner();
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => on.subaccount(owner)));
  // The balancer learns from the first request of each.
  for (const account of accounts) await chat(on, account);
  const commands = await commandsFor(on, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const account of accounts) await chat(on, account);
    }
  });
  expect(commands).toBeLessThan(IN_TURN / 2);
  for (const { key } of accounts) expect(charges(await on.ledger(key))).toHaveLength(1 + ROUNDS);
});

inCluster(
  "when a node leaves no request fails, and its accounts' requests come to the next one",
  async (on) => {
    const owner = await on.owner();
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => on.subaccount(owner)));
    for (const account of accounts) await chat(on, account);
    const [first] = accounts as [Account];
    const leaving = await on.ownerOf(first.id);
    leaving.signal("SIGTERM");
    while (leaving.isRunning()) for (const account of accounts) await chat(on, account);
    expect(await leaving.exited()).toBe(0);
    // Each answer has the new name now, and one of each teaches it to the balancer.
    for (const account of accounts) await chat(on, account);
    const commands = await commandsFor(on, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const account of accounts) await chat(on, account);
      }
    });
    expect(commands).toBeLessThan(IN_TURN / 2);
  },
);

inCluster("an answer that another node gives again names the node of the account", async (on) => {
  const account = await on.subaccount(await on.owner());
  const running = on.nodes.filter((node) => node.isRunning());
  const body = asking("[[output=1]]");
  const headers = { "idempotency-key": `once-${account.id}` };
  const answers: Answer[] = [];
  for (const node of [...running, ...running]) {
    answers.push(await node.call(account.key, "POST", "/v1/chat/completions", body, { headers }));
  }
  const { name } = await on.ownerOf(account.id);
  expect(answers.map((answer) => [answer.status, answer.headers.get(NODE)])).toEqual(
    answers.map(() => [200, name]),
  );
  expect(charges(await on.ledger(account.key))).toHaveLength(1);
});
