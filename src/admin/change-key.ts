// Changing and deleting a provider key: what comes of a change is checked as a whole, a new address as a first one is, new
// secrets are sealed, the pool decides, and the Levels that lost or won the key know it before anybody is answered.

import { codePoints } from "../../actors/code-points.ts";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { KeyChange, ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { applyKeyChange } from "../../actors/key-pool/provider-key.ts";
import { RefusedError } from "../base/errors.ts";
import type { KeyParts } from "./add-key.ts";
import { checkWhole } from "./key-config.ts";
import { openedSecrets, SECRET_LEAST, sealedPrivateKey, sealedSecret, signs } from "./key-secrets.ts";
import { notifyLevels, wakeKey } from "./level-membership.ts";
import { checkProvider } from "./provider-url-check.ts";

export interface KeyEdit {
  readonly owner: AccountId;
  readonly id: ProviderKeyId;
  readonly change: Omit<KeyChange, "secret" | "mask" | "privateKey">;
  /** A new one, or the mask of the one that stays; undefined stays too. */
  readonly secret?: string | undefined;
  /** The same; null takes it away. */
  readonly privateKey?: string | null | undefined;
  /** Ends its sleep. */
  readonly wake?: boolean;
}

export interface EditedKey {
  readonly before: ProviderKey;
  readonly key: ProviderKey;
}

export interface KeyChanges {
  /** The key as it was and as it now is. Refused with `key_not_found` before anything else is looked at. */
  edit(edit: KeyEdit): Promise<EditedKey>;
  /** The key as it was. What it is serving ends as it would have; no request is sent with it any more. */
  remove(owner: AccountId, id: ProviderKeyId): Promise<ProviderKey>;
}

export function changeKeys(parts: KeyParts): KeyChanges {
  const { system, vault, upstream } = parts;

  return {
    async edit(edit) {
      const { owner } = edit;
      for (;;) {
        const before = await system.ask(actorRef.keyPool(owner), "read", { id: edit.id });
        const change = { ...edit.change, ...(await newSecrets(before, edit)) };
        const key = Object.keys(change).length === 0 ? before : await apply(owner, before, change);
        // Somebody else changed it meanwhile: what was judged is not what would come of it.
        if (key === null) continue;
        if (edit.wake || isRenewed(before, key)) await wakeKey(system, owner, key);
        return { before, key };
      }
    },
    async remove(owner, id) {
      const key = await system.ask(actorRef.keyPool(owner), "remove", { id });
      await notifyLevels(system, owner, [key.level]);
      return key;
    },
  };

  /** The key as it now is; null: it is not any more what the change was judged by. */
  async function apply(
    owner: AccountId,
    before: ProviderKey,
    change: KeyChange,
  ): Promise<ProviderKey | null> {
    const { provider, config } = change;
    if (provider !== undefined) await checkProvider(parts, provider);
    const { secret, privateKey } = change;
    if ([provider, config, secret, privateKey].some((one) => one !== undefined)) {
      await mustFit(before, change);
    }
    if (typeof config?.base_url === "string") await checkProvider(parts, config.base_url, "Config.base_url");
    const input = { id: before.id, change, asOf: before.updatedAt };
    const done = await system.ask(actorRef.keyPool(owner), "update", input);
    if (done === null) return null;
    await notifyLevels(system, owner, [done.formerLevel, done.key.level]);
    return done.key;
  }

  async function mustFit(before: ProviderKey, change: KeyChange): Promise<void> {
    const key = applyKeyChange(before, change, 0);
    const secretSigns = () => signs(openedSecrets(vault, { secret: key.secret })?.secret ?? "");
    const hasPrivateKey = (key.privateKey ?? null) !== null;
    await checkWhole(upstream, { provider: key.provider, config: key.config, hasPrivateKey, secretSigns });
  }

  async function newSecrets(
    { mask, privateKey }: ProviderKey,
    given: Pick<KeyEdit, "secret" | "privateKey">,
  ): Promise<Pick<KeyChange, "secret" | "mask" | "privateKey">> {
    const { secret, privateKey: pem } = given;
    const sameKey = pem === undefined || pem === (privateKey ?? null)?.mask;
    return {
      ...(secret === undefined || secret === mask ? {} : sealedSecret(vault, longEnough(secret, mask))),
      ...(sameKey ? {} : { privateKey: pem === null ? null : await sealedPrivateKey(vault, pem) }),
    };
  }
}

function longEnough(secret: string, mask: string): string {
  if (codePoints(secret) >= SECRET_LEAST) return secret;
  throw new RefusedError({
    code: "invalid_parameter",
    message: `"SecretKey": must have at least ${SECRET_LEAST} characters, or be ${mask} to stay as it is.`,
  });
}

/**
 * Other secrets or settings: how the key fared with the former ones says nothing any more. Its Level sees most of that by
 * itself, but not a secret of the same mask.
 */
const isRenewed = (was: ProviderKey, is: ProviderKey): boolean =>
  was.secret.box !== is.secret.box ||
  was.privateKey?.secret.box !== is.privateKey?.secret.box ||
  JSON.stringify(was.config) !== JSON.stringify(is.config);
