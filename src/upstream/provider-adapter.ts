// The contract of a provider adapter, one per provider_type: it maps a destination to a URL, the model's name
// there and a credential. An adapter opens no connection and classifies no answer; http-upstream.ts does
// both.

import type { CancelSignal } from "../base/cancellation.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { Destination, ProviderModelNaming, UpstreamFailureResult, UpstreamKey } from "./upstream.ts";
import type { FailureKind } from "./upstream-failure.ts";

/** The URL of a destination, and how a request to it is named and authenticated. */
export interface ProviderAddress {
  readonly url: URL;
  readonly naming: ProviderModelNaming;
  /** The header that carries the credential, and the text before the credential in it. */
  readonly auth: { readonly header: string; readonly prefix: string };
  /**
   * Headers that the provider requires; a header of the same name that the client sent replaces one of these.
   */
  readonly beside?: HeaderRecord;
  /** Adapts the client's headers, whose names are in lower case. Without it they pass unchanged. */
  readonly rewriteHeaders?: (headers: HeaderRecord) => HeaderRecord;
  /** Names from the provider's account (deployments, projects) that must be removed from errors. */
  readonly hidden?: readonly string[];
}

/** No address exists: the key's settings are wrong, or the provider does not serve the path or the model. */
export interface AddressError {
  readonly fault: Extract<FailureKind, "unreachable" | "model_unavailable" | "rejected">;
  /** The reason, as the rest of a sentence that begins with "Provider". */
  readonly text: string;
}

type Credential = string | UpstreamFailureResult;

/** Maps destinations and keys of one provider_type to addresses and credentials. */
export interface ProviderAdapter {
  /** Returns the address of a destination. The caller caches it per destination. */
  place(to: Destination): ProviderAddress | AddressError;
  /** Returns the credential, synchronously if no request is needed. A promise ends when `signal` aborts. */
  credential(key: UpstreamKey, signal: CancelSignal): Credential | Promise<Credential>;
  /** Called when the provider refused a credential. Returns true if a new credential may be accepted. */
  refused?(key: UpstreamKey, credential: string): boolean;
}

/** Returns the error of a key whose settings give no usable URL. `text` continues "Provider". */
export const misplaced = (text: string): AddressError => ({ fault: "unreachable", text });
/** Returns the error of a path or a model that the provider does not serve. `text` continues "Provider". */
export const unserved = (text: string): AddressError => ({ fault: "model_unavailable", text });

/** The authentication header of most providers. */
export const BEARER: ProviderAddress["auth"] = { header: "authorization", prefix: "Bearer " };

/** A provider's base URL. */
export interface Base {
  readonly url: URL;
  /** The path of `url` without trailing slashes. */
  readonly own: string;
}

/** Parses a provider's base URL. Returns an error if it is invalid or has a query or a fragment. */
export function baseOf(provider: string): Base | AddressError {
  const url = URL.parse(provider);
  if (url === null) return misplaced("is not a valid URL");
  if (url.search !== "" || url.hash !== "") return misplaced("must not have a query or a fragment");
  return { url, own: url.pathname.replace(/\/+$/, "") };
}

/**
 * Whether a path is below /v1 and every server resolves it alike: it has no dot segments, no encoded dots or
 * slashes and no fragment.
 */
export function isPlainPath(path: string): boolean {
  const [plain = ""] = path.split("?", 1);
  return (
    plain.startsWith("/v1/") &&
    !/[\s\\#\p{Cc}]|%2f|%5c|%2e|%(?![0-9a-f]{2})/iu.test(plain) &&
    !/\/\.{0,2}(\/|$)/.test(plain) &&
    !/[\s#]/.test(path)
  );
}

/** Encodes a name as one path segment. Returns null if the segment could change the path. */
export function segmentOf(name: string): string | null {
  if (/[/\\]|^\.{0,2}$/.test(name)) return null;
  // `@` has no meaning in a path, and the providers do not encode it.
  return encodeURIComponent(name.toWellFormed()).replaceAll("%40", "@");
}
