// Reads the tools and the tool choice of a responses request. A custom tool, whose input is free text, becomes a function
// with one text parameter. Tools that only the provider could run are refused, because without them the answer would be
// another one.

import { isObject, type Json } from "../json.ts";
import type { ToolNames } from "./identifiers.ts";
import { modeOf } from "./read-chat-tools.ts";
import { ANY_TOOL, type RequestForm, type ToolChoice, type ToolForm } from "./request-form.ts";
import type { Refusals } from "./translation-errors.ts";

/** Returns the tools of a responses request. */
export function toolsOfResponses(
  body: Json,
  names: ToolNames,
  refusals: Refusals,
): Pick<RequestForm, "tools" | "choice" | "isParallel"> {
  const given: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  const tools = given.flatMap((tool, i) => (isObject(tool) ? toolOf(tool, i, names, refusals) : []));
  return {
    tools,
    choice: tools.length === 0 ? ANY_TOOL : choiceOf(body.tool_choice, names),
    isParallel: body.parallel_tool_calls !== false,
  };
}

function toolOf(tool: Json, index: number, names: ToolNames, refusals: Refusals): ToolForm[] {
  const { type, name, description } = tool;
  if (type !== "function" && type !== "custom") {
    refusals.add(
      `tools.${index}`,
      "must be a function or a custom tool: this model's provider runs no others",
    );
    return [];
  }
  if (typeof name !== "string" || name === "") return [];
  const words = typeof description === "string" && description !== "" ? description : null;
  const form = { name: names.sent(name), description: words };
  return type === "custom"
    ? [{ ...form, description: customDescription(words, tool.format), schema: CUSTOM_SCHEMA, strict: false }]
    : [{ ...form, schema: tool.parameters, strict: tool.strict === true }];
}

/** The parameters of a custom tool as a function. */
const CUSTOM_SCHEMA: Json = {
  type: "object",
  properties: { input: { type: "string", description: "The whole input of the tool, as plain text." } },
  required: ["input"],
  additionalProperties: false,
};

function customDescription(description: string | null, format: unknown): string {
  const rules = [
    "The tool takes free text: write all of it into `input`, without quoting it as JSON or code.",
  ];
  if (isObject(format) && format.type === "grammar" && typeof format.definition === "string") {
    const syntax = typeof format.syntax === "string" ? `${format.syntax} ` : "";
    rules.push(`The text must match this ${syntax}grammar:\n${format.definition}`);
  }
  return [...(description === null ? [] : [description]), ...rules].join("\n\n");
}

function choiceOf(choice: unknown, names: ToolNames): ToolChoice {
  if (!isObject(choice)) return { mode: modeOf(choice), allowed: null };
  if (choice.type === "function" || choice.type === "custom")
    return { mode: "tool", allowed: new Set(nameOf(choice, names)) };
  if (choice.type !== "allowed_tools") return ANY_TOOL;
  const tools: readonly unknown[] = Array.isArray(choice.tools) ? choice.tools : [];
  return { mode: modeOf(choice.mode), allowed: new Set(tools.flatMap((tool) => nameOf(tool, names))) };
}

const nameOf = (tool: unknown, names: ToolNames): string[] =>
  isObject(tool) && typeof tool.name === "string" ? [names.sent(tool.name)] : [];
