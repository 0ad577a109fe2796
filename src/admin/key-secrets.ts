// Validates, seals, masks and opens the secrets of provider keys. Messages must not contain a secret, and no
// secret is kept here.

import type { KeyChange, MaskedSecret, ProviderKey } from "../../actors/key-pool/provider-key.ts";
import { RefusedError } from "../base/errors.ts";
import { maskOf, type SecretVault, UnknownSecretsKey } from "../upstream/secret-vault.ts";
import { plainPem, privateKeyOf } from "../upstream/service-account-token.ts";

/**
 * Minimum length of a secret. Every provider's secret is longer than a mask, so the two cannot be confused.
 */
export const SECRET_MIN = 20;

/** Seals a secret and makes its mask. */
export const sealedSecret = (
  vault: SecretVault,
  secret: string,
): Required<Pick<KeyChange, "secret" | "mask">> => ({
  secret: vault.seal(secret),
  // A private key given as secret may end with a line break, which must not show in the mask.
  mask: maskOf(secret.trim()),
});

/**
 * Seals a PEM private key. Throws `RefusedError` with `invalid_parameter` for text that is not an RSA private
 * key of a service account.
 */
export async function sealedPrivateKey(vault: SecretVault, given: string): Promise<MaskedSecret> {
  if (!(await signs(given))) {
    throw new RefusedError({
      code: "invalid_parameter",
      message:
        '"Config.private_key": must be the private_key of a service account as its file has it: an RSA key in PEM, from -----BEGIN PRIVATE KEY----- on.',
    });
  }
  const text = plainPem(given);
  return { secret: vault.seal(text), mask: maskOf(text) };
}

/** Whether a text is a private key that can sign for a service account. */
export const signs = async (text: string): Promise<boolean> => (await privateKeyOf(text)) !== null;

/** Decrypts a key's secrets. Returns null when they were sealed with a SECRETS_KEY that is not available. */
export function openedSecrets(
  vault: SecretVault,
  key: Pick<ProviderKey, "secret" | "privateKey">,
): { readonly secret: string; readonly privateKey: string | null } | null {
  try {
    const sealed = key.privateKey?.secret;
    return { secret: vault.open(key.secret), privateKey: sealed === undefined ? null : vault.open(sealed) };
  } catch (error) {
    if (error instanceof UnknownSecretsKey) return null;
    throw error;
  }
}
