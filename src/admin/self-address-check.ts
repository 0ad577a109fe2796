// Does a provider URL point at this service itself? By its own listeners and by the public addresses it was told.
// A request sent there would come back to itself until everything is used up.

import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** `addresses`: what the URL's host resolved to, or the host itself where nobody could say. */
export function pointsAtSelf(
  url: URL,
  addresses: readonly string[],
  own: { readonly listeners: readonly ListenAddress[]; readonly publicUrls: readonly string[] },
): boolean {
  const port = portOf(url);
  const isPublic = own.publicUrls
    .map((text) => new URL(text))
    .some((one) => bare(one.hostname) === bare(url.hostname) && portOf(one) === port);
  if (isPublic) return true;
  const local = localAddresses();
  return own.listeners.some(
    (listener) =>
      listener.port === port &&
      addresses
        .map(bare)
        .some((address) => isLoopback(address) || local.has(address) || address === listener.host),
  );
}

/** One spelling of an address or a name: no brackets, no final dot, IPv4 out of its IPv6 clothes. */
function bare(host: string): string {
  const text = host.replace(/^\[|\]$|\.$/g, "");
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

/** All of it may reach a listener that is bound to every address; the name is this machine's by definition. */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address)
    ? ["loopback", "unspecified"].includes(ipaddr.parse(address).range())
    : /(^|\.)localhost$/.test(address);

const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

/** Every address of this machine's interfaces. */
function localAddresses(): Set<string> {
  const found = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return new Set(found.map(({ address }) => bare(address)));
}
