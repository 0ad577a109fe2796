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
import { createDeltaFastPath } from "../delta-fast-path.ts";
import type { StreamListener, StreamMachine, StreamOptions, StreamStep } from "../dialect.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { createFeed, DROP_EVENT, PASS_CONTENT_EVENT, PASS_EVENT } from "../stream-machine.ts";
import { createTextBuffer } from "../text-buffer.ts";
import { BlockUses, collectBlock, collectDelta, isMessagesError, tierOf } from "./messages-answer.ts";

/** The most frequent event of a stream. */
const DELTA = "content_block_delta";

/** The closing event for a provider that ended well without one. */
export const MESSAGE_STOP = frame("message_stop", '{"type":"message_stop"}');

/** Form of an event name; a type of another form could break out of the `event:` line. */
const NAME = /^[\w.-]{1,100}$/;

/** Creates the machine for one stream. `listener` receives each event that is read. */
export function createMessagesStream(_?: StreamOptions, listener?: StreamListener): StreamMachine {
  const pieces = createTextBuffer();
  const shortcut = createDeltaFastPath(`event: ${DELTA}\ndata: `);
  const open = new Set<unknown>();
  const uses = new BlockUses();
  let model: string | null = null;
  let usage: Json | null = null;
  /** Whether output_tokens have been reported; those of message_start do not count. */
  let counted = false;
  let stopped = false;
  /** Whether the fast path has learned the current event. */
  let learnt = false;
  let begun = false;
  let delivered = false;
  let over: "done" | "error" | null = null;

  const feed = createFeed({ isOver: () => over !== null, namesNeedData: true, read, fail });

  function feedData(data: string, name: string): StreamStep {
    if (over !== null) return DROP_EVENT;
    const said = name === DELTA ? shortcut.read(data) : null;
    if (said === null) return read(name, data, false, null);
    pieces.add(said);
    listener?.again(said);
    return PASS_CONTENT_EVENT;
  }

  function feedRun(text: string, from: number): ReturnType<NonNullable<StreamMachine["feedRun"]>> {
    const run = over === null ? shortcut.run(text, from) : null;
    if (run === null) return null;
    pieces.add(run.said);
    if (listener !== undefined) for (const one of run.words) listener.again(one);
    return { step: PASS_CONTENT_EVENT, end: run.end };
  }

  /** `raw` are the event's own bytes; null means that `frame` must make them. */
  function read(name: string, data: string, cut: boolean, raw: Uint8Array | null): StreamStep {
    if (data === "") return DROP_EVENT;
    if (data.startsWith("[DONE]")) return stopped ? done(MESSAGE_STOP) : DROP_EVENT;
    const event = parseJson(data);
    if (!isObject(event)) return cut ? DROP_EVENT : fail(data);
    if (name === "error" || isMessagesError(event)) return fail(data);
    const type = typeof event.type === "string" && NAME.test(event.type) ? event.type : name;
    if (type !== "ping") begun = true;
    learnt = false;
    const content = take(type, event, data);
    listener?.event(event, type, learnt);
    if (content) delivered = true;
    const named = name === "" && type !== "" ? frame(type, data) : null;
    if (type === "message_stop") return done(named ?? raw ?? frame(name, data));
    if (named !== null) return { kind: "pass", bytes: named, content };
    return content ? PASS_CONTENT_EVENT : PASS_EVENT;
  }

  /** Records what an event reports. Returns whether it carries anything generated. */
  function take(type: string, event: Json, data: string): boolean {
    switch (type) {
      case "message_start":
        if (isObject(event.message)) start(event.message);
        return false;
      case "content_block_start":
        open.add(event.index);
        return isObject(event.content_block) && takeBlock(event.content_block);
      case DELTA:
        return isObject(event.delta) && takeDelta(event.delta, data);
      case "content_block_stop":
        open.delete(event.index);
        return false;
      case "message_delta":
        if (isObject(event.delta) && (event.delta.stop_reason ?? null) !== null) stopped = true;
        merge(event.usage);
        return false;
      default:
        return false;
    }
  }

  /** Omits the placeholder for output_tokens, because some hosts never report the real number. */
  function start({ usage: given, model: named }: Json): void {
    if (typeof named === "string") model = named;
    if (!isObject(given)) return;
    const { output_tokens: _, ...rest } = given;
    usage = { ...usage, ...rest };
  }

  function merge(given: unknown): void {
    if (!isObject(given)) return;
    const present = Object.entries(given).filter(([, value]) => value !== null);
    usage = { ...usage, ...Object.fromEntries(present) };
    if ("output_tokens" in usage) counted = true;
  }

  function takeBlock(block: Json): boolean {
    const texts: string[] = [];
    collectBlock(block, texts);
    uses.add(block);
    for (const one of texts) pieces.add(one);
    return texts.length > 0 || (block.type !== "text" && block.type !== "thinking");
  }

  function takeDelta(delta: Json, data: string): boolean {
    const texts: string[] = [];
    collectDelta(delta, texts);
    for (const one of texts) pieces.add(one);
    const [said = ""] = texts;
    if (texts.length === 1) learn(delta, data, said);
    return (
      texts.length > 0 || Object.entries(delta).some(([field, value]) => field !== "type" && isFilled(value))
    );
  }

  /** Trains the fast path, but not on calls, whose JSON is full of quotes. */
  function learn(delta: Json, data: string, said: string): void {
    if (delta.text === said) learnt = shortcut.train(data, "text", said);
    else if (delta.thinking === said) learnt = shortcut.train(data, "thinking", said);
  }

  function done(bytes: Uint8Array): StreamStep {
    over = "done";
    return { kind: "done", bytes };
  }

  function fail(text: string): StreamStep {
    over = "error";
    return { kind: "error", text };
  }

  function outcome(clean: boolean): "complete" | "broken" | "empty" {
    if (over === "error") return "broken";
    if (!begun) return "empty";
    if (over === "done") return "complete";
    return clean && stopped && open.size === 0 ? "complete" : "broken";
  }

  return {
    feed,
    feedData,
    feedRun,
    outcome,
    get usage() {
      // Without output_tokens the usage of a finished answer is missing; otherwise its output would be free.
      return (over === "done" || stopped) && !counted ? null : usage;
    },
    get serviceTier() {
      return tierOf(usage);
    },
    get model() {
      return model;
    },
    get measured() {
      return uses.measured;
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
 * Whether a field has generated content, even without text to count: a signature, a citation, or an unknown
 * kind.
 */
const isFilled = (value: unknown): boolean =>
  (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null);
