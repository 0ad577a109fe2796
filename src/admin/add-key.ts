// Adding a provider key: the address is checked, the secret sealed, the pool told; then LEVEL_MAPPER is completed with
// the provider's known model prefixes. The key counts once the pool has it; a crash before the completion only leaves
// prefixes unmapped, which the answer of a later add, or the Owner, mends.

import { providerAt } from "../../actors/catalogue.ts";
import type { AccountId, KeyId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import type { Guard } from "../upstream/guard.ts";
import { maskOf, type Vault } from "../upstream/vault.ts";
import { type Listener, pointsAtSelf } from "./own-address.ts";

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

export function addKeys(parts: {
  system: ActorSystem<Protocol>;
  guard: Guard;
  vault: Vault;
  nextId: () => Promise<number>;
  listeners: () => readonly Listener[];
  publicUrls: readonly string[];
}): (key: NewKey) => Promise<AddedKey> {
  const { system, guard, vault, nextId } = parts;

  return async ({ owner, secret, ...rest }) => {
    await checkProvider(rest.provider);
    const id = (await nextId()) as KeyId;
    const key = await system.ask(to.keyPool(owner), "add", {
      key: { id, ...rest, secret: vault.seal(secret), mask: maskOf(secret) },
    });
    const patterns = (providerAt(new URL(rest.provider).hostname)?.prefixes ?? []).map(
      (prefix) => `${prefix}*`,
    );
    const levelMapper =
      patterns.length === 0
        ? {}
        : await system.ask(to.owner(owner), "completeLevels", { patterns, level: rest.level, by: owner });
    return { key, levelMapper };
  };

  async function checkProvider(provider: string): Promise<void> {
    const checked = await guard.check(provider);
    const addresses = checked.ok ? checked.addresses : literal(provider);
    if (
      URL.canParse(provider) &&
      pointsAtSelf(new URL(provider), addresses, { ...parts, listeners: parts.listeners() })
    ) {
      throw new Refused({
        code: "self_referencing_provider",
        message: "Provider points at this service itself. Give the address of the upstream provider.",
      });
    }
    if (checked.ok) return;
    if (checked.kind !== "address") {
      throw new Refused({ code: "invalid_parameter", message: `"Provider": ${checked.reason}.` });
    }
    throw new Refused({
      code: "forbidden_provider_address",
      message: `Provider is refused: ${checked.reason}. A private address must be listed in PROVIDER_ALLOW_CIDRS, for example 127.0.0.0/8 for a model on this machine.`,
    });
  }
}

const literal = (provider: string): string[] => (URL.canParse(provider) ? [new URL(provider).hostname] : []);
