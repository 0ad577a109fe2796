// Reads a chat provider's stream and reports it to a writer:
//
//   provider sends                     writer receives
//   the first event                    `begin`
//   reasoning, text, refusal           the text with its kind
//   fragments of calls                 the call that each belongs to; this style does not say when one ends
//   finish_reason                      the end of all calls
//   usage after it                     nothing: the answer is finished, because some hosts never close their streams

import { isObject, type Json } from "../json.ts";
import type { AnswerEnding, AnswerReader, AnswerWriter, ContentWriter } from "./answer.ts";
import { callsIn, isOnlyChoice, reportTexts } from "./read-chat-message.ts";
import { endingOfChoice } from "./stop-reasons.ts";
import { CallFinder } from "./tool-call-assembler.ts";

/** Reads one stream of a chat provider. */
export class ChatAnswerReader implements AnswerReader {
  finished = false;
  readonly #writer: AnswerWriter;
  readonly #content: ContentWriter;
  readonly #calls = new CallFinder();
  #ending: AnswerEnding | null = null;
  /** Whether the last pattern belongs to the choice that the client receives. */
  #writesPattern = false;

  constructor(writer: AnswerWriter) {
    this.#writer = writer;
    this.#content = writer.content;
  }

  event(chunk: Json, _type: string, pattern: boolean): void {
    this.#writer.begin();
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    const ours = choices.filter(isObject).filter(isOnlyChoice);
    if (pattern) this.#writesPattern = ours.length > 0;
    for (const choice of ours) this.#readChoice(choice);
    if (choices.length === 0 && isObject(chunk.usage) && this.#ending !== null) this.finished = true;
  }

  repeated(texts: readonly string[]): void {
    if (this.#writesPattern) this.#content.writePlainTexts("text", texts);
  }

  end(): AnswerEnding {
    this.#writer.begin();
    this.#content.endCalls();
    return this.#ending ?? endingOfChoice({});
  }

  #readChoice(choice: Json): void {
    if (isObject(choice.delta)) {
      reportTexts(choice.delta, (kind, text) => this.#content.writeText(kind, text));
      for (const piece of callsIn(choice.delta)) this.#content.call(this.#calls.callOf(piece), piece);
    }
    if (typeof choice.finish_reason !== "string" || choice.finish_reason === "") return;
    this.#ending = endingOfChoice(choice);
    this.#content.endCalls();
  }
}
