// What the edge reads from the head of a request: its path, its id, the API key and the client's address. Nothing here reads
// a body or decides anything.

import { allowsAddress } from "../../actors/ip-allow-list.ts";
import type { Random } from "../base/clock.ts";
import type { HeaderReader } from "../base/header-reader.ts";

/** What is read of a request: the runtime's and the server's both fit. */
interface Headed {
  readonly headers: HeaderReader;
}

/** Returns the path of an absolute URL, cut out without parsing it. */
export function pathOf(url: string): string {
  const from = url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", from);
  return query === -1 ? url.slice(from) : url.slice(from, query);
}

/** Whether a path belongs to the gateway, where API keys may also come as `x-api-key` and unknown fields pass. */
export const isGatewayPath = (path: string): boolean => path.startsWith("/v1/");

/** Returns the client's request id if it is fit to be one, else a fresh one (contract section 2). */
export const requestIdOf = (request: Headed, random: Random): string =>
  givenRequestId(request) ?? random.id();

/** Returns the client's own request id, or null when it sent none that is fit: 1 to 128 printable ASCII characters. */
export function givenRequestId(request: Headed): string | null {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[\x20-\x7e]{1,128}$/.test(given) ? given : null;
}

/** Returns the API key of `Authorization: Bearer`, or of `x-api-key` where that is allowed; null without one. */
export function apiKeyOf(request: Headed, alsoXApiKey: boolean): string | null {
  const header = request.headers.get("authorization");
  const isBearer = header !== null && (header.startsWith("Bearer ") || /^bearer /i.test(header));
  const bearer = isBearer ? header.slice(7).trim() : "";
  if (bearer !== "") return bearer;
  const other = alsoXApiKey ? request.headers.get("x-api-key")?.trim() : undefined;
  return other === undefined || other === "" ? null : other;
}

/**
 * Returns the client's address: the socket's, unless trusted proxies say otherwise in X-Forwarded-For. The last
 * entry that is not itself a trusted proxy is believed; everything before it may be invented.
 */
export function clientIp(socket: string, forwarded: string | null, trusted: readonly string[]): string {
  if (trusted.length === 0 || forwarded === null || !allowsAddress(trusted, socket)) return socket;
  const hops = forwarded.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) {
    if (hop !== "" && !allowsAddress(trusted, hop)) return hop;
  }
  return socket;
}

/** Returns the client's address as the trusted proxies state it. `socket` is that of its connection. */
export const clientIpOf = (request: Headed, socket: string, trustProxy: readonly string[]): string =>
  clientIp(socket, request.headers.get("x-forwarded-for"), trustProxy);

/** Empties parts of the path that cannot be decoded, which Elysia leaves null: an empty name names nothing. */
export function emptyUndecodedParts(params: Record<string, string | null>): void {
  for (const name in params) params[name] ??= "";
}
