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
  | (Cacheable & { readonly kind: "image"; readonly source: Source; readonly detail?: string })
  | (Cacheable & { readonly kind: "document"; readonly source: Source; readonly title: string | null });

/** A tool call of the assistant. */
export interface ToolCall {
  readonly kind: "call";
  /** The client's id until the conversation is put in order by `inOrder`; empty when there is none. */
  readonly id: string;
  readonly name: string;
  /** The arguments as the client wrote them: JSON text, or whatever a model generated in its place. */
  readonly arguments: string;
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
/** A signed thinking block of the messages dialect. Its provider refuses it changed or in another place. */
export interface ThinkingPart {
  readonly kind: "thinking";
  readonly block: Json;
}
/** Reasoning as text, which is never part of the answer. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
}
/** One part of what the assistant generated. */
export type AssistantPart = ThinkingPart | ReasoningPart | TextPart | ToolCall;
/** A turn of the assistant, in the order in which it was generated. */
export interface AssistantTurn {
  readonly role: "assistant";
  readonly parts: readonly AssistantPart[];
}
/** One turn of a conversation. */
export type ConversationTurn = SystemTurn | UserTurn | AssistantTurn;

/** Returns a text part. */
export const textPart = (words: string): TextPart => ({ kind: "text", text: words });

/** Returns a user turn with these parts and no tool results. */
export const userTurn = (parts: readonly ContentPart[]): UserTurn => ({ role: "user", results: [], parts });

/** Whether a part of the assistant's is a text. */
export const isTextPart = (part: AssistantPart): part is TextPart => part.kind === "text";
/** Whether a part of the assistant's is reasoning as text. */
export const isReasoningPart = (part: AssistantPart): part is ReasoningPart => part.kind === "reasoning";
/** Whether a part of the assistant's is a call. */
export const isToolCall = (part: AssistantPart): part is ToolCall => part.kind === "call";

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
