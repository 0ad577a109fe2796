// Changes and deletes provider keys. The result of a change is checked as a whole, a new address is checked
// as for a new key, and new secrets are sealed; the key pool decides. The Levels that lost or gained the key
// know it before the caller gets an answer.

import { codePoints } from "../../actors/code-points.ts";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { KeyChange, ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { applyKeyChange } from "../../actors/key-pool/provider-key.ts";
import { RefusedError } from "../base/errors.ts";
import type { KeyParts } from "./add-key.ts";
import { checkWhole } from "./key-config.ts";
import { openedSecrets, SECRET_MIN, sealedPrivateKey, sealedSecret, signs } from "./key-secrets.ts";
import { notifyLevels, wakeKey } from "./level-membership.ts";
import { checkProvider } from "./provider-url-check.ts";

/** A change of one key. Secrets are in plain text. */
export interface KeyEdit {
  readonly owner: AccountId;
  readonly id: ProviderKeyId;
  readonly change: Omit<KeyChange, "secret" | "mask" | "privateKey">;
  /** A new secret; undefined or the mask of the current one keeps it. */
  readonly secret?: string | undefined;
  /** Like `secret`; null removes the private key. */
  readonly privateKey?: string | null | undefined;
  /** True ends the key's sleep. */
  readonly wake?: boolean;
}

/** A key before and after a change. */
export interface EditedKey {
  readonly before: ProviderKey;
  readonly key: ProviderKey;
}

/** Edits and removes provider keys. */
export interface KeyChanges {
  /**
   * Changes a key and returns it before and after. Throws `RefusedError`: `key_not_found` before anything
   * else is checked, and what `addKeys` throws.
   */
  edit(edit: KeyEdit): Promise<EditedKey>;
  /**
   * Removes a key and returns its last state. Requests in flight with it end normally; no new request uses
   * it.
   */
  remove(owner: AccountId, id: ProviderKeyId): Promise<ProviderKey>;
}

/** Creates the operations that edit and remove keys. They write to the key pool and report to the Levels. */
export function changeKeys(parts: KeyParts): KeyChanges {
  const { system, vault, upstream } = parts;

  return {
    async edit(edit) {
      const { owner } = edit;
      for (;;) {
        const before = await system.ask(actorRef.keyPool(owner), "read", { id: edit.id });
        const change = { ...edit.change, ...(await newSecrets(before, edit)) };
        const key = Object.keys(change).length === 0 ? before : await apply(owner, before, change);
        // The key was changed concurrently, so the checks were made on an outdated state: start again.
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

  /** Applies a checked change. Returns null when the key has changed since `before` was read. */
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
  if (codePoints(secret) >= SECRET_MIN) return secret;
  throw new RefusedError({
    code: "invalid_parameter",
    message: `"SecretKey": must have at least ${SECRET_MIN} characters, or be ${mask} to stay as it is.`,
  });
}

/**
 * Whether secrets or settings differ, so that the key's former failures say nothing about it any more. Its
 * Level detects most such changes itself, but not a new secret with the same mask.
 */
const isRenewed = (was: ProviderKey, is: ProviderKey): boolean =>
  was.secret.box !== is.secret.box ||
  was.privateKey?.secret.box !== is.privateKey?.secret.box ||
  JSON.stringify(was.config) !== JSON.stringify(is.config);
