// The state machine for messages streams: it is fed with the provider's events and decides what the client
// receives. Pure. It passes an event's own bytes unless something must change; pings and unknown events pass
// too.
//
//   event                          effect
//   an event without a name        gets the name in its data, because clients drop unnamed events
//   message_start                  starts the usage, except for output_tokens, which is a placeholder
//   message_delta                  each usage field replaces the earlier one: they are running totals
//   message_stop                   returned as `done`, because the charge precedes it
//   [DONE], sent by some hosts     dropped; after a stop reason it replaces a missing message_stop
//   an error, or data not JSON     ends the stream

import { frame } from "../../sse/sse-writer.ts";
import { DeltaFastPath } from "../delta-fast-path.ts";
import type { NonTokenUsage, StreamListener, StreamMachine, StreamOptions, StreamStep } from "../dialect.ts";
import { parseEventJson } from "../event-json.ts";
import { isObject, type Json } from "../json.ts";
import { DROP_EVENT, EventStream, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { BlockUses, collectBlock, collectDelta, isMessagesError, tierOf } from "./messages-answer.ts";

/** The most frequent event of a stream. */
const DELTA = "content_block_delta";

/** The closing event for a provider that ended well without one. */
export const MESSAGE_STOP = frame("message_stop", '{"type":"message_stop"}');

/** Form of an event name; a type of another form could break out of the `event:` line. */
const NAME = /^[\w.-]{1,100}$/;

/** Creates the machine for one stream. `listener` receives each event that is read. */
export const createMessagesStream = (_?: StreamOptions, listener?: StreamListener): StreamMachine =>
  new MessagesStream(listener);

class MessagesStream extends EventStream {
  readonly #listener: StreamListener | undefined;
  readonly #fastPath = new DeltaFastPath(`event: ${DELTA}\ndata: `);
  /** Whether the fast path has learned the current event. */
  #isPattern = false;
  /** Indexes of the blocks that are open. */
  readonly #open = new Set<unknown>();
  readonly #uses = new BlockUses();
  model: string | null = null;
  #usage: Json | null = null;
  /** Whether output_tokens have been reported; those of message_start do not count. */
  #hasOutputTokens = false;
  /** Whether a stop reason has arrived. */
  #hasStopReason = false;
  #begun = false;

  constructor(listener: StreamListener | undefined) {
    super(true);
    this.#listener = listener;
  }

  override feedData(data: string, name: string): StreamStep {
    if (this.ended !== null) return DROP_EVENT;
    const text = name === DELTA ? this.#fastPath.read(data) : null;
    if (text === null) return this.read(name, data, false, null);
    this.generated.add(text);
    this.#listener?.repeated([text]);
    return PASS_CONTENT_EVENT;
  }

  feedRun(text: string, from: number): { readonly step: StreamStep; readonly end: number } | null {
    const run = this.ended === null ? this.#fastPath.run(text, from) : null;
    if (run === null) return null;
    this.generated.add(run.joined);
    this.#listener?.repeated(run.texts);
    return { step: PASS_CONTENT_EVENT, end: run.end };
  }

  outcome(clean: boolean): "complete" | "broken" | "empty" {
    if (this.ended === "error") return "broken";
    if (!this.#begun) return "empty";
    if (this.ended === "done") return "complete";
    return clean && this.#hasStopReason && this.#open.size === 0 ? "complete" : "broken";
  }

  get usage(): unknown {
    // Without output_tokens the usage of a finished answer is missing; otherwise its output would be free.
    const isFinished = this.ended === "done" || this.#hasStopReason;
    return isFinished && !this.#hasOutputTokens ? null : this.#usage;
  }

  get serviceTier(): string | null {
    return tierOf(this.#usage);
  }

  get measured(): NonTokenUsage {
    return this.#uses.measured;
  }

  protected read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep {
    if (data === "") return DROP_EVENT;
    if (data.startsWith("[DONE]")) return this.#hasStopReason ? this.finish(MESSAGE_STOP) : DROP_EVENT;
    const event = parseEventJson(data);
    if (!isObject(event)) return cut ? DROP_EVENT : this.fail(data);
    if (name === "error" || isMessagesError(event)) return this.fail(data);
    const type = typeof event.type === "string" && NAME.test(event.type) ? event.type : name;
    if (type !== "ping") this.#begun = true;
    this.#isPattern = false;
    const content = this.#readEvent(type, event, data);
    this.#listener?.event(event, type, this.#isPattern);
    if (content) this.delivered = true;
    const named = name === "" && type !== "" ? frame(type, data) : null;
    if (type === "message_stop") return this.finish(named ?? raw ?? frame(name, data));
    if (named !== null) return { kind: "pass", bytes: named, content };
    return content ? PASS_CONTENT_EVENT : PASS_EVENT;
  }

  /** Records what an event reports. Returns whether it carries anything generated. */
  #readEvent(type: string, event: Json, data: string): boolean {
    switch (type) {
      case "message_start":
        if (isObject(event.message)) this.#readStart(event.message);
        return false;
      case "content_block_start":
        this.#open.add(event.index);
        return isObject(event.content_block) && this.#readBlock(event.content_block);
      case DELTA:
        return isObject(event.delta) && this.#readDelta(event.delta, data);
      case "content_block_stop":
        this.#open.delete(event.index);
        return false;
      case "message_delta":
        if (isObject(event.delta) && (event.delta.stop_reason ?? null) !== null) this.#hasStopReason = true;
        this.#mergeUsage(event.usage);
        return false;
      default:
        return false;
    }
  }

  /** Omits the placeholder for output_tokens, because some hosts never report the real number. */
  #readStart({ usage, model }: Json): void {
    if (typeof model === "string") this.model = model;
    if (!isObject(usage)) return;
    const { output_tokens: _, ...rest } = usage;
    this.#usage = { ...this.#usage, ...rest };
  }

  #mergeUsage(usage: unknown): void {
    if (!isObject(usage)) return;
    const present = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(present) };
    if ("output_tokens" in this.#usage) this.#hasOutputTokens = true;
  }

  #readBlock(block: Json): boolean {
    const texts: string[] = [];
    collectBlock(block, texts);
    this.#uses.add(block);
    for (const one of texts) this.generated.add(one);
    return texts.length > 0 || (block.type !== "text" && block.type !== "thinking");
  }

  #readDelta(delta: Json, data: string): boolean {
    const texts: string[] = [];
    collectDelta(delta, texts);
    for (const one of texts) this.generated.add(one);
    const [text = ""] = texts;
    if (texts.length === 1) this.#train(delta, data, text);
    return (
      texts.length > 0 || Object.entries(delta).some(([field, value]) => field !== "type" && isFilled(value))
    );
  }

  /** Trains the fast path, but not on calls, whose JSON is full of quotes. */
  #train(delta: Json, data: string, text: string): void {
    if (delta.text === text) this.#isPattern = this.#fastPath.train(data, "text", text);
    else if (delta.thinking === text) this.#isPattern = this.#fastPath.train(data, "thinking", text);
  }
}

/**
 * Whether a field has generated content, even without text to count: a signature, a citation, or an unknown
 * kind.
 */
const isFilled = (value: unknown): boolean =>
  (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null);
