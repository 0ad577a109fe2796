// The adapter `cloud_a`: models behind deployments that the customer names. The api-version selects either
// the dated paths, which contain the deployment's name, or the v1 paths, where the body names it. Clients
// never see that name.

import { pick } from "../../actors/pattern.ts";
import {
  type AddressError,
  baseOf,
  type ProviderAdapter,
  type ProviderAddress,
  segmentOf,
  unserved,
} from "./provider-adapter.ts";
import type { ProviderModelNaming } from "./upstream.ts";

/** The kinds of path, each with its own api-version; the keys of Config.api_versions. */
export const API_KINDS = ["chat", "embeddings", "responses", "audio", "images"] as const;
/** A kind of path. */
export type ApiKind = (typeof API_KINDS)[number];
/** Api-versions by kind of path, as in Config.api_versions. */
export type ApiVersions = Readonly<Partial<Record<ApiKind, string>>>;

/** The form of an api-version: a date, or one of the words for the v1 paths. */
export const API_VERSION = /^(\d{4}-\d{2}-\d{2}(-preview)?|v1|latest|preview)$/;

/**
 * The api-versions that apply when neither the key's Config nor the setting CLOUD_A_API_VERSIONS names one. A
 * dated preview has all features of the earlier versions.
 */
export const DEFAULT_API_VERSIONS: Readonly<Record<ApiKind, string>> = {
  chat: "2025-04-01-preview",
  embeddings: "2024-10-21",
  responses: "2025-04-01-preview",
  audio: "2025-04-01-preview",
  images: "2025-04-01-preview",
};

/** The paths that the provider has, with their kinds. */
const KINDS: Readonly<Record<string, ApiKind>> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "chat",
  "/v1/embeddings": "embeddings",
  "/v1/responses": "responses",
  "/v1/audio/speech": "audio",
  "/v1/audio/transcriptions": "audio",
  "/v1/audio/translations": "audio",
  "/v1/images/generations": "images",
  "/v1/images/edits": "images",
};
const RESPONSE = /^\/v1\/responses\/[^/]/;

/** The first version that reports the usage of a stream. Earlier ones reject `stream_options`. */
const TELLS_USAGE = "2024-09-01";

const AUTH: ProviderAddress["auth"] = { header: "api-key", prefix: "" };

/** Creates the adapter. `versions` are the configured defaults (CLOUD_A_API_VERSIONS). */
export const cloudA = (versions: Readonly<Record<ApiKind, string>>): ProviderAdapter => ({
  place({ provider, config, path, model }) {
    const [plain = "", query] = path.split("?", 2);
    const kind = KINDS[plain] ?? (RESPONSE.test(plain) ? "responses" : undefined);
    if (kind === undefined) return unserved(`of type cloud_a has no ${plain}`);
    const base = baseOf(provider);
    if ("fault" in base) return base;
    const deployment = deploymentOf(config, model);
    const version = (config.api_versions as ApiVersions | undefined)?.[kind] ?? versions[kind];
    const behind = behindOf(kind, plain.slice("/v1".length), version, deployment);
    if (typeof behind !== "string") return behind;
    const { url, own } = base;
    url.pathname = own.replace(/\/openai(\/v1)?$/, "") + behind;
    url.search = queryOf(query, version);
    return { url, naming: namingOf(deployment, version), auth: AUTH, hidden: hiddenOf(deployment, model) };
  },
  credential: (key) => key.secret,
});

const isDated = (version: string): boolean => /^\d/.test(version);

function behindOf(kind: ApiKind, tail: string, version: string, deployment: string): string | AddressError {
  if (!isDated(version)) return `/openai/v1${tail}`;
  if (kind === "responses") return `/openai${tail}`;
  const segment = segmentOf(deployment);
  return segment === null
    ? unserved("has no deployment for the model: its name cannot stand in a path, see Config.model_mapping")
    : `/openai/deployments/${segment}${tail}`;
}

/** Returns the query with the api-version, which only dated versions and `preview` need. */
function queryOf(query: string | undefined, version: string): string {
  const params = new URLSearchParams(query);
  params.delete("api-version");
  if (isDated(version) || version === "preview") params.set("api-version", version);
  return params.toString();
}

/** The body names the deployment: v1 paths require it, and dated paths ignore the name in the body. */
const namingOf = (deployment: string, version: string): ProviderModelNaming => ({
  model: deployment,
  add: {},
  ...(isDated(version) && version < TELLS_USAGE ? { without: ["stream_options"] } : {}),
});

/**
 * Returns the deployment of a model: the most specific entry of Config.model_mapping, otherwise the model's
 * name.
 */
function deploymentOf(config: Readonly<Record<string, unknown>>, model: string): string {
  const mapping = config.model_mapping as Readonly<Record<string, string>> | undefined;
  return (mapping === undefined ? null : pick(mapping, model)?.value) ?? model;
}

/** Returns the names to hide. A deployment that has the model's name reveals nothing. */
const hiddenOf = (deployment: string, model: string): readonly string[] =>
  deployment === model ? [] : [deployment];
