// Another API key for an account: the new one is claimed, the account switches, the old claim is released.
//
// crash                        left behind                              recovery
// after the claim              a claim nobody confirmed                 the sweep releases it; the old key lives on
// after the switch             the new key works; the old claim stands  the sweep releases the old, confirms the new
// after the release            the new claim is not confirmed           the sweep confirms it
//
// The new claim is confirmed last, so an unconfirmed one always tells the sweep that the old may still stand.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import { hashKey } from "../gateway/account/identify.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";

export interface KeyRotation {
  readonly keyHash: string;
  readonly formerKeyHash: string | null;
}

/** Gives an account another key and answers it: the only time it is seen. `chosen`: instead of a random one. */
export async function rotateKey(
  parts: { system: ActorSystem<Protocol>; store: Store; clock: Clock; random: Random },
  id: AccountId,
  chosen: string | null = null,
): Promise<string> {
  const { system, store, clock, random } = parts;
  const before = await system.ask(actorRef.account(id), "profile", {});
  // A rotation that a crash cut off ends first, or the key before the last would be forgotten.
  await settleKeys(store, { keyHash: before.profile.keyHash, formerKeyHash: before.formerKeyHash });

  const key = chosen ?? newApiKey();
  const keyHash = hashKey(key);
  const by = random.id();
  if (!(await store.claim(`key:${keyHash}`, id, by, clock.wall()))) {
    throw new RefusedError({ code: "invalid_parameter", message: "This key is in use. Choose another one." });
  }
  const { formerKeyHash } = await system.ask(actorRef.account(id), "rotate", { keyHash });
  // The sweep may have released the claim while the switch took very long: the key is the account's all the same.
  await store.claim(`key:${keyHash}`, id, by, clock.wall());
  await settleKeys(store, { keyHash, formerKeyHash });
  return key;
}

/** Ends a rotation whose account has switched. Repeating it changes nothing. */
export async function settleKeys(store: Store, { keyHash, formerKeyHash }: KeyRotation): Promise<void> {
  const claim = await store.findClaim(`key:${keyHash}`);
  if (claim === null || claim.confirmed) return;
  const former = formerKeyHash === null ? null : await store.findClaim(`key:${formerKeyHash}`);
  if (former !== null && former.account === claim.account) await store.release(former.key, former.by);
  await store.confirm(claim.key, claim.by);
}
