// Re-encrypts provider secrets, private keys and mail passwords with the current SECRETS_KEY, Owner by Owner.
// Decrypted secrets must not leave this file. The work may be stopped and repeated at any time: secrets that
// are already sealed with the current key are skipped.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { STALE_CONFIG } from "../../actors/owner/owner.ts";
import { RefusedError } from "../base/errors.ts";
import { refOf } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import type { SecretVault } from "../upstream/secret-vault.ts";

/** How many Owners and secrets were visited, and how many secrets were re-encrypted. */
export interface Resealed {
  readonly owners: number;
  /** All secrets that were found, whether they needed re-encryption or not. */
  readonly keys: number;
  readonly resealed: number;
}

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly vault: SecretVault;
}

const PAGE = 500;

/**
 * Re-encrypts all secrets. Throws when one was sealed with a key that is not available; earlier Owners are
 * done then.
 */
export async function resealAll(parts: Parts): Promise<Resealed> {
  const [pools, mail] = [await resealPools(parts), await resealMail(parts)];
  return { ...pools, keys: pools.keys + mail.length, resealed: pools.resealed + mail.filter(Boolean).length };
}

/** Returns one entry per mail password: whether it needed re-encryption. */
async function resealMail(parts: Parts): Promise<boolean[]> {
  const { store } = parts;
  const done: boolean[] = [];
  for (let after = ""; ; ) {
    const names = await store.listActors("owner/", after, PAGE);
    for (const name of names) {
      const isOld = await resealMailOf(parts, Number(refOf(name).id) as AccountId);
      if (isOld !== null) done.push(isOld);
    }
    if (names.length < PAGE) return done;
    after = names.at(-1)!;
  }
}

/** Returns whether the mail password of an Owner needed re-encryption; null when there is none. */
async function resealMailOf({ system, vault }: Parts, by: AccountId): Promise<boolean | null> {
  for (;;) {
    const { emailPass, version } = await system.ask(actorRef.owner(by), "read", {});
    if (emailPass === null) return null;
    if (emailPass.keyId === vault.keyId) return false;
    const change = { emailPass: vault.seal(vault.open(emailPass)) };
    try {
      await system.ask(actorRef.owner(by), "configure", { change, by, version });
      return true;
    } catch (error) {
      // The Owner may have set another password meanwhile, so it is read again.
      if (!(error instanceof RefusedError) || error.refusal.code !== STALE_CONFIG) throw error;
    }
  }
}

async function resealPools({ system, store, vault }: Parts): Promise<Resealed> {
  let owners = 0;
  let keys = 0;
  let resealed = 0;
  for (let after = ""; ; ) {
    const names = await store.listActors("key-pool/", after, PAGE);
    for (const name of names) {
      const pool = actorRef.keyPool(Number(refOf(name).id) as AccountId);
      const found = await system.ask(pool, "list", {});
      const kept = found.flatMap(({ id, secret, privateKey }) =>
        [secret, ...(privateKey ? [privateKey.secret] : [])].map((sealed) => ({ id, sealed })),
      );
      const secrets = kept
        .filter(({ sealed }) => sealed.keyId !== vault.keyId)
        .map(({ id, sealed }) => ({ id, was: sealed.box, secret: vault.seal(vault.open(sealed)) }));
      owners++;
      keys += kept.length;
      if (secrets.length > 0) resealed += (await system.ask(pool, "reseal", { secrets })).resealed;
    }
    if (names.length < PAGE) return { owners, keys, resealed };
    after = names.at(-1)!;
  }
}
