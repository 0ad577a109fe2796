// Adding a provider key: the address is checked, the secret sealed, the pool told; then LEVEL_MAPPER is completed with
// the provider's known model prefixes. The key counts once the pool has it; a crash before the completion only leaves
// prefixes unmapped, which the answer of a later add, or the Owner, mends.

import { providerAt } from "../../actors/catalogue.ts";
import type { AccountId, KeyId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { ActorSystem } from "../runtime/system.ts";
import { maskOf, type Vault } from "../upstream/vault.ts";
import { checkProvider, type ProviderRules } from "./check-provider.ts";
import { tellLevels } from "./levels.ts";

export interface NewKey {
  readonly owner: AccountId;
  readonly name: string;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface AddedKey {
  readonly key: ProviderKey;
  /** What the completion added; empty for a host whose models are not known. */
  readonly levelMapper: Readonly<Record<string, number>>;
}

export interface AddKeyParts extends ProviderRules {
  readonly system: ActorSystem<Protocol>;
  readonly vault: Vault;
  readonly nextId: () => Promise<number>;
}

export function addKeys(parts: AddKeyParts): (key: NewKey) => Promise<AddedKey> {
  const { system, vault, nextId } = parts;

  return async ({ owner, secret, ...rest }) => {
    await checkProvider(parts, rest.provider);
    const id = (await nextId()) as KeyId;
    const key = await system.ask(to.keyPool(owner), "add", {
      key: { id, ...rest, secret: vault.seal(secret), mask: maskOf(secret) },
    });
    await tellLevels(system, owner, [key.level]);
    const patterns = (providerAt(new URL(rest.provider).hostname)?.prefixes ?? []).map(
      (prefix) => `${prefix}*`,
    );
    const levelMapper =
      patterns.length === 0
        ? {}
        : await system.ask(to.owner(owner), "completeLevels", { patterns, level: rest.level, by: owner });
    return { key, levelMapper };
  };
}
