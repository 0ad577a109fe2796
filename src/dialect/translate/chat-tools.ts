// Translates tools and the tool choice of a messages request to the chat dialect. Server tools of the
// messages API are dropped, because no other provider has them.

import { isObject, type Json } from "../json.ts";
import type { ToolNames } from "./identifiers.ts";
import type { Refusals } from "./translation-errors.ts";

/** Returns `tools`, `tool_choice` and `parallel_tool_calls` of a chat request, or no field without tools. */
export function chatTools(body: Json, names: ToolNames, refusals: Refusals): Json {
  const given: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const tools = given.flatMap((tool) => (isObject(tool) ? toolOf(tool, names) : []));
  if (given.length > 0 && tools.length === 0) {
    refusals.add("tools", "must have a tool of the client's own: this model's provider runs none itself");
  }
  if (tools.length === 0) return {};
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  return {
    tools,
    ...choiceOf(choice, new Set(tools.map((tool) => tool.function.name)), names),
    ...(choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  };
}

function toolOf(tool: Json, names: ToolNames) {
  const own = tool.type === undefined || tool.type === null || tool.type === "custom";
  if (!own || typeof tool.name !== "string" || tool.name === "") return [];
  return [
    {
      type: "function",
      function: {
        name: names.sent(tool.name),
        ...(typeof tool.description === "string" ? { description: tool.description } : {}),
        parameters: objectSchema(tool.input_schema),
        ...(tool.strict === true ? { strict: true } : {}),
      },
    },
  ];
}

/** Returns a schema with `type` and `properties`, since providers refuse a tool whose schema lacks them. */
export function objectSchema(schema: unknown): Json {
  const given = isObject(schema) ? schema : {};
  const properties = isObject(given.properties) ? given.properties : {};
  return { ...given, type: "object", properties };
}

const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ["auto", "auto"],
  ["any", "required"],
  ["none", "none"],
]);

function choiceOf({ type, name }: Json, known: ReadonlySet<string>, names: ToolNames): Json {
  if (type !== "tool" || typeof name !== "string") {
    const choice = CHOICES.get(type);
    return choice === undefined ? {} : { tool_choice: choice };
  }
  const sent = names.sent(name);
  return known.has(sent) ? { tool_choice: { type: "function", function: { name: sent } } } : {};
}
