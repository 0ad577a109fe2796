// Decides which addresses a provider's URL may lead to, and which address a connection must then use. Checked
// addresses are pinned: a connection uses one of them and never resolves the name again, so that a name that
// changes between check and use (DNS rebinding) has no effect.

import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import type { Clock } from "../base/clock.ts";
import { SingleFlight } from "../base/coalesce.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses of a URL, all of which are allowed. */
export interface Pinned {
  /** Checked addresses, IPv4 first. */
  readonly addresses: readonly string[];
  /** The host name for TLS verification and the Host header; null when the URL contains an IP address. */
  readonly name: string | null;
}

/** The result of a check; `reason` continues a sentence that begins with "Provider". */
export type SsrfVerdict =
  | { readonly ok: true; readonly addresses: readonly string[]; readonly pinned: Pinned }
  | { readonly ok: false; readonly kind: "url" | "address" | "unresolved"; readonly reason: string };

/** Checks the URLs of providers against server-side request forgery. */
export interface SsrfGuard {
  /**
   * Returns the pinned addresses if a check of exactly this text is fresh. Cheap enough for every request.
   */
  checked(url: string): Pinned | undefined;
  /** Checks a URL; resolves its name if no fresh answer is cached. Never rejects. */
  check(url: string): Promise<SsrfVerdict>;
}

/** What `createSsrfGuard` needs. */
export interface SsrfGuardOptions {
  /** Ranges that are allowed although they are not public (PROVIDER_ALLOW_CIDRS). */
  readonly allowCidrs: readonly string[];
  readonly clock: Clock;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const FRESH_MS = 30_000;
/**
 * From this age on an answer is refreshed in the background, so that no request of a busy key waits for DNS.
 */
const RENEW_MS = 20_000;
const CACHE_MAX = 1_000;

/** Addresses that are public by registry, but serve instance metadata. */
const METADATA = new Set(["168.63.129.16"]);

/**
 * Names of the refused kinds. A reason never shows the address, since a tenant could then read our internal
 * DNS.
 */
const KINDS: Readonly<Record<string, string>> = {
  loopback: "loopback",
  private: "private",
  linkLocal: "link-local",
  uniqueLocal: "unique-local",
  carrierGradeNat: "carrier-grade NAT",
  multicast: "multicast",
  unspecified: "unspecified",
  broadcast: "broadcast",
  metadata: "cloud metadata",
};

const GLOBAL_V6 = ipaddr.parseCIDR("2000::/3");
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");

/** Creates a guard. Throws if a range in `allowCidrs` is invalid; the message names it. */
export function createSsrfGuard(options: SsrfGuardOptions): SsrfGuard {
  const { clock } = options;
  const allowed = options.allowCidrs.map(parseRange);
  const resolve = options.resolve ?? resolveAll;
  const known = new Map<string, { readonly answer: SsrfVerdict & { ok: true }; readonly atMs: number }>();
  const judging = new SingleFlight<string, SsrfVerdict>();

  function checked(url: string): Pinned | undefined {
    const entry = known.get(url);
    if (entry === undefined) return undefined;
    const ageMs = clock.mono() - entry.atMs;
    if (ageMs >= FRESH_MS) return undefined;
    if (ageMs >= RENEW_MS) void renew(url);
    return entry.answer.pinned;
  }

  async function check(url: string): Promise<SsrfVerdict> {
    if (checked(url) !== undefined) return known.get(url)!.answer;
    return renew(url);
  }

  const renew = (url: string): Promise<SsrfVerdict> =>
    judging.run(url, async () => {
      const answer = await judge(url);
      // When the resolver fails for a moment, the earlier answer stays valid until it expires.
      if (answer.ok || answer.kind !== "unresolved") known.delete(url);
      if (answer.ok) {
        if (known.size >= CACHE_MAX) known.delete(known.keys().next().value!);
        known.set(url, { answer, atMs: clock.mono() });
      }
      return answer;
    });

  async function judge(text: string): Promise<SsrfVerdict> {
    const url = URL.parse(text);
    if (url === null) return refused("url", "is no URL such as https://models.example/v1");
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      return refused("url", "must begin with http:// or https://");
    }
    if (url.username !== "" || url.password !== "") {
      return refused("url", "must not contain a user name or password");
    }
    // The URL parser has already turned every spelling of an IPv4 address (decimal, octal, hex, short) into
    // four decimals.
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const literal = ipaddr.isValid(host);
    let found: readonly string[];
    try {
      found = literal ? [host] : await resolve(host);
    } catch (error) {
      return refused("unresolved", `has a host name that cannot be resolved (${codeOf(error)})`);
    }
    if (found.length === 0) return refused("unresolved", "has a host name without an address");
    for (const text of found) {
      const kind = forbidden(text, allowed);
      if (kind !== null) return refused("address", `leads to an address that is not allowed (${kind})`);
    }
    const addresses = [...found].sort(v4First);
    return { ok: true, addresses, pinned: { addresses, name: literal ? null : url.hostname } };
  }

  return { checked, check };
}

/** Returns the kind of a forbidden address, or null when the address may be used. */
function forbidden(text: string, allowed: readonly [Address, number][]): string | null {
  if (!ipaddr.isValid(text)) return "unreadable";
  const address = plain(ipaddr.process(text));
  if (allowed.some((range) => inside(address, range))) return null;
  if (METADATA.has(address.toString())) return KINDS.metadata!;
  const kind = address.range();
  if (kind !== "unicast") return KINDS[kind] ?? "reserved";
  // IPv6 outside the assigned global block is never a provider; IPv4-compatible forms (::127.0.0.1) live
  // there.
  return address.kind() === "ipv6" && !inside(address, GLOBAL_V6) ? "reserved" : null;
}

/**
 * Returns the IPv4 address inside a NAT64 address, which decides; any other address is returned unchanged.
 */
function plain(address: Address): Address {
  if (!inside(address, NAT64)) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}

function inside(address: Address, [base, bits]: [Address, number]): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

function parseRange(text: string): [Address, number] {
  const cidr = text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`;
  if (!ipaddr.isValidCIDR(cidr)) throw new Error(`PROVIDER_ALLOW_CIDRS: "${text}" is not an address range`);
  return ipaddr.parseCIDR(cidr);
}

async function resolveAll(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map((entry) => entry.address);
}

const refused = (kind: "url" | "address" | "unresolved", reason: string): SsrfVerdict => ({
  ok: false,
  kind,
  reason,
});

const v4First = (a: string, b: string): number => Number(a.includes(":")) - Number(b.includes(":"));

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
