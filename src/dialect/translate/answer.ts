// The common form of an answer: it is read from a provider's dialect and written in the client's, as a whole or as a
// stream. This file only declares its types; it must not know the fields of any dialect.

import type { Usage } from "../../../actors/pricing/usage.ts";
import type { StreamError, StreamListener } from "../dialect.ts";
import type { Json } from "../json.ts";

/** The kinds of generated text. */
export type TextKind = "thinking" | "text" | "refusal";

/** Generated text. */
export interface GeneratedText {
  readonly kind: "text" | "refusal";
  readonly text: string;
}

/** Thinking; `block` is the block of the messages dialect with its signature, null when the provider makes none. */
export interface Thought {
  readonly kind: "thinking";
  readonly text: string;
  readonly block: Json | null;
}

/** A call of a client's tool, with the provider's name of it. */
export interface AnswerCall {
  readonly kind: "call";
  /** The provider's id; empty when it sent none. */
  readonly id: string;
  readonly name: string;
  /** The arguments as JSON text, which a provider may send broken. */
  readonly arguments: string;
  /** What the provider attached to the call and requires back with it, such as a signature. */
  readonly extra?: Json;
}

/** One part of a whole answer, in the order in which it was generated. */
export type AnswerPart = GeneratedText | Thought | AnswerCall;

/** How an answer ended. Tool calls and refusals are seen in its parts. */
export interface AnswerEnding {
  /** `length` is the output limit, `window` the context window, `filtered` the provider's content filter. */
  readonly reason: "stop" | "length" | "window" | "filtered";
  /** The stop sequence that was matched; null when there is none or the provider does not report it. */
  readonly matched: string | null;
}

/** What is known when an answer has ended. */
export interface AnswerEnd {
  readonly ending: AnswerEnding;
  /** The provider's usage; null when it reported none. */
  readonly usage: Usage | null;
  /** Number of generated characters, for an estimate. */
  readonly chars: number;
}

/** A whole answer. */
export interface Answer extends AnswerEnd {
  readonly parts: readonly AnswerPart[];
}

/** A call, or a fragment of one. An empty text means that the fragment does not contain the field. */
export interface CallPiece {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** As in `AnswerCall`. */
  readonly extra?: Json;
}

/** What is known of a call when its block is opened. */
export type CallHead = Pick<CallPiece, "id" | "name" | "extra">;

/** A call of a stream that is being assembled. */
export interface ToolCallDraft {
  readonly kind: "call";
  id: string;
  name: string;
  extra?: Json;
  /** Arguments that have not been written yet. */
  held: string;
  /** Whether its block has been opened. */
  written: boolean;
  /** Whether nothing more of it follows, as far as the provider says. */
  ended: boolean;
}

/** What ends a block of thinking: the provider's signature, or the data of thinking that nobody may read. */
export type ThinkingSeal =
  | { readonly type: "thinking"; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** Writes the content of a client's stream. Calls and texts may arrive through each other. */
export interface ContentWriter {
  writeText(kind: TextKind, text: string): void;
  /** Does the same for texts of one event each, which have no character that JSON escapes. */
  writePlainTexts(kind: TextKind, texts: readonly string[]): void;
  /** Ends a block of thinking. Left out where clients do not send thinking back. */
  endThinking?(seal: ThinkingSeal): void;
  /** Begins or continues a call. The draft has its id and name as far as they are known. */
  call(call: ToolCallDraft, piece: CallPiece): void;
  endCall(call: ToolCallDraft): void;
  /** Ends all calls, because nothing more of them follows. */
  endCalls(): void;
}

/** Writes a client's stream: what surrounds the content, and by `content` the content itself. */
export interface AnswerWriter {
  /** Why the translation must stop; null while it can continue. */
  readonly fault: string | null;
  readonly content: ContentWriter;
  /** Writes what precedes the content; only the first call has an effect. */
  begin(): void;
  /** Writes the closing events. */
  close(end: AnswerEnd): void;
  /**
   * Writes the end of a stream that failed; after `close` it replaces the last event. Left out if `Dialect.streamError`
   * does it.
   */
  fail?(error: StreamError, end: Omit<AnswerEnd, "ending">): void;
}

/** Reads a provider's events and reports what they say to an `AnswerWriter`. */
export interface AnswerReader extends StreamListener {
  /** Whether the provider has sent everything but its closing event. */
  readonly finished: boolean;
  /** Reports what is left, and returns how the answer ended. */
  end(): AnswerEnding;
}

/** Characters of all texts and calls of an answer. */
export const charsOf = (parts: readonly AnswerPart[]): number =>
  parts.reduce(
    (sum, part) => sum + (part.kind === "call" ? part.name.length + part.arguments.length : part.text.length),
    0,
  );
