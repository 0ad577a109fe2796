// Adding a provider key: it is checked as a whole, its addresses too, its secrets sealed, the pool told; then LEVEL_MAPPER
// is completed with the provider's known model prefixes. The key counts once the pool has it; a crash before the
// completion only leaves prefixes unmapped, which the answer of a later add, or the Owner, mends.

import { findProvider } from "../../actors/catalog/catalog.ts";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { SecretVault } from "../upstream/secret-vault.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { checkWhole, typeOf } from "./key-config.ts";
import { sealedPrivateKey, sealedSecret, signs } from "./key-secrets.ts";
import { notifyLevels } from "./level-membership.ts";
import { checkProvider, type ProviderRules } from "./provider-url-check.ts";

export interface NewKey {
  readonly owner: AccountId;
  readonly name: string;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  /** Of a service account; null: none. */
  readonly privateKey: string | null;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

export interface AddedKey {
  readonly key: ProviderKey;
  /** What the completion added; empty for a host whose models are not known. */
  readonly levelMapper: Readonly<Record<string, number>>;
}

export interface KeyParts extends ProviderRules {
  readonly system: ActorSystem<Protocol>;
  readonly vault: SecretVault;
  readonly upstream: Pick<Upstream, "address">;
}

export interface AddKeyParts extends KeyParts {
  readonly nextId: () => Promise<number>;
}

export function addKeys(parts: AddKeyParts): (key: NewKey) => Promise<AddedKey> {
  const { system, vault, upstream, nextId } = parts;

  return async ({ owner, secret, privateKey: pem, ...rest }) => {
    const { provider, config, level } = rest;
    await checkProvider(parts, provider);
    const privateKey = pem === null ? null : await sealedPrivateKey(vault, pem);
    const secretSigns = () => signs(secret);
    await checkWhole(upstream, { provider, config, hasPrivateKey: privateKey !== null, secretSigns });
    if (typeof config.base_url === "string") await checkProvider(parts, config.base_url, "Config.base_url");
    const id = (await nextId()) as ProviderKeyId;
    const key = await system.ask(actorRef.keyPool(owner), "add", {
      key: { id, ...rest, ...sealedSecret(vault, secret), ...(privateKey === null ? {} : { privateKey }) },
    });
    await notifyLevels(system, owner, [level]);
    const patterns = prefixesOf(key).map((prefix) => `${prefix}*`);
    const levelMapper =
      patterns.length === 0
        ? {}
        : await system.ask(actorRef.owner(owner), "completeLevels", { patterns, level, by: owner });
    return { key, levelMapper };
  };
}

/** What the provider alone has; a cloud has whatever was deployed there, of which nothing is guessed. */
const prefixesOf = ({ config, provider }: ProviderKey): readonly string[] =>
  typeOf(config) === "standard" ? (findProvider(new URL(provider).hostname)?.prefixes ?? []) : [];
