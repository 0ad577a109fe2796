// Reads the input of a responses request as turns. Thinking and calls are items of their own there, so the items of one
// answer are collected into one turn. Order is kept; `inOrder` changes it.

import { isObject, type Json } from "../json.ts";
import { isReference } from "../responses/responses-objects.ts";
import { type AssistantPart, type ConversationTurn, userTurn } from "./conversation.ts";
import { responsesParts, responsesTexts } from "./read-responses-content.ts";
import { CarriedCalls, carriedThinking } from "./reasoning-item.ts";
import type { ReadingContext } from "./request-form.ts";
import { argumentsOf } from "./tool-arguments.ts";

/** Returns all turns of a request, beginning with its `instructions`. */
export function turnsOfResponses({ instructions, input }: Json, context: ReadingContext): ConversationTurn[] {
  const turns = new TurnReader(context);
  turns.add({ role: "system", texts: responsesTexts(instructions) });
  const items: readonly unknown[] = Array.isArray(input) ? input : [{ role: "user", content: input }];
  for (const [i, item] of items.entries()) if (isObject(item)) turns.read(item, `input.${i}`);
  return turns.end();
}

type ReadItem = (reader: TurnReader, item: Json, at: string) => void;

/** The items that are translated. Those of tools that a provider runs itself are dropped. */
const READERS: ReadonlyMap<unknown, ReadItem> = new Map<string, ReadItem>([
  ["message", (reader, item, at) => reader.message(item, at)],
  ["reasoning", (reader, item) => reader.reasoning(item)],
  ["function_call", (reader, item) => reader.call(item, argumentsOf(item.arguments))],
  ["custom_tool_call", (reader, item) => reader.call(item, customInput(textIn(item.input)))],
  ["function_call_output", (reader, item, at) => reader.result(item, at)],
  ["custom_tool_call_output", (reader, item, at) => reader.result(item, at)],
  [
    "compaction",
    (reader, _item, at) => reader.refuse(at, "is a compaction, which only its provider can read"),
  ],
  // Dropping it would leave the model without these tools.
  [
    "additional_tools",
    (reader, _item, at) => reader.refuse(at, 'adds tools in the conversation: send all tools in "tools"'),
  ],
]);

/** The arguments of a custom tool's call, which providers of other styles call as a function. */
const customInput = (input: string): string => JSON.stringify({ input });

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

class TurnReader {
  private readonly turns: ConversationTurn[] = [];
  /** The parts of the assistant's turn that is being read; empty when another turn was read last. */
  private answer: AssistantPart[] = [];
  private readonly carried: CarriedCalls;

  constructor(private readonly context: ReadingContext) {
    this.carried = new CarriedCalls(context.provider);
  }

  /** Reads one item. */
  read(item: Json, at: string): void {
    // The type of a message may be omitted.
    const read = READERS.get(item.type ?? "message");
    if (isReference(item)) {
      const rule = "refers to what this model's provider does not keep: send the item itself";
      this.context.refusals.add(at, rule, "previous_response_not_found");
    } else read?.(this, item, at);
  }

  refuse(at: string, rule: string): void {
    this.context.refusals.add(at, rule);
  }

  message({ role, content }: Json, at: string): void {
    if (role === "assistant") for (const text of responsesTexts(content)) this.answer.push(text);
    else if (role === "system" || role === "developer")
      this.add({ role: "system", texts: responsesTexts(content) });
    else this.add(userTurn(responsesParts(content, `${at}.content`, this.context)));
  }

  /** Thinking goes back to the provider that made it alone. */
  reasoning(item: Json): void {
    const carried = carriedThinking(item);
    if (carried === null || carried.provider !== this.context.provider) return;
    this.carried.add(carried);
    for (const block of carried.blocks) this.answer.push({ kind: "thinking", block });
    if (carried.text !== "") this.answer.push({ kind: "reasoning", text: carried.text });
  }

  call({ call_id: id, name, extra_content: extra }: Json, given: string): void {
    if (typeof name !== "string" || name === "") return;
    this.answer.push({
      kind: "call",
      id: textIn(id),
      name: this.context.names.sent(name),
      arguments: given,
      ...this.carried.extraOf(id, extra),
    });
  }

  result({ call_id: id, output }: Json, at: string): void {
    const parts = responsesParts(output, `${at}.output`, this.context);
    this.add({ role: "user", results: [{ of: textIn(id), parts, failed: false }], parts: [] });
  }

  /** Adds a turn of somebody else, which ends the assistant's. */
  add(turn: ConversationTurn): void {
    this.close();
    this.turns.push(turn);
  }

  end(): ConversationTurn[] {
    this.close();
    return this.turns;
  }

  private close(): void {
    if (this.answer.length === 0) return;
    this.turns.push({ role: "assistant", parts: this.answer });
    this.answer = [];
  }
}
