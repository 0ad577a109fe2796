// Operations on all Levels of an Owner: reporting their members, waking their keys, reading their views. Each
// Level decides for itself; the key pool knows which Levels exist.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { LevelView } from "../../actors/level/view.ts";
import type { ActorSystem } from "../runtime/system.ts";

type System = ActorSystem<Protocol>;

/**
 * Sends Levels their current members, so that a change is in force when the caller gets its answer. The key
 * pool also has a pending effect with the same members: if this call fails, it is delivered a moment later,
 * and the Level keeps the newer of the two.
 */
export async function notifyLevels(
  system: System,
  owner: AccountId,
  levels: readonly number[],
): Promise<void> {
  const telling = [...new Set(levels)].map(async (level) => {
    const members = await system.ask(actorRef.keyPool(owner), "members", { level });
    await system.ask(actorRef.level(owner, level), "members", members);
  });
  await Promise.all(telling);
}

/** Reloads the Owner's key pool from the store, and sends its members to every Level that has keys. */
export async function reloadKeys(system: System, owner: AccountId): Promise<void> {
  await system.reload(actorRef.keyPool(owner));
  await notifyLevels(system, owner, levelsOf(await system.ask(actorRef.keyPool(owner), "list", {})));
}

/** Ends the sleep of every key of the Owner. */
export async function wakeKeys(system: System, owner: AccountId): Promise<void> {
  const keys = await system.ask(actorRef.keyPool(owner), "list", {});
  const waking = levelsOf(keys).map((level) =>
    system.ask(actorRef.level(owner, level), "wake", { keys: null }),
  );
  await Promise.all(waking);
}

/** Ends the sleep of one key only. */
export async function wakeKey(system: System, owner: AccountId, key: ProviderKey): Promise<void> {
  await system.ask(actorRef.level(owner, key.level), "wake", { keys: [key.id] });
}

/** Reads the Owner's keys, and the view of each Level that has at least one of them. */
export async function readLevelViews(
  system: System,
  owner: AccountId,
): Promise<{ readonly keys: readonly ProviderKey[]; readonly views: readonly LevelView[] }> {
  const keys = await system.ask(actorRef.keyPool(owner), "list", {});
  const views = await Promise.all(
    levelsOf(keys).map((level) => system.ask(actorRef.level(owner, level), "view", {})),
  );
  return { keys, views };
}

const levelsOf = (keys: readonly ProviderKey[]): number[] => [...new Set(keys.map(({ level }) => level))];
