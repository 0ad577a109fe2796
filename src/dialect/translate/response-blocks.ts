// Writes the output items of a responses stream: one after the other, at most one open, numbered without gaps. It keeps
// them, because the last event repeats the whole output. An item stays open until the next one begins or the answer
// ends, since only its end says whether the item is complete.
//
//   item              events between output_item.added and output_item.done
//   message           for each part: content_part.added, output_text.delta… or refusal.delta…, its .done, content_part.done
//   reasoning         if it has a text: reasoning_summary_part.added, _text.delta…, _text.done, _part.done
//   function call     function_call_arguments.delta…, .done
//   custom call       custom_tool_call_input.delta, once, when its JSON is complete; .done

import type { Json } from "../json.ts";
import type { CallHead, TextKind, ThinkingSeal } from "./answer.ts";
import type { BlockWriter } from "./block-order.ts";
import {
  KeptText,
  type OpenItem,
  type OpenMessage,
  type OpenReasoning,
  type OpenToolCall,
  unfinishedItem,
} from "./open-item.ts";
import { beforeDelta, type ResponseEvents } from "./response-events.ts";
import {
  CallHeads,
  type CallItemHead,
  callItem,
  callReasoningItem,
  callText,
  carriedOf,
  type ItemStatus,
  itemId,
  messageItem,
  reasoningItem,
  responsePart,
  summaryOf,
} from "./response-items.ts";
import type { AnswerContext } from "./translation.ts";

/** Characters of one answer that are kept. One that exceeds them ends as failed, with what it has. */
const KEPT_CHARS_MAX = 16 * 1024 * 1024;
/** Characters that an item counts in addition to its text. */
const ITEM_CHARS = 256;

/** The output items of one stream. */
export class ResponseBlocks implements BlockWriter {
  readonly #context: AnswerContext;
  readonly #events: ResponseEvents;
  readonly #heads: CallHeads;
  readonly #output: Json[] = [];
  #open: OpenItem | null = null;
  /** The text of a delta event of the open part up to its string. */
  #beforeDelta = "";
  #chars = 0;

  constructor(context: AnswerContext, events: ResponseEvents) {
    this.#context = context;
    this.#events = events;
    this.#heads = new CallHeads(context);
  }

  /** Whether the answer has exceeded what is kept. */
  get full(): boolean {
    return this.#chars > KEPT_CHARS_MAX;
  }

  /** Returns the output so far. An open item is in it as far as it was written. */
  output(): readonly Json[] {
    const open = this.#open;
    return open === null ? this.#output : [...this.#output, unfinishedItem(open)];
  }

  text(kind: TextKind, text: string): void {
    this.#openText(kind).add(text);
    this.#chars += text.length;
    this.#events.delta(this.#beforeDelta, text);
  }

  plainTexts(kind: TextKind, texts: readonly string[]): void {
    const joined = texts.length === 1 ? texts[0]! : texts.join("");
    this.#openText(kind).add(joined);
    this.#chars += joined.length;
    this.#events.plainDeltas(this.#beforeDelta, texts);
  }

