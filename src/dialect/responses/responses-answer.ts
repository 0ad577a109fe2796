// Reads whole responses answers, and collects the text that was generated in an output item. Pure.

import type { NonTokenUsage, WholeAnswer, WholeBody } from "../dialect.ts";
import { statesError } from "../error-body.ts";
import { isObject, type Json, parseJson } from "../json.ts";

/** Statuses without an answer. With any other status, or none, the answer is complete or cut by a limit. */
const UNANSWERED: ReadonlySet<unknown> = new Set(["failed", "cancelled", "queued", "in_progress"]);

/**
 * Reads a whole response. A body that is not JSON is a server error; one without an output is an error body.
 */
export function readResponse({ text }: Pick<WholeBody, "text">): WholeAnswer {
  const body = parseJson(text);
  if (body === undefined) return { ok: false, fault: "server_error" };
  if (!isObject(body) || statesError(body) || UNANSWERED.has(body.status) || !Array.isArray(body.output)) {
    return { ok: false, fault: "error_body" };
  }
  const texts: string[] = [];
  for (const item of body.output as unknown[]) collectItem(item, texts);
  return {
    ok: true,
    body,
    usage: body.usage ?? null,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    texts,
    measured: new ItemUses(body.output).measured,
  };
}

/** Counts the calls of tools among the items of an output, by the name of their price. */
export class ItemUses {
  #searches = 0;
  readonly #calls = new Map<string, number>();

  constructor(output: readonly unknown[] = []) {
    for (const item of output) this.add(item);
  }

  add(item: unknown): void {
    if (isSearch(item)) this.#searches++;
    const [, tool] = isObject(item) && item.status !== "failed" ? (CALL.exec(String(item.type)) ?? []) : [];
    if (
      tool !== undefined &&
      tool !== "web_search" &&
      (this.#calls.has(tool) || this.#calls.size < TOOLS_MAX)
    ) {
      this.#calls.set(tool, (this.#calls.get(tool) ?? 0) + 1);
    }
  }

  get measured(): NonTokenUsage {
    const webSearches = this.#searches;
    return this.#calls.size === 0
      ? { webSearches }
      : { webSearches, toolUses: Object.fromEntries(this.#calls) };
  }
}

/** Limit of distinct tools that are counted. */
const TOOLS_MAX = 1_000;

/** Type of a call item. Calls that the client runs match too; the request decides which calls are billed. */
const CALL = /^([a-z][a-z0-9_]{0,98})_call$/;

/** Whether an item is a billed search; opening a page or searching within one is not billed. */
const isSearch = (item: unknown): boolean =>
  isObject(item) &&
  item.type === "web_search_call" &&
  item.status !== "failed" &&
  (!isObject(item.action) || (item.action.type ?? "search") === "search");

/** Whether an item is a call of any kind rather than a message or reasoning. */
export const isCall = (item: Json): boolean =>
  typeof item.type === "string" && item.type !== "message" && item.type !== "reasoning";

/** Appends all text that was generated in an item. Results of the provider's own tools are not generated. */
export function collectItem(item: unknown, into: string[]): void {
  if (!isObject(item)) return;
  const before = into.length;
  collectParts(item.content, into);
  // A summary repeats the reasoning in other words, so it counts only without content.
  if (into.length === before) collectParts(item.summary, into);
  for (const field of CALLED) add(item[field], into);
  for (const field of DONE) if (isObject(item[field])) add(JSON.stringify(item[field]), into);
}

/** Fields of a call that are text; those in `DONE` are objects. */
const CALLED = ["name", "arguments", "input", "code"] as const;
const DONE = ["action", "operation"] as const;

function collectParts(parts: unknown, into: string[]): void {
  if (!Array.isArray(parts)) return;
  for (const part of parts as unknown[]) if (isObject(part)) add(part.text ?? part.refusal, into);
}

function add(value: unknown, into: string[]): void {
  if (typeof value === "string" && value !== "") into.push(value);
}
