// Adds up what all nodes did with provider keys in the last hour. A node that does not answer in time is left
// out: its requests stay uncounted in this answer, and nothing else depends on the figures.

import type { ProviderKeyId } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import { addActivity, BUCKETS, type KeyActivity, MINUTES } from "../gateway/attempt/key-activity.ts";
import type { ActorSystem } from "../runtime/system.ts";

/** The query by which a node asks the others. */
export const KEY_ACTIVITY = "keyActivity";

/** Milliseconds that other nodes have to answer. */
const NODES_MS = 1_000;

/** What the query asks for. Every node answers of the last hour by its own clock. */
interface KeyActivityQuery {
  readonly keys: readonly ProviderKeyId[];
}

/** Returns the function that answers the query on this node. */
export const keyActivityAnswer =
  (read: (keys: readonly ProviderKeyId[]) => readonly KeyActivity[]) =>
  (input: unknown): readonly KeyActivity[] =>
    read((input as KeyActivityQuery).keys);

/** Returns the activity of these keys by their ids; a key without any is absent. */
export async function keyActivity(
  system: Pick<ActorSystem<Protocol>, "queryNodes">,
  keys: readonly ProviderKeyId[],
): Promise<ReadonlyMap<ProviderKeyId, KeyActivity>> {
  const sums = new Map<ProviderKeyId, KeyActivity>();
  const query: KeyActivityQuery = { keys };
  for (const { answer } of await system.queryNodes({ name: KEY_ACTIVITY, input: query }, NODES_MS)) {
    if (!Array.isArray(answer)) continue;
    for (const one of answer.filter(isActivity)) {
      const sum = sums.get(one.key);
      sums.set(one.key, sum === undefined ? one : addActivity(sum, one));
    }
  }
  return sums;
}

/** Whether it is what a node of this version answers. */
function isActivity(one: unknown): one is KeyActivity {
  if (typeof one !== "object" || one === null) return false;
  const { key, inFlight, perMinute, failures, durations } = one as Partial<Record<string, unknown>>;
  return (
    [key, inFlight, failures].every(isCount) && areCounts(perMinute, MINUTES) && areCounts(durations, BUCKETS)
  );
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const areCounts = (value: unknown, length: number): boolean =>
  Array.isArray(value) && value.length === length && value.every(isCount);
