// Reads the tools and the tool choice of a messages request. Server tools of the messages API are dropped, because no
// other provider has them.

import { isObject, type Json } from "../json.ts";
import type { ToolNames } from "./identifiers.ts";
import type { RequestForm, ToolChoice, ToolForm } from "./request-form.ts";
import type { Refusals } from "./translation-errors.ts";

/** Returns the tools of a messages request. */
export function toolsOfMessages(
  body: Json,
  names: ToolNames,
  refusals: Refusals,
): Pick<RequestForm, "tools" | "choice" | "isParallel"> {
  const given: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const tools = given.flatMap((tool) => (isObject(tool) ? toolOf(tool, names) : []));
  if (given.length > 0 && tools.length === 0) {
    refusals.add("tools", "must have a tool of the client's own: this model's provider runs none itself");
  }
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  return {
    tools,
    choice: tools.length === 0 ? { mode: null, allowed: null } : choiceOf(choice, names),
    isParallel: choice.disable_parallel_tool_use !== true,
  };
}

function toolOf(tool: Json, names: ToolNames): ToolForm[] {
  const isOwn = tool.type === undefined || tool.type === null || tool.type === "custom";
  if (!isOwn || typeof tool.name !== "string" || tool.name === "") return [];
  return [
    {
      name: names.sent(tool.name),
      description: typeof tool.description === "string" ? tool.description : null,
      schema: tool.input_schema,
      strict: tool.strict === true,
    },
  ];
}

const MODES: ReadonlyMap<unknown, ToolChoice["mode"]> = new Map([
  ["auto", "auto"],
  ["any", "required"],
  ["none", "none"],
]);

function choiceOf({ type, name }: Json, names: ToolNames): ToolChoice {
  if (type === "tool" && typeof name === "string")
    return { mode: "tool", allowed: new Set([names.sent(name)]) };
  return { mode: MODES.get(type) ?? null, allowed: null };
}
