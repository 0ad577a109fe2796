// What a whole messages answer holds, all that was generated in a content block, and the answer of the token count.
// Pure; changes nothing.

import type { NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";

/** Reads a whole answer. A host may leave its `type` out, but not its content. */
export function readMessage({ text }: Pick<WholeBody, "text">): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  if (!isObject(body) || isMessagesError(body)) return { ok: false, fault: "error_body" };
  if ((body.type ?? "message") !== "message" || !Array.isArray(body.content))
    return { ok: false, fault: "error_body" };
  const texts: string[] = [];
  const uses = new BlockUses();
  for (const block of body.content as unknown[]) {
    if (!isObject(block)) continue;
    collectBlock(block, texts);
    uses.add(block);
  }
  const { usage = null } = body;
  return { ok: true, body, usage, serviceTier: tierOf(usage), texts, measured: uses.measured };
}

/** Calls that run code, under the names that blocks give them. */
const EXECUTIONS: ReadonlySet<unknown> = new Set([
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
]);

/** What the blocks of an answer show of the provider's own tools. A search that failed is not billed. */
export class BlockUses {
  #searches = 0;
  #executions = 0;

  add({ type, name, content }: Json): void {
    if (type === "web_search_tool_result" && Array.isArray(content)) this.#searches++;
    if (type === "server_tool_use" && EXECUTIONS.has(name)) this.#executions++;
  }

  get measured(): NonTokenUsage {
    return {
      ...(this.#searches > 0 ? { webSearches: this.#searches } : {}),
      ...(this.#executions > 0 ? { toolUses: { code_execution: this.#executions } } : {}),
    };
  }
}

/** Reads the answer of the token count. It holds no usage: nothing was generated, and nothing is to be paid. */
export function readCount({ text }: Pick<WholeBody, "text">): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  const counted =
    isObject(body) && Number.isSafeInteger(body.input_tokens) && (body.input_tokens as number) >= 0;
  if (!counted || isMessagesError(body)) return { ok: false, fault: "error_body" };
  return { ok: true, body, usage: null, serviceTier: null, texts: [], measured: {} };
}

/** Whether a body or an event that came with a 200 is an error all the same. Only one without a type may be code and words. */
export const isMessagesError = (body: Json): boolean =>
  body.type === "error" || statesError(body) || (body.type === undefined && isCodeAndWords(body));

/** The tier that was really used, as a usage says it. */
export const tierOf = (usage: unknown): string | null =>
  isObject(usage) && typeof usage.service_tier === "string" ? usage.service_tier : null;

/**
 * Adds all text that was generated in a block, or in the beginning of one: text, thinking, a call's name and input. What
 * the provider's own tools found is not generated, and neither is the empty input with which a streamed call begins.
 */
export function collectBlock(block: Json, into: string[]): void {
  add(block.text, into);
  add(block.thinking, into);
  if (block.type === "compaction") add(block.content, into);
  if (!("input" in block)) return;
  add(block.name, into);
  const input = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
  if (input !== "{}") add(input, into);
}

/** Adds all text that was generated in a delta. */
export function collectDelta(delta: Json, into: string[]): void {
  for (const field of SAYING) add(delta[field], into);
}

/** `content` is that of a compaction. */
const SAYING = ["text", "thinking", "partial_json", "content"] as const;

function add(value: unknown, into: string[]): void {
  if (typeof value === "string" && value !== "") into.push(value);
}
