// Decides whether a provider URL points at this service itself, by its own listeners and by its configured
// public URLs. A request sent there would loop back until resources are exhausted.

import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** An address that this service listens at. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** What this service knows of its own addresses. */
export interface OwnAddresses {
  readonly listeners: readonly ListenAddress[];
  readonly publicUrls: readonly string[];
  /** Reads the interfaces of this machine; by default `os.networkInterfaces`. May throw. */
  readonly interfaces?: typeof networkInterfaces;
}

/**
 * Whether a URL leads to this service. `addresses` are those that its host resolves to, or the host itself
 * when it could not be resolved.
 */
export function pointsAtSelf(url: URL, addresses: readonly string[], own: OwnAddresses): boolean {
  const port = portOf(url);
  const isPublic = own.publicUrls
    .map((text) => new URL(text))
    .some((one) => bare(one.hostname) === bare(url.hostname) && portOf(one) === port);
  if (isPublic) return true;
  const local = localAddresses(own.interfaces ?? networkInterfaces);
  return own.listeners.some(
    (listener) =>
      listener.port === port &&
      addresses
        .map(bare)
        .some((address) => isLoopback(address) || local.has(address) || address === listener.host),
  );
}

/** Normalizes a host: removes brackets and the final dot, and maps IPv4-mapped IPv6 to IPv4. */
function bare(host: string): string {
  const text = host.replace(/^\[|\]$|\.$/g, "");
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text;
}

/**
 * Loopback and unspecified addresses may reach a listener that is bound to every address; `localhost` is this
 * machine by definition (RFC 6761).
 */
const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address)
    ? ["loopback", "unspecified"].includes(ipaddr.parse(address).range())
    : /(^|\.)localhost$/.test(address);

const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);

/**
 * Every address of this machine's interfaces. A sandbox that forbids netlink sockets makes the reading fail: then none is
 * known, and what remains are the hosts of the listeners, and loopback.
 */
function localAddresses(interfaces: typeof networkInterfaces): ReadonlySet<string> {
  try {
    const found = Object.values(interfaces()).flatMap((one) => one ?? []);
    return new Set(found.map(({ address }) => bare(address)));
  } catch {
    return new Set();
  }
}
