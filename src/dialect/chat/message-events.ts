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
import { createSseReader } from "../../sse/sse-reader.ts";
import { frame } from "../../sse/sse-writer.ts";
import type { StreamMachine, StreamStep } from "../dialect.ts";
import { isObject, type Json, parseJson } from "../json.ts";
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
export function messageEvents(inner: StreamMachine, prompt: number): StreamMachine {
  const finished = new Map<unknown, string>();
  /** Fields that all events have in common. */
  let head: Json = { object: "chat.completion" };
  /** The last usage that the provider reported. */
  let told: Json | null = null;
  let closed = false;

  function usage(): Json {
    if (told !== null) return told;
    const completion = Math.ceil(inner.chars / CHARS_PER_TOKEN);
    return {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    };
  }

  const event = (choices: readonly Json[]): Uint8Array =>
    frame("", JSON.stringify({ ...head, choices, usage: usage() }));

  function rewritten(name: string, data: string): Uint8Array {
    if (data.startsWith("[DONE]")) return last();
    const chunk = parseJson(data);
    if (!isObject(chunk)) return NOTHING;
    if (chunk.error) return frame(name, data);
    const { choices, usage, ...rest } = chunk;
    if (isTold(usage)) told = usage;
    head = { ...rest, object: "chat.completion" };
    const said = (Array.isArray(choices) ? choices : []).filter(isObject).flatMap(spoken);
    return said.length === 0 ? NOTHING : event(said);
  }

  /** Returns a choice as a message; empty when it carries only a finish reason. */
  function spoken({ delta, finish_reason: reason, ...rest }: Json): readonly Json[] {
    const said = isObject(delta) ? delta : {};
    const ends = typeof reason === "string" && reason !== "";
    if (ends) finished.set(rest.index, reason);
    const { role: _, ...words } = said;
    if (ends && Object.values(words).every((value) => value === null || value === "")) return [];
    return [{ ...rest, message: messageOf(said), finish_reason: "" }];
  }

  function last(): Uint8Array {
    if (closed) return NOTHING;
    closed = true;
    const ends = finished.size === 0 ? [[0, "stop"] as const] : [...finished];
    const choices = ends.map(([index, reason]) => ({ index, message: messageOf({}), finish_reason: reason }));
    return Buffer.concat([event(choices), CHAT_DONE]);
  }

  function rewriteAll(bytes: Uint8Array): Uint8Array {
    const events = createSseReader(UNBOUNDED).push(bytes);
    return Buffer.concat(events.map(({ name, data, raw }) => (data === null ? raw : rewritten(name, data))));
  }

  function stepOf(step: StreamStep, name: string, data: string | null): StreamStep {
    if (step.kind === "done") return { kind: "done", bytes: rewriteAll(step.bytes) };
    if (step.kind !== "pass" || (step.bytes === null && data === null)) return step;
    const bytes = step.bytes === null ? rewritten(name, data!) : rewriteAll(step.bytes);
    return bytes.length === 0 && !step.content ? DROP_EVENT : { ...step, bytes };
  }

  return {
    feed: (given) => stepOf(inner.feed(given), given.name, given.data),
    feedData: (data, name) => stepOf(inner.feedData(data, name), name, data),
    outcome: inner.outcome,
    closing: () => rewriteAll(inner.closing?.() ?? CHAT_DONE),
    get usage() {
      return inner.usage;
    },
    get serviceTier() {
      return inner.serviceTier;
    },
    get model() {
      return inner.model ?? null;
    },
    get delivered() {
      return inner.delivered;
    },
    get chars() {
      return inner.chars;
    },
    texts: inner.texts,
    get measured() {
      return inner.measured ?? {};
    },
    ...(inner.streamError === undefined ? {} : { streamError: inner.streamError }),
  };
}

const messageOf = (delta: Json): Json => ({ role: "assistant", ...delta, content: delta.content ?? "" });

/**
 * Whether a usage counts. Some hosts send figures of zero before the end, which mean that it is not known
 * yet.
 */
function isTold(given: unknown): given is Json {
  const usage = isObject(given) ? readUsage("chat", given, NO_BOUNDS) : null;
  return usage !== null && promptTokens(usage) + completionTokens(usage) > 0;
}
