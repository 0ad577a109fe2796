// The first start: Root comes into being, with a key of its own. Every later start finds it and changes nothing.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { hashKey } from "../gateway/identify.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";
import { settleKeys } from "./rotate-key.ts";

/**
 * Makes Root when the store has none. Answers its key the first time, to be shown once; null later.
 * After a crash half-way the next start claims another key, and Root gets that one: nobody has seen the first.
 */
export async function foundRoot(parts: {
  system: ActorSystem<Protocol>;
  store: Store;
  clock: Clock;
  random: Random;
  chosen: string | null;
}): Promise<string | null> {
  const { system, store, clock, random, chosen } = parts;
  const claim = await store.claimed("name:root");
  if (claim?.confirmed) return null;
  if (claim === null) {
    // The counter's first number is Root's, whoever starts first; a start that died here has taken it already.
    const first = (await store.block("account", 1)) as AccountId;
    if (first !== ROOT && (await store.actors("account/", "", 1)).length > 0) {
      throw new Error("the store has accounts but no Root");
    }
  }
  const by = claim?.by ?? random.id();
  const key = chosen ?? newApiKey();
  const keyHash = hashKey(key);
  await store.claim("name:root", ROOT, by, clock.wall());
  await store.claim(`key:${keyHash}`, ROOT, by, clock.wall());
  const { founded } = await system.ask(to.account(ROOT), "found", { keyHash });
  if (!founded) {
    // A start that died before its end has shown its key to nobody: Root takes this one.
    const { formerKeyHash } = await system.ask(to.account(ROOT), "rotate", { keyHash });
    await settleKeys(store, { keyHash, formerKeyHash });
  }
  await store.confirm(`key:${keyHash}`, by);
  await store.confirm("name:root", by);
  return key;
}
