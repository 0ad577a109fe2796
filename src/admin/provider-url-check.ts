// Decides whether a key may send to an address. The address is checked before it is stored; `SsrfGuard`
// checks it again at each connection.

import { RefusedError } from "../base/errors.ts";
import type { SsrfGuard } from "../upstream/ssrf-guard.ts";
import { type ListenAddress, pointsAtSelf } from "./self-address-check.ts";

/** By what provider URLs are judged: the SSRF guard, and this service's own addresses. */
export interface ProviderRules {
  readonly guard: SsrfGuard;
  readonly listeners: () => readonly ListenAddress[];
  readonly publicUrls: readonly string[];
}

/**
 * Throws `RefusedError` for an address that is malformed or unknown (`invalid_parameter`), in a private
 * network (`forbidden_provider_address`), or this service itself (`self_referencing_provider`). `field` is
 * the name by which messages call the address. Resolves host names.
 */
export async function checkProvider(
  rules: ProviderRules,
  address: string,
  field: "Provider" | "Config.base_url" = "Provider",
): Promise<void> {
  const checked = await rules.guard.check(address);
  const addresses = checked.ok ? checked.addresses : literal(address);
  const own = { publicUrls: rules.publicUrls, listeners: rules.listeners() };
  if (URL.canParse(address) && pointsAtSelf(new URL(address), addresses, own)) {
    throw new RefusedError({
      code: "self_referencing_provider",
      message: `${field} points at this service itself. Give the address of the upstream provider.`,
    });
  }
  if (checked.ok) return;
  if (checked.kind !== "address") {
    throw new RefusedError({ code: "invalid_parameter", message: `"${field}": ${checked.reason}.` });
  }
  throw new RefusedError({
    code: "forbidden_provider_address",
    message: `${field} is refused: ${checked.reason}. A private address must be listed in PROVIDER_ALLOW_CIDRS, for example 127.0.0.0/8 for a model on this machine.`,
  });
}

const literal = (address: string): string[] => (URL.canParse(address) ? [new URL(address).hostname] : []);
