// The chat dialect, streamed: a state machine fed with events, which says what of each goes to the client.
// Pure. Passes an event's own bytes wherever nothing must change. Usage is kept as it came; the last one wins, none is summed.
//
// Usage towards the client: a chunk without choices that carries usage goes only to a client that asked for it. Usage on a
// chunk with choices (some hosts put it on the last one, or on all) stays there for a client that asked, and is taken out for
// one that did not; `"usage":null`, which our own asking causes, stays: it says nothing, and taking it out would rebuild
// every event. `[DONE]` is handed back as `done` and not passed: the charge comes before it.

import type { SseEvent } from "../upstream/sse.ts";
import { collectTexts, isErrorBody, type Json, parseJson } from "./chat.ts";
import { createShortcut } from "./chat-shortcut.ts";

export type ChatStep =
  /** Send `bytes`, null being the event as it came; `content` once it carries anything generated. */
  | { readonly kind: "pass"; readonly bytes: Uint8Array | null; readonly content: boolean }
  | { readonly kind: "withheld" }
  /** The provider's error inside the stream, for `classify` with status 200. The stream is over. */
  | { readonly kind: "error"; readonly text: string }
  /** `[DONE]`: to be sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array };

export interface ChatStream {
  feed(event: SseEvent): ChatStep;
  /** The same for the data of an event that is nothing but one whole `data:` line. */
  feedData(data: string): ChatStep;
  /** How it ended, `clean` being an orderly end of the connection. A cut answer is `broken`. */
  outcome(clean: boolean): "complete" | "broken" | "empty";
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** Finish reasons in the order they came. */
  readonly finishReasons: readonly string[];
  /** Whether anything generated has been passed on. */
  readonly delivered: boolean;
  /** Characters generated so far, and their text up to a bound: for counting when no usage comes. */
  readonly chars: number;
  texts(): readonly string[];
}

export interface ChatStreamOptions {
  /** Whether the client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** What to set as `system_fingerprint` where the provider sends none; null leaves it out. */
  readonly fingerprint: string | null;
}

const TEXT_MAX = 2_000_000;
/** So many pieces are joined into one string: a long stream keeps few strings, and no piece keeps its event alive. */
const PIECES = 128;

const WITHHELD: ChatStep = { kind: "withheld" };
const AS_IT_CAME: ChatStep = { kind: "pass", bytes: null, content: false };
const CONTENT_AS_IT_CAME: ChatStep = { kind: "pass", bytes: null, content: true };
const encoder = new TextEncoder();

