// A provider key as its form holds it, and the body of the request that makes the service agree with it. A secret that is left
// alone is not in the body: no mask is ever sent back.

import type { KeyRow } from "./levels.ts";

/** How a key's provider is reached. */
export type ProviderType = "standard" | "cloud_a" | "cloud_b";
/** Kinds of paths that a cloud_a provider gives versions of their own. */
export const VERSIONED = ["chat", "embeddings", "responses", "audio", "images"] as const;

/** The fields of the form as texts. */
export interface KeyDraft {
  readonly name: string;
  readonly level: string;
  readonly provider: string;
  /** null: the secret stays as it is. */
  readonly secret: string | null;
  readonly status: boolean;
  readonly type: ProviderType;
  /** Empty where the service knows it from the host. */
  readonly apiStyle: string;
  readonly allowsObjects: boolean;
  /** Whether the provider has /v1/responses: "true", "false"; empty: the service finds out. */
  readonly responses: string;
  /** `model=deployment`, one in a line. */
  readonly mapping: string;
  readonly versions: Readonly<Record<(typeof VERSIONED)[number], string>>;
  readonly baseUrl: string;
  readonly projectId: string;
  readonly clientEmail: string;
  /** null: the private key stays as it is. */
  readonly privateKey: string | null;
}

const NO_VERSIONS = { chat: "", embeddings: "", responses: "", audio: "", images: "" };

/** Returns the form of a new key of a Level. */
export const newDraft = (level: string): KeyDraft => ({
  ...{ name: "", level, provider: "", secret: "", status: true, type: "standard", apiStyle: "" },
  ...{ allowsObjects: false, responses: "", mapping: "", versions: NO_VERSIONS },
  ...{ baseUrl: "", projectId: "", clientEmail: "", privateKey: "" },
});

type Config = Readonly<Record<string, unknown>>;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the form of a key that there is; its secrets stay unless they are replaced. */
export function draftOf(row: Pick<KeyRow, "Name" | "Level" | "Provider" | "Status" | "Config">): KeyDraft {
  const config = row.Config as Config;
  return {
    ...{ name: row.Name, level: String(row.Level), provider: row.Provider, secret: null, status: row.Status },
    type: (config.provider_type as ProviderType | undefined) ?? "standard",
    apiStyle: textOf(config.api_style),
    allowsObjects: config.allow_provider_objects === true,
    responses: typeof config.responses === "boolean" ? String(config.responses) : "",
    mapping: Object.entries((config.model_mapping as Config | undefined) ?? {})
      .map(([model, deployment]) => `${model}=${String(deployment)}`)
      .join("\n"),
    versions: { ...NO_VERSIONS, ...((config.api_versions as Partial<typeof NO_VERSIONS> | undefined) ?? {}) },
    ...{ baseUrl: textOf(config.base_url), projectId: textOf(config.project_id) },
    clientEmail: textOf(config.client_email),
    privateKey: config.private_key === undefined ? "" : null,
  };
}

/** Reads the lines of a mapping; null: a line is not `model=deployment`. */
export function mappingOf(text: string): Readonly<Record<string, string>> | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const entries = lines.map((line): [string, string] => {
    const at = line.indexOf("=");
    return [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()];
  });
  return entries.some(([model, deployment]) => model === "" || deployment === "")
    ? null
    : Object.fromEntries(entries);
}

