// May a key send to this provider? Its address is checked before it is kept, and by the guard again at each connection.

import { Refused } from "../runtime/system.ts";
import type { Guard } from "../upstream/guard.ts";
import { type Listener, pointsAtSelf } from "./own-address.ts";

export interface ProviderRules {
  readonly guard: Guard;
  readonly listeners: () => readonly Listener[];
  readonly publicUrls: readonly string[];
}

/** Refuses a provider that is malformed, unknown, in a private network, or this service itself, saying what to do. */
export async function checkProvider(rules: ProviderRules, provider: string): Promise<void> {
  const checked = await rules.guard.check(provider);
  const addresses = checked.ok ? checked.addresses : literal(provider);
  const own = { publicUrls: rules.publicUrls, listeners: rules.listeners() };
  if (URL.canParse(provider) && pointsAtSelf(new URL(provider), addresses, own)) {
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

const literal = (provider: string): string[] => (URL.canParse(provider) ? [new URL(provider).hostname] : []);
