// The state machine for chat streams: it is fed with the provider's events and decides what the client
// receives. Pure. It passes an event's own bytes unless something must change. Of several usages the last one
// counts; none are summed.
//
// Usage for the client: a chunk that carries usage and no choices goes only to a client that requested it.
// Usage on a chunk with choices (some hosts put it on the last one, or on all) is removed for a client that
// did not request it. `"usage":null`, which the gateway's own request for usage causes, stays, since its
// removal would rewrite every event. `[DONE]` is returned as `done` and not passed, because the charge
// precedes it.

import { frame } from "../../sse/sse-writer.ts";
import { DeltaFastPath } from "../delta-fast-path.ts";
import type {
  ModelAlias,
  NonTokenUsage,
  StreamError,
  StreamListener,
  StreamMachine,
  StreamOptions,
  StreamStep,
} from "../dialect.ts";
import { parseEventJson } from "../event-json.ts";
import { isObject, type Json } from "../json.ts";
import { repeats } from "../model-alias.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";
import { DROP_EVENT, EventStream, PASS_CONTENT_EVENT } from "../stream-machine.ts";
import { CITED, citesTheWeb, collectTexts, isErrorBody } from "./chat-answer.ts";

const encoder = new TextEncoder();

/** Creates the machine for one stream. `listener` receives each event that is read. */
export const createChatStream = (options: StreamOptions, listener?: StreamListener): StreamMachine =>
  new ChatStream(options, listener);

class ChatStream extends EventStream {
  readonly #includeUsage: boolean;
  readonly #fingerprint: string | null;
  readonly #alias: ModelAlias | null;
  readonly #listener: StreamListener | undefined;
  /** The gateway's fingerprint as a field of an event; empty when none is set. */
  readonly #fingerprintField: string;
  readonly #fastPath = new DeltaFastPath();
  /** Whether events that match the fast path need the gateway's fingerprint. */
  #insertsFingerprint = false;
  /** Indexes of the choices that have begun, and of those that have a finish reason. */
  readonly #begun = new Set<unknown>();
  readonly #finished = new Set<unknown>();
  usage: unknown = null;
  serviceTier: string | null = null;
  model: string | null = null;
  #citesTheWeb = false;
  #chunks = 0;

  constructor({ includeUsage, fingerprint, alias = null }: StreamOptions, listener?: StreamListener) {
    super(false);
    this.#includeUsage = includeUsage;
    this.#fingerprint = fingerprint;
    this.#alias = alias;
    this.#listener = listener;
    this.#fingerprintField =
      fingerprint === null ? "" : `"system_fingerprint":${JSON.stringify(fingerprint)}`;
  }

