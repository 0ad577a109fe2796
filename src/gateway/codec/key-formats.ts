// Which API styles a provider key accepts for a model without translation: by its Config, else by the facts
// that are known of its host.

import { findProvider } from "../../../actors/catalog/catalog.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { isClaude } from "../../upstream/cloud-b.ts";
import { isCloud } from "../../upstream/upstream.ts";
import { keptPerKey, type ProviderTarget } from "./kept-per-key.ts";

/** The API style of requests: `chat` (OpenAI) or `messages` (Anthropic). */
export type ApiStyle = Dialect["name"];

const CHAT: ReadonlySet<ApiStyle> = new Set(["chat"]);
const MESSAGES: ReadonlySet<ApiStyle> = new Set(["messages"]);
const BOTH: ReadonlySet<ApiStyle> = new Set(["chat", "messages"]);

type Styles = ReadonlySet<ApiStyle>;

/** Returns the styles that a key accepts for a model. */
export function apiStylesOf(key: ProviderTarget, model: string): Styles {
  const styles = stylesOf(key);
  return styles === "by_model" ? (isClaude(model) ? MESSAGES : CHAT) : styles;
}

const stylesOf = keptPerKey(({ config, provider }): Styles | "by_model" => {
  if (config.provider_type === "cloud_a") return CHAT;
  if (config.provider_type === "cloud_b") return "by_model";
  if (config.api_style === "messages") return MESSAGES;
  if (config.api_style === "chat") return CHAT;
  const url = URL.parse(provider);
  const facts = url === null ? null : findProvider(url.hostname);
  if (url === null || facts === null) return CHAT;
  if (facts.messages_base === undefined) return facts.api_style === "messages" ? MESSAGES : CHAT;
  // A key whose base URL is that of the messages style accepts nothing else.
  return `${url.pathname}/`.startsWith(`${new URL(facts.messages_base).pathname}/`) ? MESSAGES : BOTH;
});

/**
 * Returns whether a key's provider has /v1/responses itself: as its Config says, as is known of its host, or null where
 * only its answer can tell.
 */
export const hasResponses = keptPerKey(({ config, provider }): boolean | null => {
  if (typeof config.responses === "boolean") return config.responses;
  if (config.provider_type === "cloud_a") return true;
  if (config.provider_type === "cloud_b" || config.api_style === "messages") return false;
  const host = URL.parse(provider)?.hostname;
  const facts = host === undefined ? null : findProvider(host);
  return facts === null ? null : facts.responses === true;
});

/**
 * Whether a key's answer may say that its provider lacks the path. Each host has the path of its own style, and of the clouds
 * it is known what they have.
 */
export const mayLackPath = (path: string, key: ProviderTarget): boolean =>
  path === RESPONSES_PATH
    ? hasResponses(key) === null
    : !PATHS_OF_STYLES.has(path) && !isCloud(key.config.provider_type);

const PATHS_OF_STYLES: ReadonlySet<string> = new Set(["/v1/chat/completions", "/v1/messages"]);

/**
 * Returns the name under which a key is passed over that lacks a model: the model's, and with the path where that is not one of
 * conversations. A host may lack a model at one path alone: Google says of a chat model that it is not found for embeddings.
 */
export const modelAtPath = (path: string, model: string): string =>
  PATHS_OF_STYLES.has(path) || path === RESPONSES_PATH ? model : `${model} at ${path}`;

/** The path of the responses style. */
export const RESPONSES_PATH = "/v1/responses";
