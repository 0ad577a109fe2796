// Which styles of request a key can take for a model as they are: what its Config says of the way to its provider, else what
// is known of its host.

import { findProvider } from "../../../actors/catalog/catalog.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { isClaude } from "../../upstream/cloud-b.ts";

export type ApiStyle = Dialect["name"];

const CHAT: ReadonlySet<ApiStyle> = new Set(["chat"]);
const MESSAGES: ReadonlySet<ApiStyle> = new Set(["messages"]);
const BOTH: ReadonlySet<ApiStyle> = new Set(["chat", "messages"]);

export type ProviderTarget = Pick<LevelKey, "provider" | "config">;
type Styles = ReadonlySet<ApiStyle>;

/** Asked for every key of every request; a key's object stays the same as long as the key does. */
const known = new WeakMap<ProviderTarget, Styles | "by_model">();

export function apiStylesOf(key: ProviderTarget, model: string): Styles {
  let styles = known.get(key);
  if (styles === undefined) {
    styles = read(key);
    known.set(key, styles);
  }
  return styles === "by_model" ? (isClaude(model) ? MESSAGES : CHAT) : styles;
}

function read({ config, provider }: ProviderTarget): Styles | "by_model" {
  if (config.provider_type === "cloud_a") return CHAT;
  if (config.provider_type === "cloud_b") return "by_model";
  if (config.api_style === "messages") return MESSAGES;
  if (config.api_style === "chat") return CHAT;
  const url = URL.parse(provider);
  const facts = url === null ? null : findProvider(url.hostname);
  if (url === null || facts === null) return CHAT;
  if (facts.messages_base === undefined) return facts.api_style === "messages" ? MESSAGES : CHAT;
  // A key that was given the address of the messages style has nothing else behind it.
  return `${url.pathname}/`.startsWith(`${new URL(facts.messages_base).pathname}/`) ? MESSAGES : BOTH;
}

/**
 * Whether a key of the chat style takes responses too. Of hosts that nobody knows only they themselves can tell; to ask one
 * that is known not to would let its key pass for one without the model.
 */
export function speaksResponses({ config, provider }: ProviderTarget): boolean {
  if (config.provider_type === "cloud_a" || config.provider_type === "cloud_b") return true;
  const host = URL.parse(provider)?.hostname;
  const facts = host === undefined ? null : findProvider(host);
  return facts === null || facts.responses === true;
}
