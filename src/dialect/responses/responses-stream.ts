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
  NonTokenUsage,
  StreamError,
  StreamListener,
  StreamMachine,
  StreamOptions,
  StreamStep,
} from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { repeats } from "../model-alias.ts";
import { createFeed, DROP_EVENT, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { createTextBuffer } from "../text-buffer.ts";
import { collectItem, ItemUses, isCall } from "./responses-answer.ts";
import { madeBy } from "./responses-objects.ts";

const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Replaces the provider's message, which may name the provider's account. */
const FAILED = "The provider failed while it was answering.";

/** Limit of ids that are recorded for one answer. */
const IDS_MAX = 1_000;

/** Fields in which the final event of a part holds the complete text. */
const SAID = ["text", "refusal", "arguments", "input", "code"] as const;

/** Creates the machine for one stream. `listener` receives each event that is read. */
export function createResponsesStream(options?: StreamOptions, listener?: StreamListener): StreamMachine {
  const alias = options?.alias ?? null;
  const pieces = createTextBuffer();
  /** Output indexes of items whose text has arrived in deltas. */
  const spoken = new Set<unknown>();
  const made = new Set<string>();
  let usage: unknown = null;
  let serviceTier: string | null = null;
  let model: string | null = null;
  /** Uses in items that have ended; `restated` are those in the last event, which repeats the items. */
  const uses = new ItemUses();
  let restated = new ItemUses();
  let nextNumber = 0;
  let begun = false;
  let delivered = false;
  let over: "done" | "error" | null = null;

  const feed = createFeed({ isOver: () => over !== null, namesNeedData: true, read, fail });

  /** `raw` are the event's own bytes; null means that `frame` must make them. */
  function read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep {
    if (data === "" || data.startsWith("[DONE]")) return DROP_EVENT;
    const event = parseJson(data);
    if (!isObject(event)) return cut ? DROP_EVENT : fail(data);
    if (name === "error" || isStreamError(event)) return fail(data);
    const type = typeof event.type === "string" ? event.type : name;
    begun = true;
    if (Number.isSafeInteger(event.sequence_number)) nextNumber = (event.sequence_number as number) + 1;
    const response = isObject(event.response) ? event.response : {};
    learnIds(isObject(event.response) ? madeBy(event.response) : []);
    if (isObject(event.item)) learnIds(madeBy({ output: [event.item] }));
    if (typeof response.model === "string") model = response.model;
    if (typeof response.service_tier === "string") serviceTier = response.service_tier;
    const content = take(type, event);
    if (content) delivered = true;
    listener?.event(event, type, false);
    const bytes = retold(name, event, response);
    if (LAST.has(type)) return end(type, response, bytes ?? raw ?? frame(name, data));
    if (bytes !== null) return { kind: "pass", bytes, content };
    return content ? PASS_CONTENT_EVENT : PASS_EVENT;
  }

  /**
   * Returns the event with the client's model name and a neutral failure message, or null if it is unchanged.
   */
  function retold(name: string, event: Json, response: Json): Uint8Array | null {
    const model = repeats(response, alias) ? alias.model : response.model;
    const error = isObject(response.error) ? { ...response.error, message: FAILED } : response.error;
    if (model === response.model && error === response.error) return null;
    return frame(name, JSON.stringify({ ...event, response: { ...response, model, error } }));
  }

  function learnIds(ids: readonly string[]): void {
    for (const id of ids) if (made.size < IDS_MAX) made.add(id);
  }

  /** Records what an event reports. Returns whether it carries anything generated. */
  function take(type: string, event: Json): boolean {
    if (type.endsWith(".delta")) return takeDelta(type, event);
    if (type === "response.output_item.added") return isObject(event.item) && isCall(event.item);
    if (type === "response.output_item.done")
      return isObject(event.item) && takeItem(event.item, event.output_index);
    return (
      type.endsWith(".partial_image") ||
      (type.endsWith(".done") && SAID.some((field) => isText(event[field])))
    );
  }

  function takeDelta(type: string, { delta, output_index: index }: Json): boolean {
    const said = isText(delta)
      ? [delta]
      : isObject(delta)
        ? SAID.map((field) => delta[field]).filter(isText)
        : [];
    if (said.length === 0) return false;
    spoken.add(index);
    // Audio data is not text.
    if (type !== "response.audio.delta") for (const words of said) pieces.add(words);
    return true;
  }

  function takeItem(item: Json, index: unknown): boolean {
    uses.add(item);
    const texts: string[] = [];
    if (!spoken.has(index)) collectItem(item, texts);
    else if (isText(item.name)) texts.push(item.name);
    for (const text of texts) pieces.add(text);
    return texts.length > 0 || isCall(item);
  }

  /**
   * Handles the last event. A failure without delivered content or without usage counts as a provider error.
   */
  function end(type: string, response: Json, bytes: Uint8Array): StreamStep {
    const stated = isObject(response.usage) ? response.usage : null;
    if (type === "response.failed" && (stated === null || !delivered)) return fail(errorText(response.error));
    const output: readonly unknown[] = Array.isArray(response.output) ? response.output : [];
    usage = stated;
    restated = new ItemUses(output);
    const texts: string[] = [];
    // Some hosts send all text in the last event.
    if (pieces.chars === 0) for (const item of output) collectItem(item, texts);
    for (const text of texts) pieces.add(text);
    over = "done";
    return { kind: "done", bytes };
  }

  function fail(text: string): StreamStep {
    over = "error";
    return { kind: "error", text };
  }

  return {
    feed,
    feedData: (data, name) => (over === null ? read(name, data, false, null) : DROP_EVENT),
    outcome: () => (over === "done" ? "complete" : begun || over === "error" ? "broken" : "empty"),
    get usage() {
      return usage;
    },
    get serviceTier() {
      return serviceTier;
    },
    get delivered() {
      return delivered;
    },
    get chars() {
      return pieces.chars;
    },
    texts: pieces.texts,
    made,
    get model() {
      return model;
    },
    get measured() {
      return measuredMost(uses.measured, restated.measured);
    },
    streamError: (error) => responsesStreamError(error, nextNumber),
  };
}

/** Returns the larger of both figures for each kind of use. */
function measuredMost(one: NonTokenUsage, other: NonTokenUsage): NonTokenUsage {
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
