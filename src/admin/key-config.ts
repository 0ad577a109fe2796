// Checks a provider key as a whole, for every request that adds or changes one: which fields belong to which
// provider_type, which fields each type requires, and that there is an address to call. It must not resolve
// names or read secrets.

import { faultOfName, quoted } from "../../actors/pattern.ts";
import type { ErrorCode } from "../base/error-codes.ts";
import { RefusedError } from "../base/errors.ts";
import { RESPONSES_PATH } from "../gateway/codec/key-formats.ts";
import type { ProviderType, Upstream } from "../upstream/upstream.ts";

export { API_VERSION } from "../upstream/cloud-a.ts";

/** The type-specific fields of Config, each with its provider_type. */
const OWNERS: Readonly<Record<string, ProviderType>> = {
  api_style: "standard",
  model_mapping: "cloud_a",
  api_versions: "cloud_a",
  base_url: "cloud_b",
  project_id: "cloud_b",
  client_email: "cloud_b",
  private_key: "cloud_b",
};

/** Entries of model_mapping. */
const MAPPED_MAX = 1_024;

/** A provider key as far as `checkWhole` looks at it. */
export interface Whole {
  readonly provider: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether the key has a Config.private_key, which is not part of `config`. */
  readonly hasPrivateKey: boolean;
  /** Whether SecretKey is a private key and so replaces Config.private_key; called only when that matters. */
  readonly secretSigns: () => Promise<boolean>;
}

/** The provider_type of a Config; `standard` by default. */
export const typeOf = (config: Readonly<Record<string, unknown>>): ProviderType =>
  (config.provider_type as ProviderType | undefined) ?? "standard";

/**
 * Throws `RefusedError` (`invalid_parameter`, `missing_parameter`) for a key that cannot work; the message
 * names the field and the remedy.
 */
export async function checkWhole(upstream: Pick<Upstream, "address">, whole: Whole): Promise<void> {
  const { provider, config, hasPrivateKey, secretSigns } = whole;
  const type = typeOf(config);
  const fields = [...Object.keys(config), ...(hasPrivateKey ? ["private_key"] : [])];
  const stray = fields.find((field) => OWNERS[field] !== undefined && OWNERS[field] !== type);
  if (stray !== undefined) {
    refuse(`"Config.${stray}": belongs to provider_type ${OWNERS[stray]}, and this key's is ${type}.`);
  }
  if (config.model_mapping !== undefined) checkMapping(config.model_mapping as Record<string, string>);
  if (type === "cloud_b") {
    if (config.client_email === undefined) refuse(needed("client_email"), "missing_parameter");
    if (!hasPrivateKey && !(await secretSigns())) refuse(needed("private_key"), "missing_parameter");
  }
  const to = { provider, config, path: "/v1/chat/completions", model: "model", stream: false };
  const address = upstream.address(to);
  const responses = config.responses === true ? upstream.address({ ...to, path: RESPONSES_PATH }) : null;
  if (typeof address === "string") {
    const field = config.base_url === undefined ? "Provider" : "Config.base_url";
    refuse(`"${field}": ${address.replace(/^Provider /, "")}.`);
  }
  if (typeof responses === "string") {
    refuse(
      `"Config.responses": ${responses.replace(/^Provider /, "a provider ")}, so that it cannot be true.`,
    );
  }
}

const needed = (field: string): string =>
  `The field "Config.${field}" is missing: a cloud_b key signs with the client_email and private_key of a service account.`;

function checkMapping(mapping: Readonly<Record<string, string>>): void {
  const entries = Object.entries(mapping);
  if (entries.length > MAPPED_MAX) refuse(`"Config.model_mapping": has more than ${MAPPED_MAX} entries.`);
  for (const [pattern, deployment] of entries) {
    const fault = faultOfName(pattern) ?? faultOfName(deployment) ?? faultOfDeployment(deployment);
    if (fault !== null) refuse(`"Config.model_mapping": ${fault}.`);
  }
}

/** The name becomes one segment of a URL path, where slashes or dots alone would change the path. */
const faultOfDeployment = (name: string): string | null =>
  /^\.+$|[*/\\\p{Cc}]/u.test(name) ? `${quoted(name)} is no name of a deployment` : null;

function refuse(message: string, code: ErrorCode = "invalid_parameter"): never {
  throw new RefusedError({ code, message });
}
