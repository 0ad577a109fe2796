// Provider secrets from older boxes into boxes of the current SECRETS_KEY, Owner by Owner. Opened secrets stay here.
// It may be stopped and repeated at any moment: what is in a current box is passed over.

import type { AccountId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { refOf } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import type { Vault } from "../upstream/vault.ts";

export interface Resealed {
  readonly owners: number;
  readonly keys: number;
  readonly resealed: number;
}

const PAGE = 500;

/** Throws when a box was sealed with a key that is not at hand; Owners before it are done by then. */
export async function resealAll(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  vault: Vault;
}): Promise<Resealed> {
  const { system, store, vault } = parts;
  let owners = 0;
  let keys = 0;
  let resealed = 0;
  for (let after = ""; ; ) {
    const names = await store.actors("key-pool/", after, PAGE);
    for (const name of names) {
      const pool = to.keyPool(Number(refOf(name).id) as AccountId);
      const found = await system.ask(pool, "list", {});
      const secrets = found
        .filter(({ secret }) => secret.keyId !== vault.keyId)
        .map(({ id, secret }) => ({ id, was: secret.box, secret: vault.seal(vault.open(secret)) }));
      owners++;
      keys += found.length;
      if (secrets.length > 0) resealed += (await system.ask(pool, "reseal", { secrets })).resealed;
    }
    if (names.length < PAGE) return { owners, keys, resealed };
    after = names.at(-1)!;
  }
}
