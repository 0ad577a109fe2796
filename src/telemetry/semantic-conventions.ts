// Names of the OpenTelemetry semantic conventions for what the gateway knows: operations by path, providers by host,
// and the figures of a charge as attributes. It is pure, and holds no content, credential or name of an account.
// Source: OpenTelemetry semantic conventions 1.45, "Generative AI" and "HTTP".

import type { Attributes } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
  ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
} from "@opentelemetry/semantic-conventions/incubating";
import type { ChargeFacts } from "../../actors/account/state.ts";
import { findProvider } from "../../actors/catalog/catalog.ts";
import { formatUsd } from "../../actors/money.ts";
import type { TracedAttempt } from "../gateway/request-trace.ts";

/** Cost of a request in USD. The exact figure is in the ledger; a span's numbers are floating-point. */
const ATTR_COST = "arborgate.cost";
/** Where the charge's figures come from: `provider`, `partial` or `estimate`. */
const ATTR_BASIS = "arborgate.basis";
/** The request id that the client reads in `x-request-id`. */
export const ATTR_REQUEST_ID = "arborgate.request.id";
/** The error code of the answer. */
export const ATTR_CODE = "arborgate.code";
/** Number of the Level. */
export const ATTR_LEVEL = "arborgate.level";
/** Id of the provider key, never the key. */
export const ATTR_PROVIDER_KEY = "arborgate.provider_key";

const CHAT = "chat";

/** The values of `gen_ai.operation.name`. Operations without a value of the conventions have their path's last word. */
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ["/v1/chat/completions", CHAT],
  ["/v1/messages", CHAT],
  ["/v1/responses", CHAT],
  ["/v1/completions", "text_completion"],
  ["/v1/embeddings", "embeddings"],
  ["/v1/images/generations", "generate_content"],
  ["/v1/images/edits", "generate_content"],
  ["/v1/images/variations", "generate_content"],
  ["/v1/audio/speech", "generate_content"],
]);

/** Returns the operation of a path below /v1. */
export const operationOf = (path: string): string =>
  OPERATIONS.get(path) ?? path.slice(path.lastIndexOf("/") + 1);

/** The values of `gen_ai.provider.name` for providers whose name in the catalog is another one. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["cloud_a", "azure.ai.openai"],
  ["cloud_b", "gcp.vertex_ai"],
]);

/** Returns the provider of a key: by its cloud, else by its host, which names itself where it is unknown. */
export function providerOf({ provider, config }: TracedAttempt["key"]): string {
  const host = URL.parse(provider)?.hostname ?? "";
  const name = isCloud(config.provider_type) ? config.provider_type : (findProvider(host)?.provider ?? host);
  return PROVIDERS.get(name) ?? name;
}

const isCloud = (type: unknown): type is string => type === "cloud_a" || type === "cloud_b";

/** Returns cost and basis of a charge. */
export const moneyAttributes = ({ cost, basis }: Pick<ChargeFacts, "cost" | "basis">): Attributes => ({
  [ATTR_COST]: Number(formatUsd(cost)),
  [ATTR_BASIS]: basis,
});

/** Returns the tokens of a charge. */
export const usageAttributes = ({ prompt, completion, usage }: ChargeFacts): Attributes => ({
  [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: prompt,
  [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: completion,
  ...(usage.inCached > 0 ? { [ATTR_GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS]: usage.inCached } : {}),
  ...(usage.inCacheWrite + usage.inCacheWrite1h > 0
    ? { [ATTR_GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS]: usage.inCacheWrite + usage.inCacheWrite1h }
    : {}),
  ...(usage.outReason > 0 ? { [ATTR_GEN_AI_USAGE_REASONING_OUTPUT_TOKENS]: usage.outReason } : {}),
});
