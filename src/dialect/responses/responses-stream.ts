// The state machine for responses streams: it is fed with the provider's events and decides what the client
// receives. Pure. Every event passes unchanged, except that the provider's name of the model and the message
// of a failure are replaced.
//
//   event                                   effect
//   response.completed, .incomplete         returned as `done`, because the charge precedes it; has the usage
//   response.failed                         the same if it delivered content and has usage; else an error
//   error, a body with an error, not JSON   ends the stream
//   [DONE], sent by some hosts              dropped; it does not end the stream
//   an end without any of these             the answer is broken, because its last event cannot be made up

import { frame } from "../../sse/sse-writer.ts";
import type {
  ModelAlias,
  NonTokenUsage,
  StreamError,
  StreamListener,
  StreamMachine,
  StreamOptions,
  StreamStep,
} from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { parseEventJson } from "../event-json.ts";
import { isObject, type Json } from "../json.ts";
import { repeats } from "../model-alias.ts";
import { DROP_EVENT, EventStream, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { collectItem, ItemUses, isCall } from "./responses-answer.ts";
import { madeBy } from "./responses-objects.ts";

const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Replaces the provider's message, which may name the provider's account. */
const FAILED = "The provider failed while it was answering.";

/** Limit of ids that are recorded for one answer. */
const IDS_MAX = 1_000;

/** Fields in which the final event of a part holds the complete text. */
const TEXT_FIELDS = ["text", "refusal", "arguments", "input", "code"] as const;

/** Creates the machine for one stream. `listener` receives each event that is read. */
export const createResponsesStream = (options?: StreamOptions, listener?: StreamListener): StreamMachine =>
  new ResponsesStream(options?.alias ?? null, listener);

class ResponsesStream extends EventStream {
  readonly #alias: ModelAlias | null;
  readonly #listener: StreamListener | undefined;
  /** Output indexes of items whose text has arrived in deltas. */
  readonly #streamed = new Set<unknown>();
  readonly made = new Set<string>();
  usage: unknown = null;
  serviceTier: string | null = null;
  model: string | null = null;
  /** Uses in items that have ended; `#finalUses` are those in the last event, which repeats the items. */
  readonly #uses = new ItemUses();
  #finalUses = new ItemUses();
  #nextNumber = 0;
  #begun = false;

  constructor(alias: ModelAlias | null, listener: StreamListener | undefined) {
    super(true);
    this.#alias = alias;
    this.#listener = listener;
  }

  outcome(): "complete" | "broken" | "empty" {
    if (this.ended === "done") return "complete";
    return this.#begun || this.ended === "error" ? "broken" : "empty";
  }

  get measured(): NonTokenUsage {
    return largerUsage(this.#uses.measured, this.#finalUses.measured);
  }

  streamError(error: StreamError): Uint8Array {
    return responsesStreamError(error, this.#nextNumber);
  }

  protected read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep {
    if (data === "" || data.startsWith("[DONE]")) return DROP_EVENT;
    const event = parseEventJson(data);
    if (!isObject(event)) return cut ? DROP_EVENT : this.fail(data);
    if (name === "error" || isStreamError(event)) return this.fail(data);
    const type = typeof event.type === "string" ? event.type : name;
    this.#begun = true;
    const { sequence_number: number } = event;
    if (typeof number === "number" && Number.isSafeInteger(number)) this.#nextNumber = number + 1;
    const response = isObject(event.response) ? event.response : {};
    this.#addIds(isObject(event.response) ? madeBy(event.response) : []);
    if (isObject(event.item)) this.#addIds(madeBy({ output: [event.item] }));
    if (typeof response.model === "string") this.model = response.model;
    if (typeof response.service_tier === "string") this.serviceTier = response.service_tier;
    const content = this.#readEvent(type, event);
    if (content) this.delivered = true;
    this.#listener?.event(event, type, false);
    const bytes = this.#rewritten(name, event, response);
    if (LAST.has(type)) return this.#readLast(type, response, bytes ?? raw ?? frame(name, data));
    if (bytes !== null) return { kind: "pass", bytes, content };
    return content ? PASS_CONTENT_EVENT : PASS_EVENT;
  }

  /**
   * Returns the event with the client's model name and a neutral failure message, or null if it is unchanged.
   */
  #rewritten(name: string, event: Json, response: Json): Uint8Array | null {
    const model = repeats(response, this.#alias) ? this.#alias.model : response.model;
    const error = isObject(response.error) ? { ...response.error, message: FAILED } : response.error;
    if (model === response.model && error === response.error) return null;
    return frame(name, JSON.stringify({ ...event, response: { ...response, model, error } }));
  }

  #addIds(ids: readonly string[]): void {
    for (const id of ids) if (this.made.size < IDS_MAX) this.made.add(id);
  }

  /** Records what an event reports. Returns whether it carries anything generated. */
  #readEvent(type: string, event: Json): boolean {
    if (type.endsWith(".delta")) return this.#readDelta(type, event);
    if (type === "response.output_item.added") return isObject(event.item) && isCall(event.item);
    if (type === "response.output_item.done")
      return isObject(event.item) && this.#readItem(event.item, event.output_index);
    return (
      type.endsWith(".partial_image") ||
      (type.endsWith(".done") && TEXT_FIELDS.some((field) => isText(event[field])))
    );
  }

  #readDelta(type: string, { delta, output_index: index }: Json): boolean {
    const fields = isObject(delta) ? TEXT_FIELDS.map((field) => delta[field]) : [delta];
    const texts = fields.filter(isText);
    if (texts.length === 0) return false;
    this.#streamed.add(index);
    // Audio data is not text.
    if (type !== "response.audio.delta") for (const text of texts) this.generated.add(text);
    return true;
  }

  #readItem(item: Json, index: unknown): boolean {
    this.#uses.add(item);
    const texts: string[] = [];
    if (!this.#streamed.has(index)) collectItem(item, texts);
    else if (isText(item.name)) texts.push(item.name);
    for (const text of texts) this.generated.add(text);
    return texts.length > 0 || isCall(item);
  }

  /**
   * Handles the last event. A failure without delivered content or without usage counts as a provider error.
   */
  #readLast(type: string, response: Json, bytes: Uint8Array): StreamStep {
    const usage = isObject(response.usage) ? response.usage : null;
    if (type === "response.failed" && (usage === null || !this.delivered)) {
      return this.fail(errorText(response.error));
    }
    const output: readonly unknown[] = Array.isArray(response.output) ? response.output : [];
    this.usage = usage;
    this.#finalUses = new ItemUses(output);
    const texts: string[] = [];
    // Some hosts send all text in the last event.
    if (this.chars === 0) for (const item of output) collectItem(item, texts);
    for (const text of texts) this.generated.add(text);
    return this.finish(bytes);
  }
}

