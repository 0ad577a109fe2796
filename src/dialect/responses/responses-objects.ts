// Reads the ids of stored objects that a request refers to or that an answer has created. Only the key that
// created an object can access it. Pure; it must not decide whether access is allowed.

import { CARRYING_MARK } from "../carrying-mark.ts";
import { isObject, type Json } from "../json.ts";

/**
 * Returns the ids of responses, conversations and items that a request refers to, each with the first
 * parameter.
 */
export function referencesOf(body: Json): ReadonlyMap<string, string> {
  const items: readonly unknown[] = Array.isArray(body.input) ? body.input : [];
  const referred = items.filter(isReference).map((item) => item.id);
  const named: readonly (readonly [string, readonly unknown[]])[] = [
    ["previous_response_id", [body.previous_response_id]],
    ["conversation", [idOf(body.conversation)]],
    ["input", referred],
  ];
  const found = new Map<string, string>();
  for (const [param, values] of named) {
    for (const id of idsIn(values)) if (!found.has(id)) found.set(id, param);
  }
  return found;
}

/** Whether the provider stores the answer, which is the default. */
export const isKept = (body: Json): boolean => body.store !== false;

/** Returns the ids in an answer, each once: the response, its conversation, and the items of its output. */
export function madeBy(answer: Json): string[] {
  const output: readonly unknown[] = Array.isArray(answer.output) ? answer.output : [];
  return idsIn([answer.id, idOf(answer.conversation), ...output.map(idOf)]);
}

/**
 * Whether an input item is a reference. Its type is optional: an item with an id and no content is a
 * reference. So is an image by its id alone, which the provider then edits.
 */
export const isReference = (item: unknown): item is Json =>
  isObject(item) &&
  (item.type === "item_reference" ||
    ((item.type ?? null) === null && item.id !== undefined && item.content === undefined) ||
    (item.type === "image_generation_call" && item.id !== undefined && typeof item.result !== "string"));

/** Whether an input item is reasoning that the provider is to look up by its id, because it has neither content nor cipher. */
export const isStoredReasoning = (item: unknown): item is Json =>
  isObject(item) &&
  item.type === "reasoning" &&
  typeof item.id === "string" &&
  typeof item.encrypted_content !== "string" &&
  (item.content ?? null) === null;

/** Returns the ids of reasoning that a request refers to, each once. */
export const reasoningOf = (body: Json): string[] =>
  Array.isArray(body.input) ? idsIn(body.input.filter(isStoredReasoning).map(idOf)) : [];

/** Whether an input item is a reasoning item of a translated answer, which no provider of this style can read. */
export const isCarrying = (item: unknown): item is Json & { readonly encrypted_content: string } =>
  isObject(item) &&
  item.type === "reasoning" &&
  typeof item.encrypted_content === "string" &&
  item.encrypted_content.startsWith(CARRYING_MARK);

const idOf = (value: unknown): unknown => (isObject(value) ? value.id : value);

const idsIn = (values: readonly unknown[]): string[] => [
  ...new Set(values.filter((value): value is string => typeof value === "string" && value !== "")),
];
