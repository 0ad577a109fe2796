// Translates tools and the tool choice of a chat request to the messages dialect. Tools whose calls could not
// be translated back are refused; server tools of other providers are dropped.

import { isObject, type Json } from "../json.ts";
import { objectSchema } from "./chat-tools.ts";
import type { ToolNames } from "./identifiers.ts";
import { cacheOf } from "./read-chat-content.ts";
import type { Refusals } from "./translation-errors.ts";

/** The tools of a messages request. */
export interface MessagesTools {
  /** The fields `tools` and `tool_choice`; empty without tools. */
  readonly fields: Json;
  /** Whether the model must call a tool, which excludes thinking. */
  readonly forced: boolean;
}

const NONE: MessagesTools = { fields: {}, forced: false };

/** Translates the tools of a chat request. `forcible` says whether the model can be forced to call a tool. */
export function messagesTools(
  body: Json,
  forcible: boolean,
  names: ToolNames,
  refusals: Refusals,
): MessagesTools {
  if (Array.isArray(body.functions) && body.functions.length > 0) {
    refusals.add("functions", "is an old form that this model's provider does not take: use tools");
    return NONE;
  }
  const given: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  if (given.some((tool) => isObject(tool) && tool.type === "custom")) {
    refusals.add("tools", "must be functions: this model's provider takes no custom tools");
    return NONE;
  }
  const tools = given.flatMap((tool) => (isObject(tool) ? toolOf(tool, names) : []));
  if (given.length > 0 && tools.length === 0) {
    refusals.add("tools", "must have a function: this model's provider runs no tools of other makers");
  }
  if (tools.length === 0) return NONE;
  const choice = choiceOf(body.tool_choice, names);
  const allowed = choice.allowed === null ? tools : tools.filter(({ name }) => choice.allowed?.has(name));
  // A choice that allows only undefined tools is ignored.
  const { type, offered } =
    allowed.length === 0 ? { type: undefined, offered: tools } : { type: choice.type, offered: allowed };
  const wanted = !forcible && FORCED.has(type) ? "auto" : type;
  const single = body.parallel_tool_calls === false;
  return {
    fields: {
      // If the choice names a tool, all tools are sent. If the model cannot be forced, only that tool is
      // sent.
      tools: wanted === "tool" ? tools : offered,
      ...(wanted === undefined && !single
        ? {}
        : { tool_choice: choiceFields(wanted ?? "auto", offered[0]!.name, single) }),
    },
    forced: FORCED.has(wanted),
  };
}

type ChoiceType = "auto" | "any" | "tool" | "none";

const FORCED: ReadonlySet<ChoiceType | undefined> = new Set(["any", "tool"]);

const choiceFields = (type: ChoiceType, name: string, single: boolean): Json => ({
  type,
  ...(type === "tool" ? { name } : {}),
  ...(single && type !== "none" ? { disable_parallel_tool_use: true } : {}),
});

function toolOf(tool: Json, names: ToolNames) {
  const { function: made } = tool;
  if (!isObject(made) || typeof made.name !== "string" || made.name === "") return [];
  const described = typeof made.description === "string" && made.description !== "";
  return [
    {
      name: names.sent(made.name),
      ...(described ? { description: made.description } : {}),
      input_schema: objectSchema(made.parameters),
      ...(made.strict === true ? { strict: true } : {}),
      ...markOf(tool),
    },
  ];
}

function markOf(tool: Json): Json {
  const { cache } = cacheOf(tool);
  return cache === undefined ? {} : { cache_control: cache };
}

interface Choice {
  /** The type of the choice; undefined means the model's default. */
  readonly type: ChoiceType | undefined;
  /** The names of tools that it may call; null means all. */
  readonly allowed: ReadonlySet<string> | null;
}

const CHOICES: ReadonlyMap<unknown, ChoiceType> = new Map([
  ["none", "none"],
  ["auto", "auto"],
  ["required", "any"],
]);

function choiceOf(choice: unknown, names: ToolNames): Choice {
  if (!isObject(choice)) return { type: CHOICES.get(choice), allowed: null };
  if (choice.type === "function") return { type: "tool", allowed: new Set(nameOf(choice, names)) };
  const { allowed_tools: allowed } = choice;
  if (choice.type !== "allowed_tools" || !isObject(allowed)) return { type: undefined, allowed: null };
  const tools: readonly unknown[] = Array.isArray(allowed.tools) ? allowed.tools : [];
  return {
    type: CHOICES.get(allowed.mode),
    allowed: new Set(tools.flatMap((tool) => (isObject(tool) ? nameOf(tool, names) : []))),
  };
}

const nameOf = ({ function: made }: Json, names: ToolNames): string[] =>
  isObject(made) && typeof made.name === "string" ? [names.sent(made.name)] : [];