  override feedData(data: string, name: string): StreamStep {
    if (this.ended !== null) return DROP_EVENT;
    if (name !== "") return this.read(name, data, false);
    const text = this.#fastPath.read(data);
    if (text === null) return this.read("", data, false);
    this.#chunks++;
    this.generated.add(text);
    this.#listener?.repeated([text]);
    return this.#insertsFingerprint
      ? { kind: "pass", bytes: frame("", this.#withFingerprint(data)), content: true }
      : PASS_CONTENT_EVENT;
  }

  feedRun(text: string, from: number): { readonly step: StreamStep; readonly end: number } | null {
    const run = this.ended === null ? this.#fastPath.run(text, from) : null;
    if (run === null) return null;
    const { texts, joined, end } = run;
    this.#chunks += texts.length;
    this.generated.add(joined);
    this.#listener?.repeated(texts);
    return { step: this.#insertsFingerprint ? this.#runWithFingerprint(texts) : PASS_CONTENT_EVENT, end };
  }

  outcome(clean: boolean): "complete" | "broken" | "empty" {
    if (this.ended === "error") return "broken";
    if (this.#chunks === 0) return "empty";
    if (this.ended === "done") return "complete";
    const isFinished = this.#finished.size > 0 && this.#finished.size >= this.#begun.size;
    return clean && isFinished ? "complete" : "broken";
  }

  get measured(): NonTokenUsage {
    return this.#citesTheWeb ? CITED : NO_NON_TOKEN_USAGE;
  }

  protected read(name: string, data: string, cut: boolean, raw: Uint8Array | null = null): StreamStep {
    // The SDKs throw on a named event without data.
    if (data === "") return DROP_EVENT;
    if (data.startsWith("[DONE]")) return this.finish(frame("", data));
    const chunk = parseEventJson(data);
    if (!isObject(chunk)) return cut ? DROP_EVENT : this.fail(data);
    return this.#readChunk(name, data, chunk, raw);
  }

  #readChunk(name: string, data: string, chunk: Json, raw: Uint8Array | null): StreamStep {
    if (isErrorBody(chunk) || name === "error") return this.fail(data);
    this.#chunks++;
    if (typeof chunk.service_tier === "string") this.serviceTier = chunk.service_tier;
    if (typeof chunk.model === "string") this.model = chunk.model;
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    const hasUsage = typeof chunk.usage === "object" && chunk.usage !== null;
    if (hasUsage) this.usage = chunk.usage;
    let content = false;
    for (const choice of choices) if (this.#readChoice(choice)) content = true;
    if (content) this.delivered = true;
    const dropsUsage = hasUsage && !this.#includeUsage;
    if (dropsUsage && choices.length === 0) return DROP_EVENT;
    const bytes = this.#bytesOf(name, data, chunk, dropsUsage, raw);
    const isRewritten = bytes !== null && ("system_fingerprint" in chunk || repeats(chunk, this.#alias));
    const text = content && !hasUsage && !isRewritten ? onlyContent(choices) : null;
    const isPattern = text !== null && this.#fastPath.train(data, "content", text);
    if (isPattern) this.#insertsFingerprint = bytes !== null;
    this.#listener?.event(chunk, "", isPattern);
    return { kind: "pass", bytes, content };
  }

  /** Records what a choice reports. Returns whether it carries anything generated. */
  #readChoice(choice: unknown): boolean {
    if (typeof choice !== "object" || choice === null) return false;
    const { index, delta, text, finish_reason: finish } = choice as Json;
    this.#begun.add(index);
    if (typeof finish === "string" && finish !== "") this.#finished.add(index);
    const texts: string[] = [];
    if (typeof text === "string" && text !== "") texts.push(text);
    this.#citesTheWeb ||= citesTheWeb(delta);
    const isDelta = typeof delta === "object" && delta !== null;
    if (isDelta) collectTexts(delta as Json, texts);
    for (const one of texts) this.generated.add(one);
    return texts.length > 0 || (isDelta && isSilentContent(delta as Json));
  }

  /** Returns the bytes to send instead of the event, or null to send it unchanged. */
  #bytesOf(
    name: string,
    data: string,
    chunk: Json,
    dropsUsage: boolean,
    raw: Uint8Array | null,
  ): Uint8Array | null {
    const fingerprint = this.#fingerprint;
    const lacksFingerprint = fingerprint !== null && (chunk.system_fingerprint ?? null) === null;
    const alias = repeats(chunk, this.#alias) ? this.#alias : null;
    if (!lacksFingerprint && !dropsUsage && alias === null) return null;
    if (dropsUsage || alias !== null || "system_fingerprint" in chunk) {
      const { usage: _, ...rest } = chunk;
      const kept = {
        ...(dropsUsage ? rest : chunk),
        ...(lacksFingerprint ? { system_fingerprint: fingerprint } : {}),
        ...(alias === null ? {} : { model: alias.model }),
      };
      return frame(name, JSON.stringify(kept));
    }
    // Data of several lines would need one `data:` field per line, so it is written again as one line.
    if (data.includes("\n"))
      return frame(name, JSON.stringify({ ...chunk, system_fingerprint: fingerprint }));
    const isEmpty = Object.keys(chunk).length === 0;
    if (isEmpty) return frame(name, `{${this.#fingerprintField}}`);
    const isLarge = data.length > LARGE_CHARS && raw !== null && isOneDataLine(raw);
    return isLarge ? this.#insertedInto(raw) : frame(name, this.#withFingerprint(data));
  }

  /** Does the same in the bytes of an event. */
  #insertedInto(raw: Uint8Array): Uint8Array {
    const brace = raw.indexOf(BRACE) + 1;
    const field = encoder.encode(`${this.#fingerprintField},`);
    return Buffer.concat([raw.subarray(0, brace), field, raw.subarray(brace)]);
  }

  /** Inserts the gateway's fingerprint before the first field of a chunk. The chunk must have fields. */
  #withFingerprint(data: string): string {
    const brace = data.indexOf("{") + 1;
    return `${data.slice(0, brace)}${this.#fingerprintField},${data.slice(brace)}`;
  }

  #runWithFingerprint(texts: readonly string[]): StreamStep {
    const head = `data: ${this.#withFingerprint(this.#fastPath.before)}`;
    const tail = `${this.#fastPath.after}\n\n`;
    return { kind: "pass", bytes: encoder.encode(head + texts.join(tail + head) + tail), content: true };
  }
}

/** Characters of an event that is changed in its bytes, because writing its text takes several copies of it. */
const LARGE_CHARS = 65_536;
const BRACE = 123;
const LF = 10;

/** Whether an event consists of one `data:` line. */
const isOneDataLine = (raw: Uint8Array): boolean =>
  Buffer.from(raw.buffer, raw.byteOffset, 5).toString("latin1") === "data:" &&
  raw.indexOf(LF) === raw.length - 2;

/**
 * Whether a delta has generated content without text to count: a call's first fragment, audio, opaque
 * reasoning.
 */
function isSilentContent(delta: Json): boolean {
  return (
    isFilled(delta.tool_calls) ||
    isFilled(delta.content) ||
    isFilled(delta.reasoning_details) ||
    (typeof delta.audio === "object" && delta.audio !== null) ||
    (typeof delta.function_call === "object" && delta.function_call !== null)
  );
}

/**
 * Returns the content of a chunk with one unfinished choice that holds only content. Returns null for other
 * chunks.
 */
function onlyContent(choices: readonly unknown[]): string | null {
  if (choices.length !== 1) return null;
  const { delta, text, finish_reason: finish } = choices[0] as Json;
  if ((finish ?? "") !== "" || (text ?? "") !== "" || typeof delta !== "object" || delta === null)
    return null;
  const { content, role: _, ...rest } = delta as Json;
  const alone = Object.values(rest).every(
    (value) => value === null || value === "" || (Array.isArray(value) && value.length === 0),
  );
  return typeof content === "string" && content !== "" && alone ? content : null;
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** The closing event for a provider that ended well without one. */
export const CHAT_DONE = frame("", "[DONE]");

/** Returns the event that reports an error inside a chat stream. */
export const chatStreamError = ({ message, type, code, details }: StreamError): Uint8Array =>
  frame("", JSON.stringify({ error: { message, type, code, details } }));
