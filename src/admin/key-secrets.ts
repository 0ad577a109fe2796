// The secrets of a provider key on their way in and out of their boxes: what may be one, how it is sealed and masked, and
// opened for one call. Nothing here repeats a secret in what it says, and nothing keeps one.

import type { KeyChange, MaskedSecret, ProviderKey } from "../../actors/key-pool/provider-key.ts";
import { RefusedError } from "../base/errors.ts";
import { maskOf, type SecretVault, UnknownSecretsKey } from "../upstream/secret-vault.ts";
import { plainPem, privateKeyOf } from "../upstream/service-account-token.ts";

/** No provider's secret is shorter; a mask is, so that one is never taken for the other. */
export const SECRET_LEAST = 20;

export const sealedSecret = (
  vault: SecretVault,
  secret: string,
): Required<Pick<KeyChange, "secret" | "mask">> => ({
  secret: vault.seal(secret),
  // A private key in its place may end with a line break, which is no part of what is to be seen.
  mask: maskOf(secret.trim()),
});

/** Refuses what is no private key that a cloud_b provider takes. */
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

/** Null: they were sealed with a SECRETS_KEY that is not at hand. */
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
