// Prompt-cache affinity in a cluster of three behind a balancer that sends each turn to the next node: all nodes name the same key
// for a conversation, without telling each other, also while a key sleeps and after it woke.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Conversations } from "../conversations.ts";
import { MODEL, until } from "../harness.ts";
import { type Cluster, ROOT_KEY, startCluster, withTailsOnFailure } from "./cluster.ts";

let cluster: Cluster | null;
beforeAll(async () => {
  cluster = await startCluster({
    what: "prompt-cache affinity in a cluster",
    env: { ALLOW_CLOCK_OFFSET: "1" },
  });
}, 180_000);
afterAll(() => cluster?.close(), 30_000);

const inCluster = (name: string, does: (on: Cluster) => Promise<void>): void =>
  test(name, () => withTailsOnFailure(cluster, does), 120_000);

const AT_ONCE = 4;
/** As long as a key sleeps whose secret was refused. */
const SLEEP_MS = 30 * 60_000;

inCluster("the turns after the first meet their key, whichever node serves them", async (on) => {
  const owner = await on.owner({ keys: 5, config: { LEVEL_AFFINITY: "on" } });
  const conversations = new Conversations(on, owner, 200);
  for (let turn = 0; turn < 4; turn++) await conversations.round(AT_ONCE);
  expect(conversations.hitShare()).toBeGreaterThanOrEqual(0.95);
  expect(new Set(conversations.keys().flat()).size).toBe(5);
});

inCluster("the conversations of a key that sleeps move to the same key on every node", async (on) => {
  const owner = await on.owner({ keys: 5, config: { LEVEL_AFFINITY: "on" } });
  const asleep = owner.secrets[0]!.slice(-4);
  const conversations = new Conversations(on, owner, 100);
  await conversations.round(AT_ONCE);
  on.provider.behave(owner.secrets[0]!, "fault=401");
  for (let turn = 0; turn < 4; turn++) await conversations.round(AT_ONCE);
  const all = conversations.keys();
  for (const [first, ...later] of all) {
    expect(later).toEqual(new Array(4).fill(first === asleep ? later[0]! : first!));
    expect(later).not.toContain(asleep);
  }
  expect(all.filter(([first]) => first === asleep)).not.toBeEmpty();
});

inCluster("they stay there when it wakes, on nodes that have not served them meanwhile too", async (on) => {
  const owner = await on.owner({ keys: 5, config: { LEVEL_AFFINITY: "on" } });
  const asleep = owner.secrets[0]!.slice(-4);
  const conversations = new Conversations(on, owner, 60);
  await conversations.round(AT_ONCE);
  on.provider.behave(owner.secrets[0]!, "fault=401");
  // One turn: two of three nodes have no memory of where a conversation went.
  await conversations.round(AT_ONCE);
  on.provider.behave(owner.secrets[0]!, null);
  const moved = await on.call(ROOT_KEY, "PUT", "/x-clock", { offset_ms: SLEEP_MS });
  expect(moved.status).toBe(200);
  const explain = `/dashboard/explain?model=${MODEL}`;
  for (const node of on.nodes) {
    await until("the node has the time and the key no sleep", async () => {
      const { candidates } = (await node.call(owner.key, "GET", explain)).body;
      return !candidates.some(({ state }: { state: string }) => state === "sleeping");
    });
  }
  // First turns of others probe it.
  const others = new Conversations(on, owner, 60);
  await others.round(AT_ONCE);
  expect(others.keys().filter(([key]) => key === asleep)).not.toBeEmpty();
  for (let turn = 0; turn < 3; turn++) await conversations.round(AT_ONCE);
  const all = conversations.keys();
  for (const [first, ...later] of all)
    expect(later).toEqual(new Array(4).fill(first === asleep ? later[0]! : first!));
  expect(all.filter(([first]) => first === asleep)).not.toBeEmpty();
});
