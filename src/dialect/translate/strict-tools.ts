// Whether a messages provider can hold calls to the schemas of their tools. It does so for few tools and simple schemas, and
// refuses a request with more; its tools are then sent without `strict`, so that the model follows them of its own accord.

import { isObject, type Json } from "../json.ts";
import type { ToolForm } from "./request-form.ts";

/** The largest sums over all strict tools of a request. */
const TOOLS_MAX = 20;
const OPTIONAL_PARAMETERS_MAX = 24;
const UNION_PARAMETERS_MAX = 16;

/** Counts of the schemas that were visited so far. */
interface Complexity {
  optional: number;
  unions: number;
}

/** Whether the strict tools among `tools` are within the limits. */
export function isWithinStrictLimits(tools: readonly ToolForm[]): boolean {
  const strict = tools.filter((tool) => tool.strict);
  if (strict.length > TOOLS_MAX) return false;
  const sum: Complexity = { optional: 0, unions: 0 };
  for (const { schema } of strict) {
    visit(schema, sum);
    if (sum.optional > OPTIONAL_PARAMETERS_MAX || sum.unions > UNION_PARAMETERS_MAX) return false;
  }
  return true;
}

/** Counts the parameters of a schema and of all schemas in it. Requests are not nested so deep that this could fail. */
function visit(schema: unknown, sum: Complexity): void {
  if (Array.isArray(schema)) {
    for (const each of schema) visit(each, sum);
    return;
  }
  if (!isObject(schema)) return;
  if (isUnion(schema)) sum.unions++;
  if (isObject(schema.properties)) {
    const required: ReadonlySet<unknown> = new Set(Array.isArray(schema.required) ? schema.required : []);
    for (const name in schema.properties) {
      if (!required.has(name)) sum.optional++;
      visit(schema.properties[name], sum);
    }
  }
  for (const keyword of NESTING) visit(schema[keyword], sum);
  for (const keyword of DEFINITIONS) {
    const named = schema[keyword];
    if (isObject(named)) for (const name in named) visit(named[name], sum);
  }
}

const isUnion = ({ anyOf, oneOf, type }: Json): boolean =>
  Array.isArray(anyOf) || Array.isArray(oneOf) || (Array.isArray(type) && type.length > 1);

/** Keywords whose values are schemas or lists of them. */
const NESTING = ["items", "prefixItems", "anyOf", "oneOf", "allOf"] as const;
/** Keywords whose values are schemas by name. */
const DEFINITIONS = ["$defs", "definitions"] as const;
