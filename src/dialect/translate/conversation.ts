// A conversation as both dialects mean it: read from one, put in order, written to the other. Shapes and how their pieces
// are named only; it knows neither dialect's fields.

import type { Json } from "../json.ts";

/** Where the bytes of an image or a document are; `data` is base64. */
export type Source =
  | { readonly kind: "data"; readonly mediaType: string; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

/** A mark that the prompt may be cached up to here, as the messages dialect writes it. */
export interface Cacheable {
  readonly cache?: Json;
}

export interface TextPart extends Cacheable {
  readonly kind: "text";
  readonly text: string;
}

export type ContentPart =
  | TextPart
  | (Cacheable & { readonly kind: "image"; readonly source: Source })
  | (Cacheable & { readonly kind: "document"; readonly source: Source; readonly title: string | null });

export interface ToolCall {
  /** As the client wrote it, until the conversation is put in order; empty: without one. */
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** What a provider hung on the call and wants back with it. */
  readonly extra?: unknown;
}

export interface ToolResult {
  /** The call's id; empty: the first call without a result. */
  readonly of: string;
  readonly parts: readonly ContentPart[];
  readonly failed: boolean;
}

export interface SystemTurn {
  readonly role: "system";
  readonly texts: readonly TextPart[];
}
export interface UserTurn {
  readonly role: "user";
  readonly results: readonly ToolResult[];
  readonly parts: readonly ContentPart[];
}
export interface AssistantTurn {
  readonly role: "assistant";
  /** Blocks of thinking as the messages dialect has them, signed. */
  readonly thoughts: readonly Json[];
  /** What it thought, in words; never shown as its answer. */
  readonly reasoning: string;
  readonly texts: readonly TextPart[];
  readonly calls: readonly ToolCall[];
}
export type ConversationTurn = SystemTurn | UserTurn | AssistantTurn;

export const textPart = (words: string): TextPart => ({ kind: "text", text: words });

/** A user's turn of nothing but these parts. */
export const said = (parts: readonly ContentPart[]): UserTurn => ({ role: "user", results: [], parts });

/** Stands where a dialect demands words and nobody said any. */
export const FILLER = ".";

/** The system texts before the conversation begins, and the rest of it. */
export function splitLeading(turns: readonly ConversationTurn[]): {
  readonly system: readonly TextPart[];
  readonly rest: readonly ConversationTurn[];
} {
  const begin = turns.findIndex(({ role }) => role !== "system");
  const end = begin < 0 ? turns.length : begin;
  const system = turns.slice(0, end).flatMap((turn) => (turn.role === "system" ? turn.texts : []));
  return { system, rest: turns.slice(end) };
}
