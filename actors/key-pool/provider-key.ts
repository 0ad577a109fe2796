// One upstream key: what an Owner sets of it, and what becomes of it when he changes some of that.

import type { ProviderKeyId } from "../ids.ts";

/** A secret encrypted at rest, with the id of the key that opens it. */
export interface SealedSecret {
  readonly keyId: string;
  /** base64 of nonce, ciphertext, tag. */
  readonly box: string;
}

/** A secret with all of it that is ever shown: its first 3 and last 4 characters. */
export interface MaskedSecret {
  readonly secret: SealedSecret;
  readonly mask: string;
}

export interface ProviderKey {
  readonly id: ProviderKeyId;
  readonly name: string;
  readonly level: number;
  /** Upstream base URL. */
  readonly provider: string;
  readonly secret: SealedSecret;
  /** First 3 and last 4 characters: all that is ever shown. */
  readonly mask: string;
  /** `private_key` of a service account, which is no part of `config`; absent: none. */
  readonly privateKey?: MaskedSecret | null;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an Owner changes of a key: what is absent stays. A secret never comes without its mask. */
export interface KeyChange
  extends Partial<
    Pick<ProviderKey, "name" | "level" | "provider" | "status" | "secret" | "mask" | "privateKey">
  > {
  /** Merged field by field; null deletes a field. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/** The key after a change at `now` (wall ms). `updatedAt` names this state of it alone, however fast changes follow. */
export function applyKeyChange(key: ProviderKey, change: KeyChange, now: number): ProviderKey {
  const config = { ...key.config, ...change.config };
  const kept = Object.entries(config).filter(([, value]) => value !== null);
  const updatedAt = Math.max(now, key.updatedAt + 1);
  return { ...key, ...change, config: Object.fromEntries(kept), updatedAt };
}

/** The key with the secret that lay in the box `was`, which is the private key's or else the SecretKey's, in another. */
export function resealed(key: ProviderKey, was: string | undefined, secret: SealedSecret): ProviderKey {
  const { privateKey } = key;
  return was !== undefined && privateKey?.secret.box === was
    ? { ...key, privateKey: { ...privateKey, secret } }
    : { ...key, secret };
}
