// `rotate-root` and `reencrypt`: replace keys, while no server runs or through the nodes of a cluster. A new
// key is printed once and not stored in plain text.

import { ROOT } from "../../actors/ids.ts";
import { disableApiKeys, enabledApiKeys } from "../admin/api-keys.ts";
import { resealAll } from "../admin/reencrypt-secrets.ts";
import { rotateKey } from "../admin/rotate-key.ts";
import { hashKey } from "../gateway/account/identify.ts";
import { secretsKey } from "../node/secrets-key.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { createSecretVault, UnknownSecretsKey } from "../upstream/secret-vault.ts";
import { withActors } from "./actor-access.ts";
import { orRefuse } from "./user-error.ts";

/**
 * Gives Root another API key and prints it, with how many named keys Root has: whoever had Root's key may have made
 * them. With `disablesKeys` it disables those. Throws BadSetting or StoreLockedError when the actors cannot be reached.
 */
export async function rotateRoot(settings: Settings, disablesKeys: boolean): Promise<void> {
  await orRefuse(() =>
    withActors(settings, async (parts) => {
      const key = await rotateKey(parts, ROOT);
      // Printed at once, because what follows may fail, and the key is stored nowhere.
      console.log(`Root's API key, shown only now: ${key}`);
      console.log("The old one is not valid any more.");
      if (disablesKeys) {
        console.log(
          `Named keys of Root that were disabled: ${await disableApiKeys(parts, ROOT, hashKey(key))}.`,
        );
        return;
      }
      const left = (await enabledApiKeys(parts, ROOT)).length;
      if (left === 0) return;
      console.log(
        `Root also has named keys, which stay valid: ${left}. Whoever had the old key may know their secrets:`,
      );
      console.log("rotate-root --disable-keys gives another key again and disables them all.");
    }),
  );
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
