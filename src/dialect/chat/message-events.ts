// Rewrites a chat stream to the shape that a client selects by `x-stream-shape: message`: each event has the
// shape of a whole answer, with the text of this event only as `message.content`, an empty finish_reason, and
// the usage so far. It wraps any machine that writes chat events, including that of a translation. Pure.
//
//   inner machine writes             client receives
//   a chunk with choices             an event with deltas as messages; usage is estimated until reported
//   only a finish reason or usage    nothing yet: it is kept for the last event
//   [DONE], or a good end            the last event, with finish reasons and reported usage; then [DONE]
//   comments, errors                 the same, unchanged

import { completionTokens, promptTokens } from "../../../actors/pricing/usage.ts";
import { type SseEvent, SseReader } from "../../sse/sse-reader.ts";
import { frame } from "../../sse/sse-writer.ts";
import type { NonTokenUsage, StreamMachine, StreamStep } from "../dialect.ts";
import { parseEventJson } from "../event-json.ts";
import { isObject, type Json } from "../json.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import { DROP_EVENT } from "../stream-machine.ts";
import { readUsage } from "../usage.ts";
import { CHAT_DONE } from "./chat-stream.ts";

/** The inner machine has already bounded its events. */
const UNBOUNDED = { maxEventBytes: Number.MAX_SAFE_INTEGER };
const NO_BOUNDS = { contextWindow: 0, outputLimit: 0 };
const CHARS_PER_TOKEN = 4;
const NOTHING = new Uint8Array(0);

/**
 * Wraps `inner`, which must be created with `includeUsage`. `prompt` is the estimated number of prompt
 * tokens.
 */
export const messageEvents = (inner: StreamMachine, prompt: number): StreamMachine =>
  new MessageEvents(inner, prompt);

class MessageEvents implements StreamMachine {
  readonly #inner: StreamMachine;
  readonly #promptTokens: number;
  /** By index, the finish reasons of the choices that have one. */
  readonly #finished = new Map<unknown, string>();
  /** Fields that all events have in common. */
  #head: Json = { object: "chat.completion" };
  /** The last usage that the provider reported. */
  #reported: Json | null = null;
  #closed = false;

  constructor(inner: StreamMachine, promptTokens: number) {
    this.#inner = inner;
    this.#promptTokens = promptTokens;
  }

  feed(event: SseEvent): StreamStep {
    return this.#stepOf(this.#inner.feed(event), event.name, event.data);
  }

  feedData(data: string, name: string): StreamStep {
    return this.#stepOf(this.#inner.feedData(data, name), name, data);
  }

  outcome(clean: boolean): "complete" | "broken" | "empty" {
    return this.#inner.outcome(clean);
  }

  closing(): Uint8Array {
    return this.#rewriteAll(this.#inner.closing?.() ?? CHAT_DONE);
  }

  get usage(): unknown {
    return this.#inner.usage;
  }

  get serviceTier(): string | null {
    return this.#inner.serviceTier;
  }

  get model(): string | null {
    return this.#inner.model ?? null;
  }

  get delivered(): boolean {
    return this.#inner.delivered;
  }

  get chars(): number {
    return this.#inner.chars;
  }

  texts(): readonly string[] {
    return this.#inner.texts();
  }

  get measured(): NonTokenUsage {
    return this.#inner.measured ?? NO_NON_TOKEN_USAGE;
  }

  #stepOf(step: StreamStep, name: string, data: string | null): StreamStep {
    if (step.kind === "done") return { kind: "done", bytes: this.#rewriteAll(step.bytes) };
    if (step.kind !== "pass" || (step.bytes === null && data === null)) return step;
    const bytes = step.bytes === null ? this.#rewritten(name, data!) : this.#rewriteAll(step.bytes);
    return bytes.length === 0 && !step.content ? DROP_EVENT : { ...step, bytes };
  }

  #rewriteAll(bytes: Uint8Array): Uint8Array {
    const events = new SseReader(UNBOUNDED).push(bytes);
    return Buffer.concat(
      events.map(({ name, data, raw }) => (data === null ? raw : this.#rewritten(name, data))),
    );
  }

  #rewritten(name: string, data: string): Uint8Array {
    if (data.startsWith("[DONE]")) return this.#lastEvents();
    const chunk = parseEventJson(data);
    if (!isObject(chunk)) return NOTHING;
    if (chunk.error) return frame(name, data);
    const { choices, usage, ...rest } = chunk;
    if (isCounted(usage)) this.#reported = usage;
    this.#head = { ...rest, object: "chat.completion" };
    const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
    const messages = all.filter(isObject).flatMap((choice) => this.#messageIn(choice));
    return messages.length === 0 ? NOTHING : this.#event(messages);
  }

  /** Returns a choice as a message; empty when it carries only a finish reason. */
  #messageIn({ delta, finish_reason: reason, ...rest }: Json): readonly Json[] {
    const message = isObject(delta) ? delta : {};
    const ends = typeof reason === "string" && reason !== "";
    if (ends) this.#finished.set(rest.index, reason);
    const { role: _, ...fields } = message;
    if (ends && Object.values(fields).every((value) => value === null || value === "")) return [];
    return [{ ...rest, message: messageOf(message), finish_reason: "" }];
  }

  /** The event with the finish reasons, and the closing one; empty when they were sent before. */
  #lastEvents(): Uint8Array {
    if (this.#closed) return NOTHING;
    this.#closed = true;
    const ends = this.#finished.size === 0 ? [[0, "stop"] as const] : [...this.#finished];
    const choices = ends.map(([index, reason]) => ({ index, message: messageOf({}), finish_reason: reason }));
    return Buffer.concat([this.#event(choices), CHAT_DONE]);
  }

  #event(choices: readonly Json[]): Uint8Array {
    return frame("", JSON.stringify({ ...this.#head, choices, usage: this.#usageSoFar() }));
  }

  #usageSoFar(): Json {
    if (this.#reported !== null) return this.#reported;
    const completion = Math.ceil(this.#inner.chars / CHARS_PER_TOKEN);
    return {
      prompt_tokens: this.#promptTokens,
      completion_tokens: completion,
      total_tokens: this.#promptTokens + completion,
    };
  }
}

const messageOf = (delta: Json): Json => ({ role: "assistant", ...delta, content: delta.content ?? "" });

/**
 * Whether a usage counts. Some hosts send figures of zero before the end, which mean that it is not known
 * yet.
 */
function isCounted(given: unknown): given is Json {
  const usage = isObject(given) ? readUsage("chat", given, NO_BOUNDS) : null;
  return usage !== null && promptTokens(usage) + completionTokens(usage) > 0;
}
