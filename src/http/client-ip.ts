// The client's address: the socket's, unless a trusted proxy says otherwise in X-Forwarded-For.
// The last entry that is not itself a trusted proxy is believed; everything before it may be invented.

import { allowsAddress } from "../../actors/ip-allow-list.ts";

export function clientIp(socket: string, forwarded: string | null, trusted: readonly string[]): string {
  if (trusted.length === 0 || forwarded === null || !allowsAddress(trusted, socket)) return socket;
  const hops = forwarded.split(",").map((hop) => hop.trim());
  for (const hop of hops.reverse()) {
    if (hop !== "" && !allowsAddress(trusted, hop)) return hop;
  }
  return socket;
}
