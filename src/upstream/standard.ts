// The adapter `standard`: providers that take the key in a header, below the base URL of the key or the known
// base URL of their host.

import {
  type AddressError,
  BEARER,
  baseOf,
  type ProviderAdapter,
  type ProviderAddress,
} from "./provider-adapter.ts";

/** Facts about a provider's host; one row of actors/catalog/providers.json. */
export interface HostFacts {
  readonly auth: "bearer" | "x-api-key";
  /** Base URL of the host's chat style. */
  readonly base?: string | null;
  /** Base URL of its messages style, if that differs. */
  readonly messages_base?: string;
  /** Full URL of its rerank endpoint, if that is not below `base`. */
  readonly rerank_url?: string;
}

/**
 * Returns the facts of a host, or undefined for an unknown host, whose header depends on the path's style.
 */
export type HostBook = (hostname: string) => HostFacts | undefined;

/** The header of each kind of authentication, and further headers that its hosts require. */
const AUTH: Readonly<Record<HostFacts["auth"], Pick<ProviderAddress, "auth" | "beside">>> = {
  bearer: { auth: BEARER },
  "x-api-key": {
    auth: { header: "x-api-key", prefix: "" },
    beside: { "anthropic-version": "2023-06-01" },
  },
};

/** Creates the adapter; `host` supplies the facts of known hosts. */
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
 * Returns the URL of a gateway path at a provider. The part after /v1 is appended to the path of Provider if
 * it has one, otherwise to the host's known base, otherwise to /v1.
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
  // A base URL of the messages SDK does not include /v1.
  if (messages !== undefined && isMessages(path)) return pathOf(messages) + path;
  if (facts?.rerank_url !== undefined && path === "/v1/rerank") return pathOf(facts.rerank_url);
  const rest = path.slice("/v1".length);
  if (own !== "") return own + rest;
  return typeof facts?.base === "string" ? pathOf(facts.base) + rest : path;
}

/** Whether a path is `/v1/messages` or below it. */
const isMessages = (path: string): boolean => /^\/v1\/messages(?![^/?])/.test(path);

const pathOf = (url: string): string => new URL(url).pathname.replace(/\/+$/, "");
