// The fields of a request that its response repeats: which they are, what stands for one that the request leaves out, and
// how much of them is kept. It must not keep the input.

import { isObject, type Json } from "../json.ts";

/** The fields, with their defaults. The tools are first, because the type of a call depends on them. */
const REPEATED: readonly (readonly [field: string, otherwise: unknown])[] = [
  ["tools", []],
  ["instructions", null],
  ["max_output_tokens", null],
  ["max_tool_calls", null],
  ["metadata", {}],
  ["parallel_tool_calls", true],
  ["prompt_cache_key", null],
  ["reasoning", { effort: null, summary: null }],
  ["safety_identifier", null],
  ["temperature", 1],
  ["text", { format: { type: "text" } }],
  ["tool_choice", "auto"],
  ["top_logprobs", 0],
  ["top_p", 1],
  ["truncation", "disabled"],
  ["user", null],
];

/**
 * Bytes of JSON that the fields may have together. Two events repeat them before the first content, and the bytes of both
 * must be fewer than those after which an attempt sends the response head, since no other key can be tried then.
 */
export const REPEATED_BYTES_MAX = 98_304;
/** Bytes of them for the names of tools whose whole definitions are too long. */
const NAMES_BYTES_MAX = REPEATED_BYTES_MAX / 2;

/** Returns what is kept of a request for its response. A field that is too long is left out; of tools the names stay. */
export function repeatedFieldsOf(request: Json): Json {
  const fields: Json = {};
  let left = REPEATED_BYTES_MAX;
  for (const [field, otherwise] of REPEATED) {
    const value = request[field] ?? null;
    if (value === null) continue;
    const bytes = bytesOf(shaped(field, value, otherwise));
    const kept = bytes <= left ? value : field === "tools" ? namesOf(value) : null;
    if (kept === null) continue;
    fields[field] = kept;
    left -= Math.min(bytes, kept === value ? bytes : NAMES_BYTES_MAX);
  }
  return fields;
}

/** Returns the fields as a response has them. `request` is the request, or what was kept of it. */
export const statedFields = (request: Json): Json =>
  Object.fromEntries(REPEATED.map(([field, otherwise]) => [field, shaped(field, request[field], otherwise)]));

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Returns the first tools with their names only, as many as may be kept. */
function namesOf(tools: unknown): Json[] {
  const names: Json[] = [];
  let left = NAMES_BYTES_MAX;
  for (const tool of Array.isArray(tools) ? (tools as unknown[]) : []) {
    if (!isObject(tool)) continue;
    const named = { type: tool.type, name: tool.name };
    left -= bytesOf([toolOf(named)]);
    if (left < 0) break;
    names.push(named);
  }
  return names;
}

/** Returns a field as providers of this style repeat it: with the fields that it must have. */
function shaped(field: string, value: unknown, otherwise: unknown): unknown {
  if ((value ?? null) === null) return otherwise;
  if (field === "tools") return Array.isArray(value) ? value.map(toolOf) : otherwise;
  return isObject(otherwise) ? { ...otherwise, ...(isObject(value) ? value : {}) } : value;
}

const toolOf = (tool: unknown): unknown =>
  isObject(tool) && tool.type === "function"
    ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
    : tool;
