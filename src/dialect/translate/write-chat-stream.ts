// Writes a chat client's stream:
//
//   said by the provider                    client receives
//   anything                                the chunk with the role, once
//   text, thinking, a refusal               `content`, `reasoning_content`, `refusal`
//   a call and its arguments                `tool_calls`, numbered among the calls only
//   the end of a call without arguments     its arguments: `{}`
//   the end                                 finish reason, usage if requested and [DONE], after the charge

import { CHAT_DONE } from "../chat/chat-stream.ts";
import type { StreamOptions } from "../dialect.ts";
import type { Json } from "../json.ts";
import type { AnswerEnd, AnswerWriter, CallPiece, ContentWriter, TextKind, ToolCallDraft } from "./answer.ts";
import { plainEvents } from "./event-text.ts";
import { finishReasonOf } from "./stop-reasons.ts";
import type { EventSink } from "./translated-stream.ts";
import type { AnswerContext } from "./translation.ts";
import { chatUsageOf } from "./usage-translation.ts";
import { callHead, completionHead } from "./write-chat-answer.ts";

const DONE = new TextDecoder().decode(CHAT_DONE);

/** Writes one stream for a chat client. */
export class ChatStreamWriter implements AnswerWriter, ContentWriter {
  readonly fault = null;
  /** Chunks carry content in any order, so that nothing is put in order here. */
  readonly content: ContentWriter = this;
  readonly #context: AnswerContext;
  readonly #sink: EventSink;
  readonly #includeUsage: boolean;
  /** An event up to its choices, and the constant texts around a delta and around its text. */
  readonly #head: string;
  readonly #usageTail: string;
  readonly #beforeDelta: string;
  readonly #afterDelta: string;
  readonly #beforeText: Readonly<Record<TextKind, string>>;
  readonly #afterText: string;
  /** The calls that have not ended, with their index and whether they have arguments. */
  readonly #open = new Map<ToolCallDraft, { readonly index: number; given: boolean }>();
  #begun = false;
  #calls = 0;

  constructor(context: AnswerContext, { includeUsage, fingerprint }: StreamOptions, sink: EventSink) {
    this.#context = context;
    this.#sink = sink;
    this.#includeUsage = includeUsage;
    this.#head = JSON.stringify({
      ...completionHead(context, "chat.completion.chunk"),
      ...(fingerprint === null ? {} : { system_fingerprint: fingerprint }),
    }).slice(0, -1);
    this.#usageTail = includeUsage ? ',"usage":null' : "";
    this.#beforeDelta = `data: ${this.#head},"choices":[{"index":0,"delta":`;
    this.#afterDelta = `,"logprobs":null,"finish_reason":null}]${this.#usageTail}}\n\n`;
    this.#beforeText = {
      text: `${this.#beforeDelta}{"content":`,
      thinking: `${this.#beforeDelta}{"reasoning_content":`,
      refusal: `${this.#beforeDelta}{"refusal":`,
    };
    this.#afterText = `}${this.#afterDelta}`;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#sink.write(`${this.#beforeDelta}{"role":"assistant","content":""}${this.#afterDelta}`);
  }

  writeText(kind: TextKind, text: string): void {
    this.#sink.content(this.#beforeText[kind] + JSON.stringify(text) + this.#afterText);
  }

  writePlainTexts(kind: TextKind, texts: readonly string[]): void {
    this.#sink.content(plainEvents(this.#beforeText[kind], texts, this.#afterText));
  }

  call(call: ToolCallDraft, { arguments: json }: CallPiece): void {
    let open = this.#open.get(call);
    if (open === undefined) {
      if (call.written) return;
      call.written = true;
      open = { index: this.#calls++, given: false };
      this.#open.set(call, open);
      const { id, name } = callHead(this.#context, call, open.index);
      this.#writeCall(open.index, { id, type: "function", function: { name, arguments: "" } });
    }
    if (json === "") return;
    open.given = true;
    this.#writeCall(open.index, { function: { arguments: json } });
  }

  endCall(call: ToolCallDraft): void {
    const open = this.#open.get(call);
    if (open?.given === false) this.#writeCall(open.index, { function: { arguments: "{}" } });
    this.#open.delete(call);
  }

  endCalls(): void {
    for (const call of [...this.#open.keys()]) this.endCall(call);
  }

  close({ ending, usage, chars }: AnswerEnd): void {
    const finish = JSON.stringify(finishReasonOf(ending, this.#calls > 0));
    this.#sink.write(
      `${this.#beforeDelta}{},"logprobs":null,"finish_reason":${finish}}]${this.#usageTail}}\n\n`,
    );
    if (this.#includeUsage) {
      const counted = chatUsageOf(usage, { promptTokens: this.#context.promptTokens, chars });
      this.#sink.write(`data: ${this.#head},"choices":[],"usage":${JSON.stringify(counted)}}\n\n`);
    }
    this.#sink.write(DONE);
  }

  #writeCall(index: number, call: Json): void {
    const delta = JSON.stringify({ tool_calls: [{ index, ...call }] });
    this.#sink.content(`${this.#beforeDelta}${delta}${this.#afterDelta}`);
  }
}
