// Rotates an account's API key: the new key is claimed, the account switches, the old claim is released.
//
// crash               state found                              recovery
// after the claim     an unconfirmed claim                     the sweep releases it; the old key stays valid
// after the switch    the new key works; the old claim exists  the sweep releases the old, confirms the new
// after the release   the new claim is not confirmed           the sweep confirms it
//
// The new claim is confirmed last, so an unconfirmed one always tells the sweep that the old claim may still
// exist.

import { INVALID_KEY } from "../../actors/account/authenticate.ts";
import { KEY_CHANGED, type RotateKey } from "../../actors/account/profile.ts";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
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
 * instead of a random key. `from` is the hash that the current key must have; null replaces any key. Throws
 * `RefusedError` with `invalid_parameter` when the chosen key is in use, and with `invalid_api_key` when the
 * current key is another than `from`.
 */
export async function rotateKey(
  parts: { system: ActorSystem<Protocol>; store: Store; clock: Clock; random: Random; log: Log },
  id: AccountId,
  chosen: string | null = null,
  from: string | null = null,
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
  const formerKeyHash = await switchKey(system, id, { keyHash, ...(from === null ? {} : { from }) });
  if (formerKeyHash === KEY_CHANGED) {
    await store.release(`key:${keyHash}`, by);
    throw new RefusedError(INVALID_KEY);
  }
  // If the switch took very long, the sweep may have released the claim, but the key is the account's.
  await store.claim(`key:${keyHash}`, id, by, clock.wall());
  await leftToSweep(parts, settleKeys(store, { keyHash, formerKeyHash }));
  return key;
}

/** Has the account switch to the new key. Returns the former key's hash, or KEY_CHANGED when that is not `from`. */
async function switchKey(
  system: ActorSystem<Protocol>,
  id: AccountId,
  input: RotateKey,
): Promise<string | null | typeof KEY_CHANGED> {
  try {
    return (await system.ask(actorRef.account(id), "rotate", input)).formerKeyHash;
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.code === KEY_CHANGED) return KEY_CHANGED;
    throw error;
  }
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

/**
 * Waits for work on claims that the sweep of claims does too. What the caller asked for is done already, so a failure
 * is logged, and the sweep ends the work.
 */
export const leftToSweep = ({ log }: { readonly log: Log }, work: Promise<void>): Promise<void> =>
  work.catch((error) => log("warn", "claims_left_to_sweep", { error: String(error) }));
