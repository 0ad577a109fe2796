// Objects that a provider keeps under an id: which of them a request speaks of, and which an answer has made. They are known
// to the key that made them alone. Pure; judges nothing.

import { isObject, type Json } from "../json.ts";

/** Ids that a request refers to, each with the parameter that names it first: a response, a conversation, items of either. */
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

/** Whether the provider is asked to keep the answer: unless it is told not to. */
export const isKept = (body: Json): boolean => body.store !== false;

/** Ids that an answer has made known, each once: the response, its conversation, the items of its output. */
export function madeBy(answer: Json): string[] {
  const output: readonly unknown[] = Array.isArray(answer.output) ? answer.output : [];
  return idsIn([answer.id, idOf(answer.conversation), ...output.map(idOf)]);
}

/** Its type may be left out: what has an id, and nothing to say of its own, can only be a reference. */
export const isReference = (item: unknown): item is Json =>
  isObject(item) &&
  (item.type === "item_reference" ||
    ((item.type ?? null) === null && item.id !== undefined && item.content === undefined));

const idOf = (value: unknown): unknown => (isObject(value) ? value.id : value);

const idsIn = (values: readonly unknown[]): string[] => [
  ...new Set(values.filter((value): value is string => typeof value === "string" && value !== "")),
];
