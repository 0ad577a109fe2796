// Reads the tools and the tool choice of a chat request. Tools whose calls could not be translated back are refused;
// server tools of other providers are dropped.

import { isObject, type Json } from "../json.ts";
import type { ToolNames } from "./identifiers.ts";
import { cacheOf } from "./read-chat-content.ts";
import { ANY_TOOL, type RequestForm, type ToolChoice, type ToolForm } from "./request-form.ts";
import type { Refusals } from "./translation-errors.ts";

/** Returns the tools of a chat request. */
export function toolsOfChat(
  body: Json,
  names: ToolNames,
  refusals: Refusals,
): Pick<RequestForm, "tools" | "choice" | "isParallel"> {
  const isParallel = body.parallel_tool_calls !== false;
  const none = { tools: [], choice: ANY_TOOL, isParallel };
  if (Array.isArray(body.functions) && body.functions.length > 0) {
    refusals.add("functions", "is an old form that this model's provider does not take: use tools");
    return none;
  }
  const given: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  if (given.some((tool) => isObject(tool) && tool.type === "custom")) {
    refusals.add("tools", "must be functions: this model's provider takes no custom tools");
    return none;
  }
  const tools = given.flatMap((tool) => (isObject(tool) ? toolOf(tool, names) : []));
  if (given.length > 0 && tools.length === 0) {
    refusals.add("tools", "must have a function: this model's provider runs no tools of other makers");
  }
  return tools.length === 0 ? none : { tools, choice: choiceOf(body.tool_choice, names), isParallel };
}

function toolOf(tool: Json, names: ToolNames): ToolForm[] {
  const { function: made } = tool;
  if (!isObject(made) || typeof made.name !== "string" || made.name === "") return [];
  const isDescribed = typeof made.description === "string" && made.description !== "";
  return [
    {
      name: names.sent(made.name),
      description: isDescribed ? (made.description as string) : null,
      schema: made.parameters,
      strict: made.strict === true,
      ...cacheOf(tool),
    },
  ];
}

const MODES: ReadonlyMap<unknown, ToolChoice["mode"]> = new Map(
  (["none", "auto", "required"] as const).map((mode) => [mode, mode]),
);

/** Returns the mode that a word of the chat and responses styles means; null for any other value. */
export const modeOf = (word: unknown): ToolChoice["mode"] => MODES.get(word) ?? null;

function choiceOf(choice: unknown, names: ToolNames): ToolChoice {
  if (!isObject(choice)) return { mode: modeOf(choice), allowed: null };
  if (choice.type === "function") return { mode: "tool", allowed: new Set(nameOf(choice, names)) };
  const { allowed_tools: allowed } = choice;
  if (choice.type !== "allowed_tools" || !isObject(allowed)) return ANY_TOOL;
  const tools: readonly unknown[] = Array.isArray(allowed.tools) ? allowed.tools : [];
  return {
    mode: modeOf(allowed.mode),
    allowed: new Set(tools.flatMap((tool) => (isObject(tool) ? nameOf(tool, names) : []))),
  };
}

const nameOf = ({ function: made }: Json, names: ToolNames): string[] =>
  isObject(made) && typeof made.name === "string" ? [names.sent(made.name)] : [];
