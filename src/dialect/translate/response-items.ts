// Builds the output items of a responses answer, for whole answers and streams alike. An item is harmless in any later
// request: its id is never looked up, and thinking is carried as reasoning-item.ts says. It is carried whether or not the
// client asked for `reasoning.encrypted_content`, since nothing is stored and many clients send all items back.

import { isObject, type Json } from "../json.ts";
import type { CallHead } from "./answer.ts";
import { carriedCall, encryptedContentOf } from "./reasoning-item.ts";
import { cutInputTextOf, inputTextOf } from "./tool-arguments.ts";
import type { AnswerContext } from "./translation.ts";

/** How far an item is. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

const ID_PREFIX = { message: "msg", reasoning: "rs", function_call: "fc", custom_tool_call: "ctc" } as const;

/** Returns the id of an item. `index` is its place in the output. */
export const itemId = ({ id }: AnswerContext, type: keyof typeof ID_PREFIX, index: number): string =>
  `${ID_PREFIX[type]}_${id}_${index}`;

/** Returns a part of a message. */
export const responsePart = (kind: "text" | "refusal", text: string): Json =>
  kind === "text"
    ? { type: "output_text", annotations: [], logprobs: [], text }
    : { type: "refusal", refusal: text };

/** Returns a message. */
export const messageItem = (id: string, content: readonly Json[], status: ItemStatus): Json => ({
  ...{ id, type: "message", status, role: "assistant", content },
});

/** Returns a part of the summary of reasoning. */
export const summaryOf = (text: string): Json => ({ type: "summary_text", text });

/** Returns reasoning. `carried` is the thinking that it carries, or null. */
export const reasoningItem = (id: string, text: string, carried: string | null): Json => ({
  ...{ id, type: "reasoning", summary: text === "" ? [] : [summaryOf(text)] },
  ...(carried === null ? {} : { encrypted_content: carried }),
});

/**
 * Returns what a reasoning item carries: the signed block of a messages provider, otherwise the text for a provider that
 * reads it. Returns null for reasoning that its provider would not be sent.
 */
export const carriedOf = (
  { provider, readsReasoning }: AnswerContext,
  text: string,
  block: Json | null,
): string | null =>
  (block === null ? null : encryptedContentOf({ provider, blocks: [block], text: "" })) ??
  (readsReasoning ? encryptedContentOf({ provider, blocks: [], text }) : null);

/** Returns the reasoning item that carries what a provider attached to the call of `head`. */
export const callReasoningItem = (
  context: AnswerContext,
  index: number,
  { call_id: id }: CallItemHead,
  extra: Json,
): Json =>
  reasoningItem(itemId(context, "reasoning", index), "", carriedCall(context.provider, { id, extra }));

/** The fields of a call that are known when it begins. */
export interface CallItemHead {
  readonly id: string;
  readonly type: "function_call" | "custom_tool_call";
  readonly call_id: string;
  readonly name: string;
}

/** Makes the heads of the calls of one answer. */
export class CallHeads {
  readonly #context: AnswerContext;
  /** The client's names of its custom tools, which the provider knows as functions; null until the first call. */
  #custom: ReadonlySet<unknown> | null = null;
  #calls = 0;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  /** Returns the head of the next call. `index` is its place in the output. */
  next(call: CallHead, index: number): CallItemHead {
    const { id, toolNames, repeatedFields } = this.#context;
    this.#custom ??= customTools(repeatedFields);
    const name = toolNames.get(call.name) ?? call.name;
    const type = this.#custom.has(name) ? "custom_tool_call" : "function_call";
    const nth = this.#calls++;
    return {
      id: itemId(this.#context, type, index),
      type,
      call_id: call.id || `call_${id}_${nth}`,
      name,
    };
  }
}

const customTools = ({ tools }: Json): ReadonlySet<unknown> =>
  new Set(
    (Array.isArray(tools) ? (tools as unknown[]) : [])
      .filter((tool): tool is Json => isObject(tool) && tool.type === "custom")
      .map(({ name }) => name),
  );

/**
 * Returns what the item of a call says of the arguments that were generated: JSON text, which clients parse even if there
 * are none, or the text of a custom tool's input. A call that was cut keeps what it has.
 */
export function callText({ type }: CallItemHead, given: string, status: ItemStatus): string {
  const isCut = status === "incomplete";
  if (type === "function_call") return isCut ? given : given || "{}";
  return isCut ? cutInputTextOf(given) : inputTextOf(given);
}

/** Returns a call. `text` is as `callText` returns it. */
export const callItem = (head: CallItemHead, text: string, status: ItemStatus): Json =>
  head.type === "function_call" ? { ...head, status, arguments: text } : { ...head, input: text };
