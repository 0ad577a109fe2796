// Reads whole messages answers and answers of the token count, and collects the text that was generated in a
// content block. Pure.

import type { NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { isCodeAndWords, statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";
import { NO_NON_TOKEN_USAGE } from "../non-token-usage.ts";

/** Reads a whole messages answer. Its `type` may be missing, its content must not. */
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

/** Names of tool uses that run code at the provider. */
const EXECUTIONS: ReadonlySet<unknown> = new Set([
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
]);

/** Counts the uses of the provider's own tools in an answer's blocks. A failed search is not billed. */
export class BlockUses {
  #searches = 0;
  #executions = 0;

  add({ type, name, content }: Json): void {
    if (type === "web_search_tool_result" && Array.isArray(content)) this.#searches++;
    if (type === "server_tool_use" && EXECUTIONS.has(name)) this.#executions++;
  }

  get measured(): NonTokenUsage {
    if (this.#searches === 0 && this.#executions === 0) return NO_NON_TOKEN_USAGE;
    return {
      ...(this.#searches > 0 ? { webSearches: this.#searches } : {}),
      ...(this.#executions > 0 ? { toolUses: { code_execution: this.#executions } } : {}),
    };
  }
}

/** Reads an answer of the token count. It has no usage, because nothing is generated or charged. */
export function readCount({ text }: Pick<WholeBody, "text">): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  const counted =
    isObject(body) && Number.isSafeInteger(body.input_tokens) && (body.input_tokens as number) >= 0;
  if (!counted || isMessagesError(body)) return { ok: false, fault: "error_body" };
  return { ok: true, body, usage: null, serviceTier: null, texts: [], measured: {} };
}

/**
 * Whether a body or an event that arrived with status 200 is an error. A code and a message count only
 * without a type.
 */
export const isMessagesError = (body: Json): boolean =>
  body.type === "error" || statesError(body) || (body.type === undefined && isCodeAndWords(body));

/** Returns the service tier that a usage reports, or null. */
export const tierOf = (usage: unknown): string | null =>
  isObject(usage) && typeof usage.service_tier === "string" ? usage.service_tier : null;

/**
 * Appends all text that was generated in a block or at its start: text, thinking, a call's name and input.
 * Results of the provider's own tools are not generated, nor is the empty input with which a streamed call
 * begins.
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

/** Appends all text that was generated in a delta. */
export function collectDelta(delta: Json, into: string[]): void {
  for (const field of SAYING) add(delta[field], into);
}

/** Fields of deltas with generated text; `content` is that of a compaction. */
const SAYING = ["text", "thinking", "partial_json", "content"] as const;

function add(value: unknown, into: string[]): void {
  if (typeof value === "string" && value !== "") into.push(value);
}