/** Returns the Config that the form asks for, without a private key that stays; null: the mapping is not readable. */
function configOf(draft: KeyDraft): Config | null {
  const mapping = mappingOf(draft.mapping);
  if (draft.type === "cloud_a" && mapping === null) return null;
  const versions = Object.fromEntries(
    Object.entries(draft.versions).filter(([, version]) => version.trim() !== ""),
  );
  const ofType: Readonly<Record<ProviderType, Config>> = {
    standard: { api_style: draft.apiStyle },
    cloud_a: { model_mapping: mapping ?? {}, api_versions: versions },
    cloud_b: {
      base_url: draft.baseUrl.trim(),
      project_id: draft.projectId.trim(),
      client_email: draft.clientEmail.trim(),
      private_key: draft.privateKey?.trim() ?? "",
    },
  };
  const given = Object.entries({
    provider_type: draft.type === "standard" ? "" : draft.type,
    ...ofType[draft.type],
    allow_provider_objects: draft.allowsObjects || "",
    responses: draft.responses === "" || draft.type === "cloud_b" ? "" : draft.responses === "true",
  });
  return Object.fromEntries(given.filter(([, value]) => !isNothing(value)));
}

const isNothing = (value: unknown): boolean =>
  value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const isLevel = (text: string): boolean => /^-?\d{1,7}$/.test(text.trim());

/** Returns the body of `POST /x-keys`; null while a field that it needs is empty or not readable. */
export function addingBody(draft: KeyDraft): object | null {
  const config = configOf(draft);
  const secret = (draft.secret ?? "").trim();
  if (config === null || !isLevel(draft.level) || draft.provider.trim() === "" || secret === "") return null;
  return {
    ...(draft.name.trim() === "" ? {} : { Name: draft.name.trim() }),
    Level: Number(draft.level),
    Provider: draft.provider.trim(),
    SecretKey: secret,
    ...(draft.status ? {} : { Status: false }),
    ...(isNothing(config) ? {} : { Config: config }),
  };
}

/**
 * Returns the body of `PUT /x-keys/{id}` with what differs from the key as it was when the form began; null: nothing does, or a field
 * is not readable.
 */
export function changingBody(draft: KeyDraft, row: KeyRow): object | null {
  const config = configOf(draft);
  if (config === null || !isLevel(draft.level) || draft.provider.trim() === "") return null;
  const keepsKey = draft.type === "cloud_b" && (draft.privateKey ?? "").trim() === "";
  const changes = configChanges(config, row.Config as Config, keepsKey);
  const secret = (draft.secret ?? "").trim();
  const body = {
    ...(draft.name.trim() === row.Name ? {} : { Name: draft.name.trim() }),
    ...(Number(draft.level) === row.Level ? {} : { Level: Number(draft.level) }),
    ...(draft.provider.trim() === row.Provider ? {} : { Provider: draft.provider.trim() }),
    ...(secret === "" ? {} : { SecretKey: secret }),
    ...(draft.status === row.Status ? {} : { Status: draft.status }),
    ...(isNothing(changes) ? {} : { Config: changes }),
  };
  return isNothing(body) ? null : body;
}

/** Returns the fields of a Config that change; null takes one away. `keepsKey`: the private key stays as it is. */
function configChanges(wanted: Config, known: Config, keepsKey: boolean): Config {
  const fields = new Set([...Object.keys(wanted), ...Object.keys(known)]);
  if (keepsKey) fields.delete("private_key");
  return Object.fromEntries(
    [...fields]
      .filter(
        (field) => !(field === "provider_type" && known[field] === "standard" && wanted[field] === undefined),
      )
      .filter((field) => !isAlike(wanted[field], known[field]))
      .map((field) => [field, wanted[field] ?? null]),
  );
}

/** Compares texts, flags and maps of texts; the order of a map's entries does not matter. */
function isAlike(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return one === other;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length && names.every((name) => (one as Config)[name] === (other as Config)[name])
  );
}

/** Returns the field that a refusal is about, as the API calls it; null: the message names none. */
export function refusedField(code: string, message: string): string | null {
  const named = /^"([A-Za-z_.]+)"/.exec(message) ?? /^The field "([A-Za-z_.]+)"/.exec(message);
  if (named !== null) return named[1]!;
  const isAddress = code === "self_referencing_provider" || code === "forbidden_provider_address";
  if (!isAddress) return null;
  return message.startsWith("Config.base_url") ? "Config.base_url" : "Provider";
}