  /** Ends reasoning, or writes an item for thinking without a text. */
  endThinking(seal: ThinkingSeal): void {
    if (this.#open?.kind !== "thinking" || seal.type === "redacted_thinking") this.#beginReasoning();
    if (this.#open?.kind !== "thinking") return;
    const thinking = this.#open.text.whole();
    this.#endReasoning(this.#open, seal.type === "thinking" ? { ...seal, thinking } : { ...seal });
  }

  openCall(call: CallHead): void {
    this.end("completed");
    const { extra } = call;
    const index = extra === undefined ? this.#output.length : this.#output.length + 1;
    const head = this.#heads.next(call, index);
    if (extra !== undefined) this.#carry(head, extra);
    this.#open = { kind: "call", head, text: new KeptText() };
    this.#chars += ITEM_CHARS + head.call_id.length + head.name.length;
    this.#beforeDelta = beforeDelta("response.function_call_arguments.delta", {
      item_id: head.id,
      output_index: index,
    });
    this.#events.content("response.output_item.added", {
      output_index: index,
      item: callItem(head, "", "in_progress"),
    });
  }

  input(json: string): void {
    const open = this.#open;
    if (json === "" || open?.kind !== "call") return;
    open.text.add(json);
    this.#chars += json.length;
    if (open.head.type === "function_call") this.#events.delta(this.#beforeDelta, json);
  }

  /** Does nothing: the item ends when the next one begins, or with the answer. */
  endBlock(): void {}

  /** Ends the open item, if any. */
  end(status: ItemStatus): void {
    const open = this.#open;
    if (open?.kind === "message") this.#endMessage(open, status);
    else if (open?.kind === "thinking") this.#endReasoning(open, null);
    else if (open?.kind === "call") this.#endCall(open, status);
  }

  /** Writes an empty message if there is no item. */
  fill(): void {
    if (this.#open === null && this.#output.length === 0) this.#beginMessage("text");
  }

  /** Makes the part of a kind the open one, and returns its text. */
  #openText(kind: TextKind): KeptText {
    const open = this.#open;
    if (kind === "thinking") {
      const reasoning = open?.kind === "thinking" ? open : this.#beginReasoning();
      if (!reasoning.hasText) this.#beginSummary(reasoning);
      return reasoning.text;
    }
    if (open?.kind !== "message") return this.#beginMessage(kind).text;
    if (open.part !== kind) {
      open.done.push(this.#endPart(open));
      open.part = kind;
      open.text = new KeptText();
      this.#beginPart(open);
    }
    return open.text;
  }

  #add(item: Json): void {
    this.#chars += ITEM_CHARS;
    this.#events.write("response.output_item.added", { output_index: this.#output.length, item });
  }

  #done(item: Json): void {
    this.#open = null;
    this.#events.write("response.output_item.done", { output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #beginMessage(part: "text" | "refusal"): OpenMessage {
    this.end("completed");
    const id = itemId(this.#context, "message", this.#output.length);
    const open = { kind: "message" as const, id, done: [], part, text: new KeptText() };
    this.#open = open;
    this.#add(messageItem(id, [], "in_progress"));
    this.#beginPart(open);
    return open;
  }

  #beginPart({ id, done, part }: OpenMessage): void {
    const place = { item_id: id, output_index: this.#output.length, content_index: done.length };
    this.#chars += ITEM_CHARS;
    this.#events.write("response.content_part.added", { ...place, part: responsePart(part, "") });
    this.#beforeDelta =
      part === "text"
        ? beforeDelta("response.output_text.delta", { ...place, logprobs: [] })
        : beforeDelta("response.refusal.delta", place);
  }

  /** Ends the open part of a message, and returns it. */
  #endPart({ id, done, part, text }: OpenMessage): Json {
    const place = { item_id: id, output_index: this.#output.length, content_index: done.length };
    const whole = text.whole();
    if (part === "text")
      this.#events.write("response.output_text.done", { ...place, text: whole, logprobs: [] });
    else this.#events.write("response.refusal.done", { ...place, refusal: whole });
    const ended = responsePart(part, whole);
    this.#events.write("response.content_part.done", { ...place, part: ended });
    return ended;
  }

  #endMessage(open: OpenMessage, status: ItemStatus): void {
    this.#done(messageItem(open.id, [...open.done, this.#endPart(open)], status));
  }

  #beginReasoning(): OpenReasoning {
    this.end("completed");
    const id = itemId(this.#context, "reasoning", this.#output.length);
    const open = { kind: "thinking" as const, id, text: new KeptText(), hasText: false };
    this.#open = open;
    this.#add(reasoningItem(id, "", null));
    return open;
  }

  #beginSummary(open: OpenReasoning): void {
    open.hasText = true;
    const place = { item_id: open.id, output_index: this.#output.length, summary_index: 0 };
    this.#events.write("response.reasoning_summary_part.added", { ...place, part: summaryOf("") });
    this.#beforeDelta = beforeDelta("response.reasoning_summary_text.delta", place);
  }

  /** Ends reasoning, which carries the block of a messages provider or else its text. */
  #endReasoning({ id, text, hasText }: OpenReasoning, block: Json | null): void {
    const whole = text.whole();
    if (hasText) {
      const place = { item_id: id, output_index: this.#output.length, summary_index: 0 };
      this.#events.write("response.reasoning_summary_text.done", { ...place, text: whole });
      this.#events.write("response.reasoning_summary_part.done", { ...place, part: summaryOf(whole) });
    }
    const carried = carriedOf(this.#context, whole, block);
    this.#chars += carried?.length ?? 0;
    this.#done(reasoningItem(id, whole, carried));
  }

  /** Writes the item that carries what the provider attached to a call. */
  #carry(head: CallItemHead, extra: Json): void {
    const item = callReasoningItem(this.#context, this.#output.length, head, extra);
    const { encrypted_content: carried, ...empty } = item;
    this.#chars += String(carried).length;
    this.#add(empty);
    this.#done(item);
  }

  #endCall(open: OpenToolCall, status: ItemStatus): void {
    const { head } = open;
    const place = { item_id: head.id, output_index: this.#output.length };
    const given = open.text.whole();
    const input = callText(head, given, status);
    if (head.type === "function_call") {
      if (given === "") this.input(input);
      const done = { ...place, name: head.name, arguments: input };
      this.#events.write("response.function_call_arguments.done", done);
      this.#done(callItem(head, input, status));
      return;
    }
    if (input !== "")
      this.#events.content("response.custom_tool_call_input.delta", { ...place, delta: input });
    this.#events.write("response.custom_tool_call_input.done", { ...place, input });
    this.#done(callItem(head, input, status));
  }
}
