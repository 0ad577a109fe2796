// Rotates an account's API key: the new key is claimed, the account switches, the old claim is released.
//
// crash               state found                              recovery
// after the claim     an unconfirmed claim                     the sweep releases it; the old key stays valid
// after the switch    the new key works; the old claim exists  the sweep releases the old, confirms the new
// after the release   the new claim is not confirmed           the sweep confirms it
//
// The new claim is confirmed last, so an unconfirmed one always tells the sweep that the old claim may still
// exist.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import { hashKey } from "../gateway/account/identify.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";

/**
 * The SHA-256 hashes of an account's current key and of the one before; the latter is null when there was
 * none.
 */
export interface KeyRotation {
  readonly keyHash: string;
  readonly formerKeyHash: string | null;
}

/**
 * Rotates an account's key and returns the new key in plain text, which is stored nowhere. `chosen` is used
 * instead of a random key. Throws `RefusedError` with `invalid_parameter` when the chosen key is in use.
 */
export async function rotateKey(
  parts: { system: ActorSystem<Protocol>; store: Store; clock: Clock; random: Random },
  id: AccountId,
  chosen: string | null = null,
): Promise<string> {
  const { system, store, clock, random } = parts;
  const before = await system.ask(actorRef.account(id), "profile", {});
  // An interrupted rotation is completed first; otherwise the claim of the key before the last would never be
  // released.
  await settleKeys(store, { keyHash: before.profile.keyHash, formerKeyHash: before.formerKeyHash });

  const key = chosen ?? newApiKey();
  const keyHash = hashKey(key);
  const by = random.id();
  if (!(await store.claim(`key:${keyHash}`, id, by, clock.wall()))) {
    throw new RefusedError({ code: "invalid_parameter", message: "This key is in use. Choose another one." });
  }
  const { formerKeyHash } = await system.ask(actorRef.account(id), "rotate", { keyHash });
  // If the switch took very long, the sweep may have released the claim, but the key is the account's.
  await store.claim(`key:${keyHash}`, id, by, clock.wall());
  await settleKeys(store, { keyHash, formerKeyHash });
  return key;
}

/**
 * Completes a rotation whose account has switched: releases the old claim and confirms the new one.
 * Idempotent.
 */
export async function settleKeys(store: Store, { keyHash, formerKeyHash }: KeyRotation): Promise<void> {
  const claim = await store.findClaim(`key:${keyHash}`);
  if (claim === null || claim.confirmed) return;
  const former = formerKeyHash === null ? null : await store.findClaim(`key:${formerKeyHash}`);
  if (former !== null && former.account === claim.account) await store.release(former.key, former.by);
  await store.confirm(claim.key, claim.by);
}
