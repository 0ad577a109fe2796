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
import { createDeltaFastPath } from "../delta-fast-path.ts";
import type { StreamError, StreamListener, StreamMachine, StreamOptions, StreamStep } from "../dialect.ts";
import { type Json, parseJson } from "../json.ts";
import { repeats } from "../model-alias.ts";
import { createFeed, DROP_EVENT, PASS_CONTENT_EVENT } from "../stream-machine.ts";
import { createTextBuffer } from "../text-buffer.ts";
import { citesTheWeb, collectTexts, isErrorBody } from "./chat-answer.ts";

const encoder = new TextEncoder();

/** Creates the machine for one stream. `listener` receives each event that is read. */
export function createChatStream(
  { includeUsage, fingerprint, alias = null }: StreamOptions,
  listener?: StreamListener,
): StreamMachine {
  const splice = fingerprint === null ? "" : `"system_fingerprint":${JSON.stringify(fingerprint)}`;
  const begun = new Set<unknown>();
  const finished = new Set<unknown>();
  const pieces = createTextBuffer();
  let usage: unknown = null;
  let serviceTier: string | null = null;
  let model: string | null = null;
  let cites = false;
  let chunks = 0;
  let delivered = false;
  let over: "done" | "error" | null = null;
  const shortcut = createDeltaFastPath();
  /** Whether chunks that match the fast path need the gateway's fingerprint. */
  let learntSplices = false;

  const feed = createFeed({ isOver: () => over !== null, namesNeedData: false, read, fail });

  function read(name: string, data: string, cut: boolean): StreamStep {
    // The SDKs throw on a named event without data.
    if (data === "") return DROP_EVENT;
    if (data.startsWith("[DONE]")) {
      over = "done";
      return { kind: "done", bytes: frame("", data) };
    }
    const chunk = parseJson(data);
    if (typeof chunk !== "object" || chunk === null || Array.isArray(chunk))
      return cut ? DROP_EVENT : fail(data);
    return feedChunk(name, data, chunk as Json);
  }

  function feedData(data: string, name: string): StreamStep {
    if (over !== null) return DROP_EVENT;
    if (name !== "") return read(name, data, false);
    const said = shortcut.read(data);
    if (said === null) return read("", data, false);
    chunks++;
    pieces.add(said);
    listener?.again(said);
    return learntSplices
      ? { kind: "pass", bytes: frame("", spliced(data)), content: true }
      : PASS_CONTENT_EVENT;
  }

  function feedRun(text: string, from: number): ReturnType<NonNullable<StreamMachine["feedRun"]>> {
    const run = over === null ? shortcut.run(text, from) : null;
    if (run === null) return null;
    const { words, said, end } = run;
    chunks += words.length;
    pieces.add(said);
    if (listener !== undefined) for (const one of words) listener.again(one);
    return { step: learntSplices ? splicedRun(words) : PASS_CONTENT_EVENT, end };
  }

  function splicedRun(words: readonly string[]): StreamStep {
    const head = `data: ${spliced(shortcut.before)}`;
    const tail = `${shortcut.after}\n\n`;
    return { kind: "pass", bytes: encoder.encode(head + words.join(tail + head) + tail), content: true };
  }

  function feedChunk(name: string, data: string, chunk: Json): StreamStep {
    if (isErrorBody(chunk) || name === "error") return fail(data);
    chunks++;
    if (typeof chunk.service_tier === "string") serviceTier = chunk.service_tier;
    if (typeof chunk.model === "string") model = chunk.model;
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    const hasUsage = typeof chunk.usage === "object" && chunk.usage !== null;
    if (hasUsage) usage = chunk.usage;
    let content = false;
    for (const choice of choices) if (readChoice(choice)) content = true;
    if (content) delivered = true;
    if (hasUsage && !includeUsage && choices.length === 0) return DROP_EVENT;
    const bytes = bytesOf(name, data, chunk, hasUsage && !includeUsage);
    const isWrittenAnew = bytes !== null && ("system_fingerprint" in chunk || repeats(chunk, alias));
    const alike = content && !hasUsage && !isWrittenAnew;
    const said = alike ? onlyContent(choices) : null;
    const learnt = said !== null && shortcut.train(data, "content", said);
    if (learnt) learntSplices = bytes !== null;
    listener?.event(chunk, "", learnt);
    return { kind: "pass", bytes, content };
  }

  function readChoice(choice: unknown): boolean {
    if (typeof choice !== "object" || choice === null) return false;
    const { index, delta, text, finish_reason: finish } = choice as Json;
    begun.add(index);
    if (typeof finish === "string" && finish !== "") finished.add(index);
    const texts: string[] = [];
    if (typeof text === "string" && text !== "") texts.push(text);
    const isDelta = typeof delta === "object" && delta !== null;
    cites ||= citesTheWeb(delta);
    if (isDelta) collectTexts(delta as Json, texts);
    for (const one of texts) pieces.add(one);
    return texts.length > 0 || (isDelta && isSilentContent(delta as Json));
  }

  /** Returns the bytes to send instead of the event, or null to send it unchanged. */
  function bytesOf(name: string, data: string, chunk: Json, dropUsage: boolean): Uint8Array | null {
    const lacksPrint = splice !== "" && (chunk.system_fingerprint ?? null) === null;
    const isAlias = repeats(chunk, alias);
    if (!lacksPrint && !dropUsage && !isAlias) return null;
    if (dropUsage || isAlias || "system_fingerprint" in chunk) {
      const { usage: _, ...rest } = chunk;
      const kept = {
        ...(dropUsage ? rest : chunk),
        ...(lacksPrint ? { system_fingerprint: fingerprint } : {}),
        ...(isAlias ? { model: alias.model } : {}),
      };
      return frame(name, JSON.stringify(kept));
    }
    // Data of several lines would need one `data:` field per line, so it is written again as one line.
    if (data.includes("\n"))
      return frame(name, JSON.stringify({ ...chunk, system_fingerprint: fingerprint }));
    return Object.keys(chunk).length === 0 ? frame(name, `{${splice}}`) : frame(name, spliced(data));
  }

  /** Inserts the gateway's fingerprint before the first field of a chunk. The chunk must have fields. */
  function spliced(data: string): string {
    const brace = data.indexOf("{") + 1;
    return `${data.slice(0, brace)}${splice},${data.slice(brace)}`;
  }

  function fail(text: string): StreamStep {
    over = "error";
    return { kind: "error", text };
  }

  function outcome(clean: boolean): "complete" | "broken" | "empty" {
    if (over === "error") return "broken";
    if (chunks === 0) return "empty";
    if (over === "done") return "complete";
    return clean && finished.size > 0 && finished.size >= begun.size ? "complete" : "broken";
  }

  return {
    feed,
    feedData,
    feedRun,
    outcome,
    get usage() {
      return usage;
    },
    get serviceTier() {
      return serviceTier;
    },
    get model() {
      return model;
    },
    get measured() {
      return cites ? { webSearches: 1 } : {};
    },
    get delivered() {
      return delivered;
    },
    get chars() {
      return pieces.chars;
    },
    texts: pieces.texts,
  };
}

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
