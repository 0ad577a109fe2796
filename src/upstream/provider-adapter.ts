// In what the ways to reach a provider differ: where a request goes, how the model is named there, what proves the key.
// Each way is a sibling that answers these questions; it opens no connection and judges no answer (http-upstream.ts does).

import type { Destination, ProviderModelNaming, UpstreamFailureResult, UpstreamKey } from "./upstream.ts";
import type { FailureKind } from "./upstream-failure.ts";

type Headers_ = Readonly<Record<string, string>>;

/** Where a destination lies at a provider. */
export interface ProviderAddress {
  readonly url: URL;
  readonly naming: ProviderModelNaming;
  /** The header that proves the key, and what stands in it before the credential. */
  readonly auth: { readonly header: string; readonly prefix: string };
  /** What the place demands unless the client sent it. */
  readonly beside?: Headers_;
  /** The client's headers as the place takes them; absent: as they are. Names are in lower case. */
  readonly taken?: (headers: Headers_) => Headers_;
  /** Names out of the provider's account, which no client may read. */
  readonly hidden?: readonly string[];
}

/** There is no such place: the key's settings are at fault, or nobody serves the path or the model there. */
export interface AddressError {
  readonly fault: Extract<FailureKind, "unreachable" | "model_unavailable" | "rejected">;
  /** Why, continuing "Provider …". */
  readonly text: string;
}

type Credential = string | UpstreamFailureResult;

export interface ProviderAdapter {
  /** Worked out once per destination and kept. */
  place(to: Destination): ProviderAddress | AddressError;
  /** What proves the key; at once where nobody has to be asked, and no later than the signal says. */
  credential(key: UpstreamKey, signal: AbortSignal): Credential | Promise<Credential>;
  /** The provider refused a credential. True: another one may do. */
  refused?(key: UpstreamKey, credential: string): boolean;
}

export const misplaced = (text: string): AddressError => ({ fault: "unreachable", text });
export const unserved = (text: string): AddressError => ({ fault: "model_unavailable", text });

/** Bearer credentials, as most providers take them. */
export const BEARER: ProviderAddress["auth"] = { header: "authorization", prefix: "Bearer " };

export interface Base {
  readonly url: URL;
  /** Its path without a closing slash. */
  readonly own: string;
}

/** A base URL that paths can be put behind; else what is wrong with it. */
export function baseOf(provider: string): Base | AddressError {
  const url = URL.parse(provider);
  if (url === null) return misplaced("is not a valid URL");
  if (url.search !== "" || url.hash !== "") return misplaced("must not have a query or a fragment");
  return { url, own: url.pathname.replace(/\/+$/, "") };
}

/** Below /v1 and meaning the same to everybody: no dot segments, no encoded dots or slashes, no fragment. */
export function isPlainPath(path: string): boolean {
  const [plain = ""] = path.split("?", 1);
  return (
    plain.startsWith("/v1/") &&
    !/[\s\\#\p{Cc}]|%2f|%5c|%2e|%(?![0-9a-f]{2})/iu.test(plain) &&
    !/\/\.{0,2}(\/|$)/.test(plain) &&
    !/[\s#]/.test(path)
  );
}

/** A name as one segment of a path; null: as a segment it could mean another path. */
export function segmentOf(name: string): string | null {
  if (/[/\\]|^\.{0,2}$/.test(name)) return null;
  // It means nothing to a path, and the providers write it plainly.
  return encodeURIComponent(name.toWellFormed()).replaceAll("%40", "@");
}
