// The last requests of an account in a cluster of three: whichever node served or refused them, they stand in the list of the node that
// owns the account, and every node answers with that list. A killed owner takes it with it, and the next one says so.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Account, type Answer, asking, type Json, MODEL, type Owner, until } from "../harness.ts";
import { type Cluster, startCluster, withTailsOnFailure } from "./cluster.ts";
import type { ClusterNode } from "./node.ts";

let cluster: Cluster | null;
let owner: Owner;
beforeAll(async () => {
  cluster = await startCluster({ what: "the last requests in a cluster" });
  if (cluster !== null) owner = await cluster.owner({ credit: 1_000 });
}, 180_000);
afterAll(() => cluster?.close(), 30_000);

/** What the contract promises for a request that another node refused. */
const SEEN_MS = 2_000;

const inCluster = (name: string, does: (on: Cluster) => Promise<void>): void =>
  test(name, () => withTailsOnFailure(cluster, does), 120_000);

async function owned(
  on: Cluster,
): Promise<{ user: Account; ownerNode: ClusterNode; otherNodes: ClusterNode[] }> {
  const user = await on.subaccount(owner);
  const ownerNode = await on.ownerOf(user.id);
  return { user, ownerNode, otherNodes: on.nodes.filter((node) => node !== ownerNode) };
}

const chat = (node: ClusterNode, key: string, id: string, more: object = {}): Promise<Answer> => {
  const headers = { "x-request-id": id };
  return node.call(key, "POST", "/v1/chat/completions", { ...asking("[[output=1]]"), ...more }, { headers });
};

const listAt = async (node: ClusterNode, key: string): Promise<Json> => {
  const { status, body } = await node.call(key, "GET", "/dashboard/requests");
  expect(status).toBe(200);
  return body;
};

const idsOf = ({ requests }: Json): string[] => requests.map(({ request_id }: Json) => request_id);

inCluster("what any node refused or served is seen at every node within two seconds", async (on) => {
  const { user, ownerNode, otherNodes } = await owned(on);
  const [first, second] = otherNodes as [ClusterNode, ClusterNode];
  expect((await chat(first, user.key, "served")).status).toBe(200);
  expect((await chat(first, user.key, "refused-1", { model: "unknown-model" })).status).toBe(404);
  expect((await chat(second, user.key, "refused-2", { max_tokens: -1 })).status).toBe(400);
  expect((await chat(ownerNode, user.key, "refused-3", { model: "" })).status).toBe(400);
  await until(
    "the owner has them",
    async () => idsOf(await listAt(ownerNode, user.key)).length === 4,
    SEEN_MS,
  );
  const list = await listAt(ownerNode, user.key);
  expect(idsOf(list).sort()).toEqual(["refused-1", "refused-2", "refused-3", "served"]);
  expect(list.requests.find(({ request_id }: Json) => request_id === "served")).toMatchObject({
    ...{ status: 200, code: null, model: MODEL, attempts: 1, path: "/v1/chat/completions" },
  });
  expect(list.requests.find(({ request_id }: Json) => request_id === "refused-1")).toMatchObject({
    ...{ status: 404, model: "unknown-model", attempts: 0, cost: 0 },
  });
  for (const node of otherNodes) {
    expect(await listAt(node, user.key)).toEqual(list);
    const seen = await node.call(owner.key, "GET", `/x-requests?user=${user.id}`);
    expect(seen.body).toEqual(list);
  }
});

inCluster("more than a hundred a second at one node are counted, and the list says so", async (on) => {
  const { user, ownerNode, otherNodes } = await owned(on);
  let asked = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (asked < 400) await chat(otherNodes[0]!, user.key, `r${asked++}`, { model: "" });
    }),
  );
  await until("what is left out is said", async () => (await listAt(ownerNode, user.key)).skipped > 0);
  expect((await listAt(ownerNode, user.key)).total).toBeWithin(100, 201);
});

inCluster("a killed owner takes the list with it: the next one begins anew", async (on) => {
  const { user, ownerNode, otherNodes } = await owned(on);
  const rest = otherNodes as [ClusterNode, ClusterNode];
  expect((await chat(rest[0], user.key, "before")).status).toBe(200);
  const before = await listAt(rest[1], user.key);
  expect(idsOf(before)).toEqual(["before"]);
  ownerNode.signal("SIGKILL");
  await ownerNode.exited();
  await on.settled();
  expect((await chat(rest[0], user.key, "after", { model: "" })).status).toBe(400);
  await until("the next owner has it", async () => idsOf(await listAt(rest[1], user.key)).includes("after"));
  const after = await listAt(rest[0], user.key);
  expect(idsOf(after)).toEqual(["after"]);
  expect(after.since > before.requests[0].at).toBe(true);
  await ownerNode.start();
  await on.settled();
});
