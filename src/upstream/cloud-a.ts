// The way `cloud_a`: models behind deployments with names of the customer's own. An api-version decides between the dated
// paths, which name the deployment, and the v1 paths, where the body names it. What a deployment is called stays inside.

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

/** The kinds of path that may have an api-version each; the keys of Config.api_versions. */
export const API_KINDS = ["chat", "embeddings", "responses", "audio", "images"] as const;
export type ApiKind = (typeof API_KINDS)[number];
export type ApiVersions = Readonly<Partial<Record<ApiKind, string>>>;

/** What an api-version may be: a date, or one of the words for the v1 paths. */
export const API_VERSION = /^(\d{4}-\d{2}-\d{2}(-preview)?|v1|latest|preview)$/;

/** Where the Owner and the deployment name none: the last dated preview, which can do all that the earlier ones can. */
export const DEFAULT_API_VERSIONS: Readonly<Record<ApiKind, string>> = {
  chat: "2025-04-01-preview",
  embeddings: "2024-10-21",
  responses: "2025-04-01-preview",
  audio: "2025-04-01-preview",
  images: "2025-04-01-preview",
};

/** Every path there is, with its kind; the others do not exist there. */
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

/** The first version that can tell the usage of a stream. To an earlier one the question is an error. */
const TELLS_USAGE = "2024-09-01";

const AUTH: ProviderAddress["auth"] = { header: "api-key", prefix: "" };

/** `versions`: the deployment's own defaults (CLOUD_A_API_VERSIONS). */
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

/** Only dated versions and the preview are asked for by name. */
function queryOf(query: string | undefined, version: string): string {
  const asked = new URLSearchParams(query);
  asked.delete("api-version");
  if (isDated(version) || version === "preview") asked.set("api-version", version);
  return asked.toString();
}

/** Dated paths take any name in the body, so that the deployment's, which v1 needs, does for both. */
const namingOf = (deployment: string, version: string): ProviderModelNaming => ({
  model: deployment,
  add: {},
  ...(isDated(version) && version < TELLS_USAGE ? { without: ["stream_options"] } : {}),
});

/** The deployment that serves a model: the mapping's most exact entry, else one called like the model. */
function deploymentOf(config: Readonly<Record<string, unknown>>, model: string): string {
  const mapping = config.model_mapping as Readonly<Record<string, string>> | undefined;
  return (mapping === undefined ? null : pick(mapping, model)?.value) ?? model;
}

/** A deployment that is called as the model is asked for gives nothing away. */
const hiddenOf = (deployment: string, model: string): readonly string[] =>
  deployment === model ? [] : [deployment];
