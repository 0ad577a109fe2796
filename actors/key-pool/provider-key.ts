// One provider key: its data, and how a change by its Owner is applied. It must never hold a plain secret.

import type { ProviderKeyId } from "../ids.ts";

/** A secret encrypted at rest, with the id of the key that decrypts it. */
export interface SealedSecret {
  readonly keyId: string;
  /** Base64 of nonce, ciphertext and tag. */
  readonly box: string;
}

/** A sealed secret with its mask, the only part that is ever shown: its first 3 and last 4 characters. */
export interface MaskedSecret {
  readonly secret: SealedSecret;
  readonly mask: string;
}

/** A provider key as its Owner configured it. Times are wall-clock ms. */
export interface ProviderKey {
  readonly id: ProviderKeyId;
  readonly name: string;
  readonly level: number;
  /** Upstream base URL. */
  readonly provider: string;
  readonly secret: SealedSecret;
  /** First 3 and last 4 characters of the secret, the only part that is ever shown. */
  readonly mask: string;
  /**
   * `private_key` of a service account, which is kept apart from `config`; null or absent if there is none.
   */
  readonly privateKey?: MaskedSecret | null;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A change of a key; absent fields stay. A secret always comes with its mask. */
export interface KeyChange
  extends Partial<
    Pick<ProviderKey, "name" | "level" | "provider" | "status" | "secret" | "mask" | "privateKey">
  > {
  /** Merged field by field; a null value deletes a field. */
  readonly config?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the key after a change at `now` (wall-clock ms). `updatedAt` always grows, so that it identifies
 * one state of the key even if changes follow within a millisecond.
 */
export function applyKeyChange(key: ProviderKey, change: KeyChange, now: number): ProviderKey {
  const config = { ...key.config, ...change.config };
  const kept = Object.entries(config).filter(([, value]) => value !== null);
  const updatedAt = Math.max(now, key.updatedAt + 1);
  return { ...key, ...change, config: Object.fromEntries(kept), updatedAt };
}

/**
 * Returns the key with `secret` in place of the private key if that has the box `was`, otherwise of the
 * SecretKey.
 */
export function resealed(key: ProviderKey, was: string | undefined, secret: SealedSecret): ProviderKey {
  const { privateKey } = key;
  return was !== undefined && privateKey?.secret.box === was
    ? { ...key, privateKey: { ...privateKey, secret } }
    : { ...key, secret };
}
