// IP allow lists: addresses and CIDR ranges of IPv4 and IPv6. An IPv4-mapped IPv6 address counts as IPv4
// (contract section 2).

import ipaddr from "ipaddr.js";
import { parseList } from "./pattern.ts";

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * Parses a list separated by spaces or commas. Returns its items, or the first that is neither address nor
 * range.
 */
export function parseAddresses(text: string): { ok: true; value: string[] } | { ok: false; item: string } {
  const items = parseList(text);
  const bad = items.find((item) => rangeOf(item) === null);
  return bad === undefined ? { ok: true, value: items } : { ok: false, item: bad };
}

/** Returns whether a text is one address, IPv4 in four decimal parts or IPv6. */
export const isAddress = (text: string): boolean => !text.includes("/") && rangeOf(text) !== null;

/**
 * Returns whether the list allows a client address. An empty list allows any; otherwise an invalid address is
 * refused.
 */
export function allowsAddress(list: readonly string[], address: string): boolean {
  if (list.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  const client = ipaddr.process(address);
  return list.some((item) => {
    const range = rangeOf(item);
    return range !== null && range[0].kind() === client.kind() && client.match(range);
  });
}

/**
 * Returns whether each of `items`, which are addresses or ranges, lies as a whole within one item of the list. Ranges that only
 * several items together contain are not covered. Neither is what is no address.
 */
export function coversAddresses(list: readonly string[], items: readonly string[]): boolean {
  // Two long lists have a million pairs, so each item is parsed only once.
  const outer = list.map(rangeOf).filter((range) => range !== null);
  return items.every((item) => {
    const inner = rangeOf(item);
    return inner !== null && outer.some((one) => containsRange(one, inner));
  });
}

const containsRange = (outer: Range, inner: Range): boolean =>
  outer[0].kind() === inner[0].kind() &&
  outer[1] <= inner[1] &&
  (inner[0] as ipaddr.IPv6).match(outer as [ipaddr.IPv6, number]);

function rangeOf(item: string): Range | null {
  // The parser also accepts `10.1`, `300` and the octal `010.0.0.1`, so that a typing error would allow other
  // addresses.
  if (!item.includes(":") && !ipaddr.IPv4.isValidFourPartDecimal(item.replace(/\/\d+$/, ""))) return null;
  if (ipaddr.isValidCIDR(item)) {
    const [address, bits] = ipaddr.parseCIDR(item);
    return mapped(address) ? [ipaddr.process(address.toString()), Math.max(0, bits - 96)] : [address, bits];
  }
  if (!ipaddr.isValid(item)) return null;
  const address = ipaddr.process(item);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

const mapped = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.kind() === "ipv6" && (address as ipaddr.IPv6).isIPv4MappedAddress();
