// Does a provider URL point at this service itself? By its own listeners and by the public addresses it was told.
// A request sent there would come back to itself until everything is used up.

import { networkInterfaces } from "node:os";

export interface Listener {
  readonly host: string;
  readonly port: number;
}

/** `addresses`: what the URL's host resolved to. */
export function pointsAtSelf(
  url: URL,
  addresses: readonly string[],
  own: { readonly listeners: readonly Listener[]; readonly publicUrls: readonly string[] },
): boolean {
  const port = portOf(url);
  const isPublic = own.publicUrls
    .map((text) => new URL(text))
    .some((one) => one.hostname === url.hostname && portOf(one) === port);
  if (isPublic) return true;
  const local = localAddresses();
  return own.listeners.some(
    (listener) =>
      listener.port === port && addresses.some((address) => local.has(address) || address === listener.host),
  );
}

const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

/** Every address of this machine; all of 127.0.0.0/8 reaches the same listeners, but only 127.0.0.1 is bound by name. */
function localAddresses(): Set<string> {
  const found = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const addresses = found.map(({ address }) => (address.includes(":") ? `[${address}]` : address));
  return new Set([...addresses, "127.0.0.1", "[::1]", "0.0.0.0", "[::]"]);
}
