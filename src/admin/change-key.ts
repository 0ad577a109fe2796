// Changing and deleting a provider key: a new address is checked as a first one is, a new secret is sealed, the pool
// decides, and the Levels that lost or won the key know it before anybody is answered.

import type { AccountId, KeyId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import type { KeyChange, ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import { maskOf, type Vault } from "../upstream/vault.ts";
import { checkProvider, type ProviderRules } from "./check-provider.ts";
import { tellLevels } from "./levels.ts";

/** No provider's secret is shorter; a mask is, so that one is never taken for the other. */
export const SECRET_LEAST = 20;

export interface KeyEdit {
  readonly owner: AccountId;
  readonly id: KeyId;
  readonly change: Omit<KeyChange, "secret" | "mask">;
  /** A new one, or the mask of the one that stays; undefined stays too. */
  readonly secret: string | undefined;
}

export interface ChangeKeyParts extends ProviderRules {
  readonly system: ActorSystem<Protocol>;
  readonly vault: Vault;
}

export interface KeyChanges {
  /** The key as it now is. Refused with `key_not_found` before anything else is looked at. */
  edit(edit: KeyEdit): Promise<ProviderKey>;
  /** The key as it was. What it is serving ends as it would have; no request is sent with it any more. */
  remove(owner: AccountId, id: KeyId): Promise<ProviderKey>;
}

export function changeKeys(parts: ChangeKeyParts): KeyChanges {
  const { system, vault } = parts;

  return {
    async edit({ owner, id, change, secret }) {
      const before = await system.ask(to.keyPool(owner), "read", { id });
      const resealed = sealing(before, secret);
      if (change.provider !== undefined) await checkProvider(parts, change.provider);
      const input = { id, change: { ...change, ...resealed } };
      const { key, formerLevel } = await system.ask(to.keyPool(owner), "update", input);
      await tellLevels(system, owner, [formerLevel, key.level]);
      return key;
    },
    async remove(owner, id) {
      const key = await system.ask(to.keyPool(owner), "remove", { id });
      await tellLevels(system, owner, [key.level]);
      return key;
    },
  };

  function sealing(key: ProviderKey, secret: string | undefined): Pick<KeyChange, "secret" | "mask"> {
    if (secret === undefined || secret === key.mask) return {};
    if (secret.length < SECRET_LEAST) {
      throw new Refused({
        code: "invalid_parameter",
        message: `"SecretKey": must have at least ${SECRET_LEAST} characters, or be ${key.mask} to stay as it is.`,
      });
    }
    return { secret: vault.seal(secret), mask: maskOf(secret) };
  }
}
