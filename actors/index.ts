// Entry point of actors/: the behaviors of all actor kinds, the protocol type, and actor references. It has
// no logic.

import type { AnyBehavior, EffectOf } from "../src/runtime/actor.ts";
import { type AccountCommands, account } from "./account/account.ts";
import type { AccountId } from "./ids.ts";
import { type KeyPoolCommands, keyPool, levelId } from "./key-pool/key-pool.ts";
import { type LevelCommands, level } from "./level/level.ts";
import { type OwnerCommands, owner } from "./owner/owner.ts";

/** Maps each actor kind and command type to its input and output. */
export interface Protocol {
  readonly account: AccountCommands;
  readonly owner: OwnerCommands;
  readonly "key-pool": KeyPoolCommands;
  readonly level: LevelCommands;
}

/** The behaviors of all actor kinds. Each owes only commands that the actor at the other end knows. */
export const behaviors: readonly AnyBehavior<EffectOf<Protocol>>[] = [account, owner, keyPool, level];

/** Builds actor references from typed ids. */
export const actorRef = {
  account: (id: AccountId) => ({ kind: "account", id: String(id) }) as const,
  owner: (id: AccountId) => ({ kind: "owner", id: String(id) }) as const,
  keyPool: (id: AccountId) => ({ kind: "key-pool", id: String(id) }) as const,
  level: (owner: AccountId, level: number) => ({ kind: "level", id: levelId(owner, level) }) as const,
};
