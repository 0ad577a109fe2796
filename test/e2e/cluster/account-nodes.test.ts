// A cluster of three behind the balancer of deploy/haproxy.cfg, which learns from answers which node serves an account: from the second
// request on an account's requests need no other node, and when its node leaves they follow it to the next one.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { asking, charges, until } from "../harness.ts";
import { type Cluster, ROOT_KEY, startCluster, withTailsOnFailure } from "./cluster.ts";

const NODE = "x-arbor-node";
const ACCOUNTS = 9;

let cluster: Cluster | null;
beforeAll(async () => {
  cluster = await startCluster({ what: "accounts at their own nodes", byAccount: true });
  // From now on no account moves of itself.
  await cluster?.balanced();
}, 240_000);
afterAll(() => cluster?.close(), 30_000);

const inCluster = (name: string, does: (on: Cluster) => Promise<void>): void =>
  test(name, () => withTailsOnFailure(cluster, does), 120_000);

/** How many commands all nodes have sent to each other for the holds and charges of requests. */
async function remoteCommands(on: Cluster): Promise<number> {
  const pages = await Promise.all(on.nodes.map((node) => node.call(ROOT_KEY, "GET", "/metrics")));
  return pages.reduce((sum, { text }) => {
    const [, count] = /^arborgate_remote_commands_total (\d+)$/m.exec(text)!;
    return sum + Number(count);
  }, 0);
}

inCluster("requests of an account come to the node that serves it, and clients see no name", async (on) => {
  const owner = await on.owner();
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => on.subaccount(owner)));
  // The first request of each tells the balancer.
  for (const { key } of accounts) expect((await on.chat(key, "[[output=1]]")).status).toBe(200);
  const before = await remoteCommands(on);
  for (let round = 0; round < 4; round++) {
    for (const { key } of accounts) {
      const answer = await on.chat(key, "[[output=1]]");
      expect([answer.status, answer.headers.get(NODE)]).toEqual([200, null]);
    }
  }
  // In turn, two of three requests would have sent two commands each: 48.
  expect((await remoteCommands(on)) - before).toBeLessThan(ACCOUNTS);
  for (const { key } of accounts) expect(charges(await on.ledger(key))).toHaveLength(5);
});

inCluster("an account whose node leaves is named with the next one, and no request fails", async (on) => {
  const owner = await on.owner();
  const account = await on.subaccount(owner);
  const leaving = await on.ownerOf(account.id);
  const [asked] = on.nodes.filter((node) => node !== leaving);
  const named = async (): Promise<string | null> => {
    const body = asking("[[output=1]]");
    return (await asked!.call(account.key, "POST", "/v1/chat/completions", body)).headers.get(NODE);
  };
  expect(await named()).toBe(leaving.name);
  expect((await on.chat(account.key, "[[output=1]]")).status).toBe(200);
  leaving.signal("SIGTERM");
  const statuses: number[] = [];
  while (leaving.isRunning()) statuses.push((await on.chat(account.key, "[[output=1]]")).status);
  expect(await leaving.exited()).toBe(0);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  await until("another node is named", async () => ![leaving.name, null].includes(await named()));
  expect(await named()).toBe((await on.ownerOf(account.id)).name);
});
