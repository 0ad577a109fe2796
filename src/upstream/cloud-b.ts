// The adapter `cloud_b`: models of a project at a location, authenticated by short-lived tokens of a service
// account. Claude models use the messages style at URLs that name the model; all others use one URL in the
// chat style.

import type { HeaderRecord } from "../base/header-reader.ts";
import { failed } from "./http-client.ts";
import {
  type AddressError,
  BEARER,
  baseOf,
  misplaced,
  type ProviderAdapter,
  segmentOf,
  unserved,
} from "./provider-adapter.ts";
import type { Tokens } from "./service-account-token.ts";
import type { Destination, ProviderModelNaming, UpstreamKey } from "./upstream.ts";

type Config = UpstreamKey["config"];

const ANTHROPIC_VERSION = "vertex-2023-10-16";

/** Beta features that the provider knows. It rejects a request with any other value. */
const BETAS = new Set([
  "compact-2026-01-12",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "interleaved-thinking-2025-05-14",
  "tool-search-tool-2025-10-19",
  "web-search-2025-03-05",
]);

/** Names of models to which the rule of `nameOf` does not apply. */
const NAMES: Readonly<Record<string, string>> = {
  "claude-3-5-sonnet-20241022": "claude-3-5-sonnet-v2@20241022",
};

/** Creates the adapter; `tokens` supplies the credentials. */
export const cloudB = (tokens: Tokens): ProviderAdapter => ({
  place(to) {
    const root = rootOf(to.provider, to.config);
    if ("fault" in root) return root;
    const [path = ""] = to.path.split("?", 1);
    const found = PATHS[path]?.(to) ?? unserved(`of type cloud_b has no ${path}`);
    if ("fault" in found) return found;
    const { url, project } = root;
    url.pathname += found.behind;
    return {
      url,
      naming: found.naming,
      auth: BEARER,
      hidden: [project],
      ...(isClaude(to.model) ? { rewriteHeaders: forClaude } : {}),
    };
  },
  credential(key, signal) {
    const account = accountOf(key);
    return account === null
      ? failed("invalid_key", "Config needs client_email and private_key")
      : tokens.of(account, signal);
  },
  refused(key, credential) {
    const account = accountOf(key);
    if (account !== null) tokens.drop(account, credential);
    return account !== null;
  },
});

/** Whether a model is served in the messages style; all others are served in the chat style. */
export const isClaude = (model: string): boolean => model.startsWith("claude");

type Found = { readonly behind: string; readonly naming: ProviderModelNaming } | AddressError;

const PATHS: Readonly<Record<string, (to: Destination) => Found>> = {
  "/v1/chat/completions": ({ model }) => {
    if (isClaude(model)) return unserved("of type cloud_b serves Claude models on /v1/messages alone");
    const name = model.startsWith("gemini") && !model.includes("/") ? `google/${model}` : model;
    return { behind: "/endpoints/openapi/chat/completions", naming: { model: name, add: {} } };
  },
  "/v1/messages": ({ model, stream }) => {
    const segment = isClaude(model) ? segmentOf(nameOf(model)) : null;
    if (segment === null) return NO_CLAUDE;
    return {
      behind: `/publishers/anthropic/models/${segment}:${stream ? "streamRawPredict" : "rawPredict"}`,
      naming: { model: null, add: { anthropic_version: ANTHROPIC_VERSION } },
    };
  },
  "/v1/messages/count_tokens": ({ model }) =>
    isClaude(model)
      ? {
          behind: "/publishers/anthropic/models/count-tokens:rawPredict",
          naming: { model: nameOf(model), add: { anthropic_version: ANTHROPIC_VERSION } },
        }
      : NO_CLAUDE,
};

const NO_CLAUDE = unserved("of type cloud_b serves Claude models alone on /v1/messages");

/** Returns the provider's name of a model, in which `@` precedes the date. */
const nameOf = (model: string): string => NAMES[model] ?? model.replace(/-(\d{8})$/, "@$1");

/** Removes the version, which is sent in the body, and the beta features that are not in `BETAS`. */
function forClaude(headers: HeaderRecord): HeaderRecord {
  const { "anthropic-version": _, "anthropic-beta": betas = "", ...others } = headers;
  const known = betas
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => BETAS.has(beta));
  return known.length === 0 ? others : { ...others, "anthropic-beta": known.join(",") };
}

/** Returns the service account of a key, or null when it has none. The PEM may be stored as the secret. */
function accountOf({ config, privateKey, secret }: UpstreamKey): { email: string; pem: string } | null {
  const pem = privateKey ?? (secret.includes("PRIVATE KEY") ? secret : null);
  const { client_email: email } = config;
  return pem === null || typeof email !== "string" ? null : { email, pem };
}

interface Root {
  /** The URL up to the location. */
  readonly url: URL;
  readonly project: string;
}

/**
 * Returns the URL of a key's project and location: Config.base_url or else Provider, cut after the location.
 */
function rootOf(provider: string, config: Config): Root | AddressError {
  const base = baseOf(typeof config.base_url === "string" ? config.base_url : provider);
  if ("fault" in base) return base;
  const { url, own } = base;
  const location = /\/locations\/([^/]+)/.exec(own)?.[1];
  if (location === undefined) return misplaced("must contain /locations/ and a location");
  const project = typeof config.project_id === "string" ? config.project_id : projectIn(own);
  if (project === undefined) return misplaced("must contain /projects/ and a project, or Config project_id");
  if (!NAME.test(project) || !NAME.test(location)) {
    return misplaced("must name project and location in letters, digits, dots, colons and dashes");
  }
  const wrong = isGoogle(url) ? strange(url, location) : null;
  if (wrong !== null) return misplaced(wrong);
  const before = own.slice(0, own.search(/\/(projects|locations)\//));
  // Paths at the cloud's own host begin with a version, which Owners often omit.
  const version = before === "" && isGoogle(url) ? "/v1" : before;
  url.pathname = `${version}/projects/${project}/locations/${location}`;
  return { url, project };
}

const NAME = /^[a-z0-9][\w.:-]*$/i;

const projectIn = (path: string): string | undefined => /\/projects\/([^/]+)/.exec(path)?.[1];

const isGoogle = ({ hostname }: URL): boolean => /(^|\.)googleapis\.com\.?$/.test(hostname);

/** Returns what is wrong with a URL at the cloud's own host for a location, or null when it is right. */
function strange(url: URL, location: string): string | null {
  if (url.protocol !== "https:") return "must begin with https:// at its own host";
  const host = HOSTS.get(location) ?? `${location}-aiplatform.googleapis.com`;
  return url.host === host ? null : `names the location ${location}, which lies at https://${host}`;
}

/** Hosts of the locations that are not a single region. */
const HOSTS: ReadonlyMap<string, string> = new Map([
  ["global", "aiplatform.googleapis.com"],
  ["us", "aiplatform.us.rep.googleapis.com"],
  ["eu", "aiplatform.eu.rep.googleapis.com"],
]);
