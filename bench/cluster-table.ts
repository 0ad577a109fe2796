// Which node of the measured cluster owns which shard, as /x-cluster reports it, and whether all shards have settled.

import { SHARDS, shardOf } from "../src/runtime/shards.ts";
import type { BenchAccount } from "./accounts.ts";

export interface ShardTable {
  /** By shard: which of the nodes owns it, -1 for one that is not known. */
  readonly owners: readonly number[];
  /** Counters that must be zero, and are not, with their values. */
  readonly unhealthy: readonly string[];
}

interface Told {
  readonly shards: readonly { readonly shard: number; readonly owner: string | null }[];
  readonly health: Readonly<Record<string, number>>;
}

export async function readTable(url: string, rootKey: string, names: readonly string[]): Promise<ShardTable> {
  const response = await fetch(`${url}/x-cluster`, { headers: { authorization: `Bearer ${rootKey}` } });
  if (!response.ok) throw new Error(`/x-cluster: ${response.status} ${await response.text()}`);
  const { shards, health } = (await response.json()) as Told;
  const owners = Array.from({ length: SHARDS }, () => -1);
  for (const { shard, owner } of shards) owners[shard] = names.indexOf(owner ?? "");
  return {
    owners,
    unhealthy: Object.entries(health).flatMap(([name, value]) => (value === 0 ? [] : [`${name} ${value}`])),
  };
}

/** The node that owns an account, by its place in the cluster. */
export const ownerOf = ({ owners }: ShardTable, { id }: BenchAccount): number =>
  owners[shardOf(`account/${id}`)]!;

const LOOK_MS = 250;
/** Longer than between two moves. */
const QUIET_MS = 2_500;
const SETTLE_MS_MAX = 90_000;
/** Loads differ by less than this when nothing more is moved for balance. */
const SPAN_MAX = Math.ceil(SHARDS / 16);

/** Resolves when each of so many nodes owns its part and nothing has moved for a while. */
export async function settled(table: () => Promise<ShardTable>, nodes = 3): Promise<void> {
  const startedAt = performance.now();
  let seen = "";
  let since = startedAt;
  let lastError: unknown = null;
  /** A busy machine may make the store too slow for an answer: nobody's shards are then known. */
  const look = () =>
    table().catch((error) => {
      lastError = error;
      return { owners: [] };
    });
  for (;;) {
    const { owners } = await look();
    const now = performance.now();
    if (owners.join() !== seen) since = now;
    seen = owners.join();
    if (isBalanced(owners, nodes) && now - since >= QUIET_MS) return;
    if (now - startedAt > SETTLE_MS_MAX)
      throw new Error("the nodes did not come to share the work evenly", { cause: lastError });
    await Bun.sleep(LOOK_MS);
  }
}

function isBalanced(owners: readonly number[], nodes: number): boolean {
  const loads = Array.from({ length: nodes }, (_, node) => owners.filter((owner) => owner === node).length);
  return (
    owners.length === SHARDS && !owners.includes(-1) && Math.max(...loads) - Math.min(...loads) <= SPAN_MAX
  );
}
