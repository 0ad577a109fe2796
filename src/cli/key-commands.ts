// `rotate-root` and `reencrypt`: replace keys, while no server runs or through the nodes of a cluster. A new
// key is printed once and not stored in plain text.

import { ROOT } from "../../actors/ids.ts";
import { resealAll } from "../admin/reencrypt-secrets.ts";
import { rotateKey } from "../admin/rotate-key.ts";
import { secretsKey } from "../node/secrets-key.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { createSecretVault, UnknownSecretsKey } from "../upstream/secret-vault.ts";
import { withActors } from "./actor-access.ts";
import { orRefuse } from "./user-error.ts";

/**
 * Gives Root another API key and prints it. Throws BadSetting or StoreLockedError when the actors cannot be
 * reached.
 */
export async function rotateRoot(settings: Settings): Promise<void> {
  const key = await orRefuse(() => withActors(settings, (parts) => rotateKey(parts, ROOT)));
  console.log(`Root's API key, shown only now: ${key}`);
  console.log("The old one is not valid any more.");
}

/**
 * Encrypts all provider secrets with the current SECRETS_KEY and prints how many. Throws BadSetting when a
 * secret was sealed with an unknown key.
 */
export async function reencrypt(settings: Settings): Promise<void> {
  const vault = createSecretVault(secretsKey(settings), settings.secretsKeyOld);
  const { owners, keys, resealed } = await orRefuse(() =>
    withActors(settings, (parts) => resealAll({ ...parts, vault })),
  ).catch((error) => {
    throw error instanceof UnknownSecretsKey ? new BadSetting(error.message) : error;
  });
  console.log(
    `${resealed} of ${keys} provider secrets of ${owners} Owners are sealed anew, all with key ${vault.keyId}.`,
  );
  if (settings.secretsKeyOld !== null) console.log("SECRETS_KEY_OLD is not needed any more.");
}