/** Returns the larger of both figures for each kind of use. */
function largerUsage(one: NonTokenUsage, other: NonTokenUsage): NonTokenUsage {
  const names = Object.keys({ ...one.toolUses, ...other.toolUses });
  const uses = names.map((name): [string, number] => [
    name,
    Math.max(one.toolUses?.[name] ?? 0, other.toolUses?.[name] ?? 0),
  ]);
  const webSearches = Math.max(one.webSearches ?? 0, other.webSearches ?? 0);
  return uses.length === 0 ? { webSearches } : { webSearches, toolUses: Object.fromEntries(uses) };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Whether an event is an error. A code and a message count only without a type. */
const isStreamError = (event: Json): boolean =>
  event.type === "error" || statesError(event) || (event.type === undefined && isCodeAndWords(event));

/** Returns the error of a failed response as JSON, without other fields, which may repeat the request. */
function errorText(error: unknown): string {
  const { code = null, message = null } = isObject(error) ? error : {};
  return JSON.stringify({ error: { code: plain(code), message: plain(message) } });
}

const plain = (value: unknown): string | number | null =>
  typeof value === "string" || typeof value === "number" ? value : null;

/** Returns the event that reports a failure. `number` is its sequence number. */
export const responsesStreamError = ({ message, code }: StreamError, number: number): Uint8Array =>
  frame("error", JSON.stringify({ type: "error", code, message, param: null, sequence_number: number }));
