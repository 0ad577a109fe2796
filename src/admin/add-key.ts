// Adds a provider key: checks it as a whole and its addresses, seals its secrets, stores it in the key pool,
// and then completes LEVEL_MAPPER with the provider's known model prefixes. The key exists once the pool has
// it. A crash before the completion only leaves prefixes unmapped; adding another key or an edit by the Owner
// repairs that.

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

/** A provider key to add, with its secrets in plain text. */
export interface NewKey {
  readonly owner: AccountId;
  readonly name: string;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  /** PEM private key of a service account; null when there is none. */
  readonly privateKey: string | null;
  readonly status: boolean;
  readonly config: Readonly<Record<string, unknown>>;
}

/** The stored key, and the effect on the Owner's LEVEL_MAPPER. */
export interface AddedKey {
  readonly key: ProviderKey;
  /** The LEVEL_MAPPER entries that were added; empty when the models of the host are not known. */
  readonly levelMapper: Readonly<Record<string, number>>;
}

/** What checking and changing keys needs of a node. */
export interface KeyParts extends ProviderRules {
  readonly system: ActorSystem<Protocol>;
  readonly vault: SecretVault;
  readonly upstream: Pick<Upstream, "address">;
}

/** Like `KeyParts`, with the counter of key ids. */
export interface AddKeyParts extends KeyParts {
  readonly nextId: () => Promise<number>;
}

/**
 * Returns a function that checks, seals and stores a new key, and reports it to its Level before it resolves.
 * It throws `RefusedError`: `invalid_parameter`, `missing_parameter`, `forbidden_provider_address`,
 * `self_referencing_provider`, or what the key pool and the owner refuse.
 */
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

/**
 * Model prefixes that belong to this provider alone. A cloud serves whatever was deployed there, so it has
 * none.
 */
const prefixesOf = ({ config, provider }: ProviderKey): readonly string[] =>
  typeOf(config) === "standard" ? (findProvider(new URL(provider).hostname)?.prefixes ?? []) : [];
