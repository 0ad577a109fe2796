// What is kept of the output item that is open in a responses stream: its text so far, which its last events repeat. It
// writes no events.

import type { Json } from "../json.ts";
import { type CallItemHead, callItem, messageItem, reasoningItem, responsePart } from "./response-items.ts";

/** Pieces that are joined at a time. Until then each may keep its event's text in memory. */
const PIECES_MAX = 64;

/** A text that grows. It has no bound of its own; who adds to it counts. */
export class KeptText {
  #joined: string[] = [];
  #pieces: string[] = [];

  add(piece: string): void {
    if (this.#pieces.push(piece) >= PIECES_MAX) this.#join();
  }

  /** Returns all of it. */
  whole(): string {
    this.#join();
    if (this.#joined.length > 1) this.#joined = [this.#joined.join("")];
    return this.#joined[0] ?? "";
  }

  /** Copies the pieces together, so that no event stays in memory because of a piece of its text. */
  #join(): void {
    if (this.#pieces.length > 0) this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}

/** A message, with the text of its open part. */
export interface OpenMessage {
  readonly kind: "message";
  readonly id: string;
  /** The parts that have ended. */
  readonly done: Json[];
  part: "text" | "refusal";
  text: KeptText;
}

/** Reasoning. */
export interface OpenReasoning {
  readonly kind: "thinking";
  readonly id: string;
  readonly text: KeptText;
  /** Whether its summary has begun. */
  hasText: boolean;
}

/** A call with its arguments, in the form in which the provider sends them. */
export interface OpenToolCall {
  readonly kind: "call";
  readonly head: CallItemHead;
  readonly text: KeptText;
}

/** The item that is open. */
export type OpenItem = OpenMessage | OpenReasoning | OpenToolCall;

/** Returns an item as far as it was written; a custom tool's call has no input before its end. */
export function unfinishedItem(open: OpenItem): Json {
  switch (open.kind) {
    case "message": {
      const content = [...open.done, responsePart(open.part, open.text.whole())];
      return messageItem(open.id, content, "incomplete");
    }
    case "thinking":
      return reasoningItem(open.id, open.text.whole(), null);
    case "call":
      return callItem(open.head, open.head.type === "function_call" ? open.text.whole() : "", "incomplete");
  }
}
