// What becomes of single nodes: one Root however many found it at once, one node of a name, none whose clock is wrong; who has
// lost everybody says so, and who dies leaves nothing open. The first of them by default, all with E2E=all.

import { afterEach, expect, test } from "bun:test";
import { asking, charges, type Json, until } from "../harness.ts";
import { type Cluster, type ClusterOptions, ROOT_KEY, startCluster, withTailsOnFailure } from "./cluster.ts";
import type { ClusterNode } from "./node.ts";

let cluster: Cluster | null = null;
afterEach(async () => {
  await cluster?.close();
  cluster = null;
}, 30_000);

interface Beginning extends Partial<ClusterOptions> {
  /** In `npm test` too. */
  readonly short?: true;
}

/** A test of a cluster of its own, where there can be one. */
function begins(name: string, { short, ...options }: Beginning, does: (on: Cluster) => Promise<void>): void {
  if (short !== true && process.env.E2E !== "all") return;
  test(name, async () => {
    cluster = await startCluster({ what: name, ...options });
    await withTailsOnFailure(cluster, does);
  }, 240_000);
}

begins(
  "three nodes that start at once on an empty store found one Root, whose key one of them shows once",
  { short: true, started: false, env: { ROOT_KEY: "" } },
  async (on) => {
    await Promise.all(on.nodes.map((node) => node.start()));
    const keys = on.nodes.flatMap((node) => node.shownKeys());
    expect(keys).toHaveLength(1);
    for (const node of on.nodes) {
      const { status, body } = await node.call(keys[0]!, "GET", "/dashboard/info");
      expect([status, body.user.id, body.user.name]).toEqual([200, 1, "root"]);
    }
    const [first] = on.nodes as [ClusterNode];
    first.signal("SIGTERM");
    expect(await first.exited()).toBe(0);
    await first.start();
    expect(on.nodes.flatMap((node) => node.shownKeys())).toEqual(keys);
    expect((await on.verified()).findings).toEqual([]);
  },
);

begins(
  "a second node of the same name is refused in one line, and the first goes on",
  { nodes: ["a"] },
  async (on) => {
    const node = on.node("a");
    const twin = await on.add("a");
    await expect(twin.start()).rejects.toThrow(/ended/);
    expect(await twin.exited()).toBe(2);
    const said = twin
      .tail()
      .split("\n")
      .filter((line) => line.startsWith("arborgate:"));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain("NODE_NAME");
    expect(await node.isReady()).toBe(true);
    expect((await node.call(ROOT_KEY, "GET", "/dashboard/status")).status).toBe(200);
  },
);

begins(
  "a node whose clock is 10 s off gets no shards and is not ready, and the others serve",
  {},
  async (on) => {
    const wrong = await on.add("d");
    await wrong.launch({ CLOCK_OFFSET_MS: "10000", ALLOW_CLOCK_OFFSET: "1" }).catch(() => {});
    // Longer than a node that is well needs.
    await Bun.sleep(8_000);
    expect(await wrong.isReady()).toBe(false);
    const seen = (await on.node("a").call(ROOT_KEY, "GET", "/x-cluster")).body;
    expect(seen.shards.filter(({ owner }: Json) => owner === "d")).toEqual([]);
    expect((await on.balancer.serving()).sort()).toEqual(["a", "b", "c"]);
    const owner = await on.owner();
    for (const node of on.nodes.slice(0, 3))
      expect(
        (await node.call(owner.key, "POST", "/v1/chat/completions", asking("[[output=2]]"))).status,
      ).toBe(200);
  },
);

begins("a node cut off from the database and from NATS is not ready, and answers 503", {}, async (on) => {
  const owner = await on.owner();
  const node = on.node("b");
  const ask = () =>
    node.call(owner.key, "POST", "/v1/chat/completions", asking("[[output=2]]"), {
      signal: AbortSignal.timeout(30_000),
    });
  expect((await ask()).status).toBe(200);
  node.database.cut();
  node.nats.cut();
  await until("it is not ready", async () => !(await node.isReady()));
  // While the lines are cut: what it says does not wait for them to heal.
  await until("it answers 503", async () => {
    const { status, body } = await ask();
    return status === 503 && body.error.code === "service_unavailable";
  });
  node.database.heal();
  node.nats.heal();
  await on.settled();
  expect((await ask()).status).toBe(200);
});

begins("a request whose front end dies is answered to its repeat, and charged once", {}, async (on) => {
  const owner = await on.owner();
  const user = await on.subaccount(owner);
  const ownerNode = await on.ownerOf(user.id);
  const [front, other] = on.nodes.filter((node) => node !== ownerNode) as [ClusterNode, ClusterNode];
  const ask = (node: ClusterNode, ms: number) =>
    node.call(user.key, "POST", "/v1/chat/completions", asking("[[output=5 head_ms=1500]]"), {
      headers: { "idempotency-key": "the only one" },
      signal: AbortSignal.timeout(ms),
    });
  const first = ask(front, 20_000).catch(() => null);
  await until("it is under way", () => on.provider.inFlight() === 1);
  front.signal("SIGKILL");
  expect(await first).toBeNull();
  const isAnswered = async () => (await ask(other, 20_000).catch(() => null))?.status === 200;
  await until("its repeat is answered", isAnswered, 60_000);
  expect(charges(await on.ledger(user.key))).toHaveLength(1);
  // The whole balance may be held again: nothing of the dead is left.
  expect(await on.nothingHeld(user.key)).toBe(true);
});
