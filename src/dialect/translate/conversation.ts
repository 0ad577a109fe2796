// The common form of a conversation: it is read from one dialect, put in order, and written in the other.
// This file only declares its types; it must not know the fields of either dialect.

import type { Json } from "../json.ts";

/** The source of an image or a document; `data` is base64. */
export type Source =
  | { readonly kind: "data"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

/** A part that may end a cached prefix of the prompt, marked as in the messages dialect. */
export interface Cacheable {
  readonly cache?: Json;
}

/** A text. */
export interface TextPart extends Cacheable {
  readonly kind: "text";
  readonly text: string;
}

/** A text, an image or a document. */
export type ContentPart =
  | TextPart
  | (Cacheable & { readonly kind: "image"; readonly source: Source })
  | (Cacheable & { readonly kind: "document"; readonly source: Source; readonly title: string | null });

/** A tool call of the assistant. */
export interface ToolCall {
  /** The client's id until the conversation is put in order by `inOrder`; empty when there is none. */
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Data that a provider attached to the call and requires back with it. */
  readonly extra?: unknown;
}

/** The result of a tool call. */
export interface ToolResult {
  /** The call's id; empty means the first call without a result. */
  readonly of: string;
  readonly parts: readonly ContentPart[];
  readonly failed: boolean;
}

/** System texts. */
export interface SystemTurn {
  readonly role: "system";
  readonly texts: readonly TextPart[];
}
/** A turn of the user: tool results, then other content. */
export interface UserTurn {
  readonly role: "user";
  readonly results: readonly ToolResult[];
  readonly parts: readonly ContentPart[];
}
/** A turn of the assistant. */
export interface AssistantTurn {
  readonly role: "assistant";
  /** Signed thinking blocks of the messages dialect. */
  readonly thoughts: readonly Json[];
  /** The reasoning as text, which is never part of the answer. */
  readonly reasoning: string;
  readonly texts: readonly TextPart[];
  readonly calls: readonly ToolCall[];
}
/** One turn of a conversation. */
export type ConversationTurn = SystemTurn | UserTurn | AssistantTurn;

/** Returns a text part. */
export const textPart = (words: string): TextPart => ({ kind: "text", text: words });

/** Returns a user turn with these parts and no tool results. */
export const userTurn = (parts: readonly ContentPart[]): UserTurn => ({ role: "user", results: [], parts });

/** A text for places where a dialect requires one and the conversation has none. */
export const FILLER = ".";

/** Splits off the system texts before the first other turn. */
export function splitLeading(turns: readonly ConversationTurn[]): {
  readonly system: readonly TextPart[];
  readonly rest: readonly ConversationTurn[];
} {
  const begin = turns.findIndex(({ role }) => role !== "system");
  const end = begin < 0 ? turns.length : begin;
  const system = turns.slice(0, end).flatMap((turn) => (turn.role === "system" ? turn.texts : []));
  return { system, rest: turns.slice(end) };
}
