// Which API styles a provider key accepts for a model without translation: by its Config, else by the facts
// that are known of its host.

import { findProvider } from "../../../actors/catalog/catalog.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { isClaude } from "../../upstream/cloud-b.ts";
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
 * Returns whether a key of the chat style also accepts /v1/responses. Unknown hosts are tried; a known host
 * without that path is not, because its error would make the key look as if it lacked the model.
 */
export const speaksResponses = keptPerKey(({ config, provider }): boolean => {
  if (config.provider_type === "cloud_a" || config.provider_type === "cloud_b") return true;
  const host = URL.parse(provider)?.hostname;
  const facts = host === undefined ? null : findProvider(host);
  return facts === null || facts.responses === true;
});