/** A machine for one stream. */
export function createChatStream({ includeUsage, fingerprint }: ChatStreamOptions): ChatStream {
  const splice = fingerprint === null ? "" : `"system_fingerprint":${JSON.stringify(fingerprint)}`;
  const finishReasons: string[] = [];
  const begun = new Set<unknown>();
  const finished = new Set<unknown>();
  const joined: string[] = [];
  let pieces: string[] = [];
  let usage: unknown = null;
  let serviceTier: string | null = null;
  let chars = 0;
  let chunks = 0;
  let delivered = false;
  let over: "done" | "error" | null = null;
  const shortcut = createShortcut();
  /** The chunks that the shortcut knows go out with our fingerprint. */
  let learntSplices = false;

  function feed(event: SseEvent): ChatStep {
    if (over !== null) return WITHHELD;
    const { data, name } = event;
    const cut = event.fault === "cut";
    if (event.fault === "too_large") return fail("the event is too large");
    if (data === null) return cut ? WITHHELD : AS_IT_CAME;
    const step = read(name, data, cut);
    // A cut event lacks its blank line.
    return cut && step.kind === "pass" && step.bytes === null ? { ...step, bytes: frame(name, data) } : step;
  }

  function read(name: string, data: string, cut: boolean): ChatStep {
    // A named event without data makes the SDKs throw.
    if (data === "") return WITHHELD;
    if (data.startsWith("[DONE]")) {
      over = "done";
      return { kind: "done", bytes: encoder.encode(`data: ${data}\n\n`) };
    }
    const chunk = parseJson(data);
    if (typeof chunk !== "object" || chunk === null || Array.isArray(chunk))
      return cut ? WITHHELD : fail(data);
    return feedChunk(name, data, chunk as Json);
  }

  function feedData(data: string): ChatStep {
    if (over !== null) return WITHHELD;
    const said = shortcut.read(data);
    if (said === null) return read("", data, false);
    chunks++;
    pieces.push(said);
    chars += said.length;
    bound(pieces.length - 1);
    return learntSplices
      ? { kind: "pass", bytes: frame("", spliced(data)), content: true }
      : CONTENT_AS_IT_CAME;
  }

  function feedChunk(name: string, data: string, chunk: Json): ChatStep {
    if (isErrorBody(chunk) || name === "error") return fail(data);
    chunks++;
    if (typeof chunk.service_tier === "string") serviceTier = chunk.service_tier;
    const choices: readonly unknown[] = Array.isArray(chunk.choices) ? chunk.choices : [];
    const hasUsage = typeof chunk.usage === "object" && chunk.usage !== null;
    if (hasUsage) usage = chunk.usage;
    let content = false;
    for (const choice of choices) if (readChoice(choice)) content = true;
    if (content) delivered = true;
    if (hasUsage && !includeUsage && choices.length === 0) return WITHHELD;
    const bytes = bytesOf(name, data, chunk, hasUsage && !includeUsage);
    const alike = content && !hasUsage && !("system_fingerprint" in chunk && bytes !== null);
    if (alike && shortcut.learn(data, choices)) learntSplices = bytes !== null;
    return { kind: "pass", bytes, content };
  }

  function readChoice(choice: unknown): boolean {
    if (typeof choice !== "object" || choice === null) return false;
    const { index, delta, text, finish_reason: finish } = choice as Json;
    begun.add(index);
    if (typeof finish === "string" && finish !== "") {
      finished.add(index);
      finishReasons.push(finish);
    }
    const before = pieces.length;
    if (typeof text === "string" && text !== "") pieces.push(text);
    const isDelta = typeof delta === "object" && delta !== null;
    if (isDelta) collectTexts(delta as Json, pieces);
    const any = pieces.length > before || (isDelta && isSilentContent(delta as Json));
    for (let i = before; i < pieces.length; i++) chars += pieces[i]!.length;
    bound(before);
    return any;
  }

  /** Drops the pieces from `from` on when all texts together are over the bound; joins many into one. */
  function bound(from: number): void {
    if (chars > TEXT_MAX) pieces.length = from;
    else if (pieces.length >= PIECES) pack();
  }

  function pack(): void {
    joined.push(pieces.join(""));
    pieces = [];
  }

  /** What to send in place of the event; null: the event as it came. */
  function bytesOf(name: string, data: string, chunk: Json, dropUsage: boolean): Uint8Array | null {
    const lacksPrint = splice !== "" && (chunk.system_fingerprint ?? null) === null;
    if (!lacksPrint && !dropUsage) return null;
    if (dropUsage || "system_fingerprint" in chunk) {
      const { usage: _, ...rest } = chunk;
      const kept = dropUsage ? rest : chunk;
      return frame(name, JSON.stringify(lacksPrint ? { ...kept, system_fingerprint: fingerprint } : kept));
    }
    // A chunk of one line stays on one line: `data` of several lines would need a field for each.
    if (data.includes("\n"))
      return frame(name, JSON.stringify({ ...chunk, system_fingerprint: fingerprint }));
    return Object.keys(chunk).length === 0 ? frame(name, `{${splice}}`) : frame(name, spliced(data));
  }

  /** The data of a chunk that has fields, with our fingerprint before them. */
  function spliced(data: string): string {
    const brace = data.indexOf("{") + 1;
    return `${data.slice(0, brace)}${splice},${data.slice(brace)}`;
  }

  function fail(text: string): ChatStep {
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
    outcome,
    finishReasons,
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
      return chars;
    },
    texts() {
      if (pieces.length > 0) pack();
      return joined;
    },
  };
}

/** Generated, though it has no text to count: a call's first fragment, audio, opaque reasoning. */
function isSilentContent(delta: Json): boolean {
  return (
    isFilled(delta.tool_calls) ||
    isFilled(delta.content) ||
    isFilled(delta.reasoning_details) ||
    (typeof delta.audio === "object" && delta.audio !== null) ||
    (typeof delta.function_call === "object" && delta.function_call !== null)
  );
}

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const frame = (name: string, json: string): Uint8Array =>
  encoder.encode(`${name === "" ? "" : `event: ${name}\n`}data: ${json.replaceAll("\n", "\ndata: ")}\n\n`);

/** The event that tells a client that its stream has failed. No `[DONE]` follows it. */
export function chatStreamError(error: {
  readonly message: string;
  readonly type: string;
  readonly code: string;
}): Uint8Array {
  const { message, type, code } = error;
  return frame("", JSON.stringify({ error: { message, type, code } }));
}
