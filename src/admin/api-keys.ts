// Makes the secrets of named API keys: a secret is claimed, the account adds or rotates the key, and the claim
// is confirmed. The secret is shown once and stored nowhere; what is allowed is decided by the account
// (actors/account/api-keys.ts). Claims of dead secrets are released before the account forgets them, so that no
// claim is left behind.
//
// crash              state found                             recovery
// after the claim    an unconfirmed claim                    the sweep releases it; nothing else happened
// after the command  a key whose secret was not shown, with  the sweep confirms the claim; a repeat of the
//                    an unconfirmed claim                    command gives the key another secret, which ends
//                                                            the one that was not shown
// after the confirm  the same, with a confirmed claim        a repeat of the command, as above
// answer lost        as after the command                    as after the command
//
// Without a repeat the key stays with a secret that is known to no one: its owner rotates or deletes it.

import type { ApiKeyRow } from "../../actors/account/api-key-list.ts";
import type { AddApiKey, RotateApiKey } from "../../actors/account/api-keys.ts";
import { callingKey } from "../../actors/account/identify.ts";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Clock, Random } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";
import { hashKey } from "../gateway/account/identify.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { newApiKey } from "./api-key.ts";
import type { Minted } from "./transfer-credit.ts";

/** What making secrets needs of a node. */
export interface SecretParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
}

/** A key to add. `command` is the same on every repeat. */
export interface ApiKeyAddition extends Pick<AddApiKey, "settings" | "by" | "byHash"> {
  readonly command: Minted;
}

/** A key to rotate. `command` is the same on every repeat. */
export interface ApiKeyRotation extends Pick<RotateApiKey, "apiKey" | "overlapMs" | "by" | "byHash"> {
  readonly command: Minted;
}

/** A key with its new secret in plain text, which is stored nowhere. */
export interface ApiKeyWithSecret {
  readonly row: ApiKeyRow;
  readonly secret: string;
}

/**
 * Adds a named key to an account. Throws `RefusedError` (what the command `addApiKey` refuses) or
 * `UnavailableError`; after the latter the key may exist, and a repeat with the same command replaces its secret.
 */
export function addApiKey(
  parts: SecretParts,
  account: AccountId,
  { settings, by, byHash, command }: ApiKeyAddition,
): Promise<ApiKeyWithSecret> {
  const { system } = parts;
  return withSecret(parts, account, async (hash) => {
    const input = { id: command.id, settings, by, byHash, hash };
    const { row } = await system.ask(actorRef.account(account), "addApiKey", input, command);
    if (row.hash === hash) return row;
    // An earlier execution added the key with a secret that was never shown. The key may have been rotated since.
    const own = { id: command.id, overlapMs: 0, replacesOwnOnly: true } as const;
    const rotation = { ...own, apiKey: row.id, hash, by, byHash };
    return (await system.ask(actorRef.account(account), "rotateApiKey", rotation)).row;
  });
}

/**
 * Gives a named key another secret; the former one stays valid for `overlapMs`. Throws `RefusedError` (what the
 * command `rotateApiKey` refuses) or `UnavailableError`; after the latter the key may have been rotated, and a
 * repeat with the same command replaces the secret that was not shown.
 */
export function rotateApiKey(
  parts: SecretParts,
  account: AccountId,
  { apiKey, overlapMs, by, byHash, command }: ApiKeyRotation,
): Promise<ApiKeyWithSecret> {
  return withSecret(parts, account, async (hash) => {
    const rotation = { id: command.id, apiKey, hash, overlapMs, by, byHash };
    // The id of the request is not that of the command, because a repeat brings another hash.
    return (await parts.system.ask(actorRef.account(account), "rotateApiKey", rotation)).row;
  });
}

/** Makes a secret and claims it for the command that `give` sends. */
async function withSecret(
  { store, clock, random }: SecretParts,
  account: AccountId,
  give: (hash: string) => Promise<ApiKeyRow>,
): Promise<ApiKeyWithSecret> {
  const secret = newApiKey();
  const hash = hashKey(secret);
  const claim = `key:${hash}`;
  const by = random.id();
  if (!(await store.claim(claim, account, by, clock.wall()))) {
    throw new Error("a secret of 48 random characters is claimed already");
  }
  let row: ApiKeyRow;
  try {
    row = await give(hash);
  } catch (error) {
    // A refusal is final, so the claim will never be used. After any other error the secret may be the key's.
    if (error instanceof RefusedError) await store.release(claim, by);
    throw error;
  }
  // If the command took very long, the sweep may have released the claim. The new one is left to the sweep,
  // because the secret may have ended since.
  if ((await store.findClaim(claim)) === null) await store.claim(claim, account, by, clock.wall());
  else await store.confirm(claim, by);
  return { row, secret };
}

/** Releases the claims of an account's dead secrets, and has the account forget them. Idempotent. */
export async function forgetDeadSecrets(
  { system, store }: Pick<SecretParts, "system" | "store">,
  account: AccountId,
  hashes: readonly string[],
): Promise<void> {
  if (hashes.length === 0) return;
  await releaseOwnClaims(
    store,
    account,
    hashes.map((hash) => `key:${hash}`),
  );
  await system.ask(actorRef.account(account), "forgetSecrets", { hashes });
}

/**
 * Disables all named keys of an account, as its main key with the hash `byHash` does. Returns how many it disabled. It
 * looks again until none is left, because a key that is still valid may make others meanwhile.
 */
export async function disableApiKeys(
  { system }: Pick<SecretParts, "system">,
  account: AccountId,
  byHash: string,
): Promise<number> {
  const to = actorRef.account(account);
  const { profile } = await system.ask(to, "profile", {});
  const by = callingKey(profile, null);
  let disabled = 0;
  for (;;) {
    const enabled = await enabledApiKeys({ system }, account);
    if (enabled.length === 0) return disabled;
    for (const { id: apiKey } of enabled) {
      const input = { by, byHash, apiKey, change: { status: false }, editedFrom: null };
      try {
        await system.ask(to, "changeApiKey", input);
        disabled++;
      } catch (error) {
        // A key that somebody deletes meanwhile is as good as disabled.
        if (!(error instanceof RefusedError && error.refusal.code === "key_not_found")) throw error;
      }
    }
  }
}

/** Returns the named keys of an account that are not disabled, expired ones included. */
export async function enabledApiKeys(
  { system }: Pick<SecretParts, "system">,
  account: AccountId,
): Promise<readonly ApiKeyRow[]> {
  const { keys } = await system.ask(actorRef.account(account), "apiKeys", {});
  return keys.filter(({ status }) => status);
}

/** Releases those of the claims that name this account; another one may have made such a claim since. */
export async function releaseOwnClaims(
  store: Store,
  account: AccountId,
  claims: readonly string[],
): Promise<void> {
  for (const key of claims) {
    const claim = await store.findClaim(key);
    if (claim?.account === account) await store.release(claim.key, claim.by);
  }
}
