// The way `standard`: providers that speak over plain HTTPS with their key in a header, below a base URL of their own or
// one that is known of their host.

import {
  type AddressError,
  BEARER,
  baseOf,
  type ProviderAdapter,
  type ProviderAddress,
} from "./provider-adapter.ts";

/** What is known of a provider's host; one row of actors/catalog/providers.json. */
export interface HostFacts {
  readonly auth: "bearer" | "x-api-key";
  /** Base URLs: of the host's chat style, of its messages style where it has one apart, and its own rerank address. */
  readonly base?: string | null;
  readonly messages_base?: string;
  readonly rerank_url?: string;
}

/** The facts of a host; none for unknown hosts, which take the key as each style of request sends it. */
export type HostBook = (hostname: string) => HostFacts | undefined;

/** How each style of key travels, and what its hosts demand beside unless the client sent it. */
const AUTH: Readonly<Record<HostFacts["auth"], Pick<ProviderAddress, "auth" | "beside">>> = {
  bearer: { auth: BEARER },
  "x-api-key": {
    auth: { header: "x-api-key", prefix: "" },
    beside: { "anthropic-version": "2023-06-01" },
  },
};

export const standard = (host: HostBook): ProviderAdapter => ({
  place({ provider, path, model }) {
    const url = standardUrl(provider, path, host);
    if ("fault" in url) return url;
    const auth = AUTH[host(url.hostname)?.auth ?? (isMessages(path) ? "x-api-key" : "bearer")];
    return { url, naming: { model, add: {} }, ...auth };
  },
  credential: (key) => key.secret,
});

/**
 * The address of a gateway path at a provider: behind a path of the Provider goes what follows our /v1, else the host's known
 * base, else /v1.
 */
function standardUrl(provider: string, path: string, host: HostBook): URL | AddressError {
  const base = baseOf(provider);
  if ("fault" in base) return base;
  const { url, own } = base;
  const [plain = "", query] = path.split("?", 2);
  url.pathname = pathAt(own, plain, host(url.hostname));
  if (query !== undefined) url.search = query;
  return url;
}

function pathAt(own: string, path: string, facts: HostFacts | undefined): string {
  const messages = facts?.messages_base;
  // The messages SDK's base addresses stand before /v1, not behind it.
  if (messages !== undefined && isMessages(path)) return pathOf(messages) + path;
  if (facts?.rerank_url !== undefined && path === "/v1/rerank") return pathOf(facts.rerank_url);
  const rest = path.slice("/v1".length);
  if (own !== "") return own + rest;
  return typeof facts?.base === "string" ? pathOf(facts.base) + rest : path;
}

/** `/v1/messages` and what is below it. */
const isMessages = (path: string): boolean => /^\/v1\/messages(?![^/?])/.test(path);

const pathOf = (url: string): string => new URL(url).pathname.replace(/\/+$/, "");
