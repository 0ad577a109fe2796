// Reads the configurations above an account from their actors, for the stamps of the account's own map
// overrides. Cached copies must not be used: a stamp records which versions its writer knew.

import type { AncestorConfigs, MapSource } from "../../actors/account/map-overrides.ts";
import { isRoot } from "../../actors/account/state.ts";
import { ownerOf, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ActorSystem } from "../runtime/system.ts";

/**
 * Returns the configurations of the account's Owner and of Root. The Owner is read first, so that the stamp
 * covers every Root version that the Owner's cascades covered. In the other order a stamp could be newer than
 * the Owner's entry and older than the Root entry that the Owner's entry supersedes.
 */
export async function configurationsAbove(
  system: Pick<ActorSystem<Protocol>, "ask">,
  account: Pick<MapSource, "id" | "parent" | "dna">,
): Promise<AncestorConfigs> {
  const owner = await system.ask(actorRef.owner(ownerOf(account)), "read", {});
  return { owner, root: isRoot(account) ? owner : await system.ask(actorRef.owner(ROOT), "read", {}) };
}
