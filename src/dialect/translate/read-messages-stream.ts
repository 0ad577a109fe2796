// Reads a messages provider's stream and reports it to a writer:
//
//   provider sends                     writer receives
//   message_start, or any first event  `begin`
//   text, thinking                     the text with its kind
//   the end of signed thinking         its signature; the data of thinking that nobody may read
//   the start of a call, its input     the call
//   the end of a call                  the end; before it the input at its start, if there were no input deltas
//   ping                               nothing, but the client receives a comment
//   message_delta                      nothing yet: its stop reason is kept for the end
//   citations, anything else           nothing

import { isObject, type Json } from "../json.ts";
import type {
  AnswerEnding,
  AnswerReader,
  AnswerWriter,
  CallPiece,
  ContentWriter,
  TextKind,
  ToolCallDraft,
} from "./answer.ts";
import { endingOfMessage } from "./stop-reasons.ts";
import { argumentsOf } from "./tool-arguments.ts";
import { callDraft } from "./tool-call-assembler.ts";

/** A call whose block is open. */
interface OpenCall {
  readonly call: ToolCallDraft;
  /** The arguments if no input delta arrives. */
  readonly otherwise: string;
  given: boolean;
}

/** Reads one stream of a messages provider. `comment` sends a comment to the client. */
export class MessagesAnswerReader implements AnswerReader {
  readonly finished = false;
  readonly #writer: AnswerWriter;
  readonly #content: ContentWriter;
  readonly #comment: (text: string) => void;
  /** The calls whose blocks are open, by the index of the block. */
  readonly #calls = new Map<unknown, OpenCall>();
  /** The last block of thinking that began, with its signature. */
  #thinking: { readonly index: unknown; signature: string } | null = null;
  #stopReason: Json = {};
  /** The kind of the last pattern's text; null means that it is not written. */
  #patternKind: TextKind | null = null;

  constructor(writer: AnswerWriter, comment: (text: string) => void) {
    this.#writer = writer;
    this.#content = writer.content;
    this.#comment = comment;
  }

  event(event: Json, type: string, pattern: boolean): void {
    if (type === "ping") {
      this.#comment("ping");
      return;
    }
    this.#writer.begin();
    if (type === "content_block_start" && isObject(event.content_block)) {
      this.#startBlock(event.index, event.content_block);
    } else if (type === "content_block_delta" && isObject(event.delta)) {
      const kind = this.#readDelta(event.index, event.delta);
      if (pattern) this.#patternKind = kind;
    } else if (type === "content_block_stop") this.#endBlock(event.index);
    else if (type === "message_delta" && isObject(event.delta)) {
      if ((event.delta.stop_reason ?? null) !== null) this.#stopReason = event.delta;
    }
  }

  repeated(texts: readonly string[]): void {
    if (this.#patternKind !== null) this.#content.writePlainTexts(this.#patternKind, texts);
  }

  end(): AnswerEnding {
    this.#writer.begin();
    this.#endThinking();
    for (const index of [...this.#calls.keys()]) this.#endBlock(index);
    this.#content.endCalls();
    return endingOfMessage(this.#stopReason);
  }

  /** Reports a text, and returns its kind; null when there is no text. */
  #readText(kind: TextKind, text: unknown): TextKind | null {
    if (typeof text !== "string" || text === "") return null;
    this.#content.writeText(kind, text);
    return kind;
  }

  #startBlock(index: unknown, block: Json): void {
    const { type, id, name, data } = block;
    if (type === "text") this.#readText("text", block.text);
    else if (type === "thinking") {
      this.#endThinking();
      this.#readText("thinking", block.thinking);
      this.#thinking = { index, signature: signatureIn(block) };
    } else if (type === "redacted_thinking" && typeof data === "string") {
      this.#content.endThinking?.({ type, data });
    } else if (type === "tool_use" && typeof name === "string" && name !== "") {
      this.#endBlock(index);
      const call = callDraft(typeof id === "string" ? id : "", name);
      this.#calls.set(index, { call, otherwise: argumentsOf(block.input), given: false });
      this.#content.call(call, piece(call.id, name, ""));
    }
  }

  #readDelta(index: unknown, delta: Json): TextKind | null {
    switch (delta.type) {
      case "text_delta":
        return this.#readText("text", delta.text);
      case "thinking_delta":
        return this.#readText("thinking", delta.thinking);
      case "signature_delta":
        if (this.#thinking !== null && this.#thinking.index === index)
          this.#thinking.signature = signatureIn(delta);
        return null;
      case "input_json_delta":
        this.#readInput(this.#calls.get(index), delta.partial_json);
        return null;
      default:
        return null;
    }
  }

  #readInput(open: OpenCall | undefined, json: unknown): void {
    if (open === undefined || typeof json !== "string" || json === "") return;
    open.given = true;
    this.#content.call(open.call, piece("", "", json));
  }

  #endThinking(): void {
    const signature = this.#thinking?.signature ?? "";
    this.#thinking = null;
    if (signature !== "") this.#content.endThinking?.({ type: "thinking", signature });
  }

  #endBlock(index: unknown): void {
    if (this.#thinking !== null && this.#thinking.index === index) this.#endThinking();
    const open = this.#calls.get(index);
    if (open === undefined) return;
    this.#calls.delete(index);
    if (!open.given && open.otherwise !== "{}") this.#readInput(open, open.otherwise);
    this.#content.endCall(open.call);
  }
}

const piece = (id: string, name: string, json: string): CallPiece => ({ id, name, arguments: json });

const signatureIn = ({ signature }: Json): string => (typeof signature === "string" ? signature : "");
