// The configurations above an account as their actors have them: what an account's own word on its maps is stamped with.
// Copies are no use here, since a stamp says what its writer knew.

import type { AncestorConfigs, MapSource } from "../../actors/account/map-overrides.ts";
import { isRoot } from "../../actors/account/state.ts";
import { ownerOf, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ActorSystem } from "../runtime/system.ts";

/**
 * The Owner's first, then Root's: whatever of Root's the Owner's cascades knew, is known to the stamp as well. The other
 * way round a stamp could be newer than the Owner's word and older than Root's, which the Owner's is newer than.
 */
export async function configurationsAbove(
  system: Pick<ActorSystem<Protocol>, "ask">,
  account: Pick<MapSource, "id" | "parent" | "dna">,
): Promise<AncestorConfigs> {
  const owner = await system.ask(actorRef.owner(ownerOf(account)), "read", {});
  return { owner, root: isRoot(account) ? owner : await system.ask(actorRef.owner(ROOT), "read", {}) };
}
