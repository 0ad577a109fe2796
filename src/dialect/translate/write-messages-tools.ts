// Writes the tools and the tool choice of a request in the messages dialect.

import type { Json } from "../json.ts";
import { objectSchema, offeredTools, type RequestForm, type ToolForm } from "./request-form.ts";
import { isWithinStrictLimits } from "./strict-tools.ts";
import type { ModelFacts } from "./translation.ts";

/** The tools of a messages request. */
export interface MessagesTools {
  readonly tools: readonly Json[];
  /** The value of `tool_choice`; null means the provider's default. */
  readonly choice: Json | null;
  /** Whether the model must call a tool, which excludes thinking. */
  readonly forced: boolean;
}

const NONE: MessagesTools = { tools: [], choice: null, forced: false };

/** Returns the tools of a request as its model accepts them. */
export function messagesTools(form: RequestForm, { quirks, structured }: ModelFacts): MessagesTools {
  const offered = offeredTools(form, !quirks.has("no_forced_tool_choice"));
  if (offered === null) return NONE;
  const { mode, tools, name } = offered;
  const isSingle = !form.isParallel;
  const isStrict = structured && isWithinStrictLimits(tools);
  return {
    tools: tools.map((tool) => toolOf(tool, isStrict)),
    choice: mode === null && !isSingle ? null : choiceOf(mode ?? "auto", name, isSingle),
    forced: mode === "required" || mode === "tool",
  };
}

const TYPES = { auto: "auto", required: "any", none: "none", tool: "tool" } as const;

const choiceOf = (mode: keyof typeof TYPES, name: string, isSingle: boolean): Json => ({
  type: TYPES[mode],
  ...(mode === "tool" ? { name } : {}),
  ...(isSingle && mode !== "none" ? { disable_parallel_tool_use: true } : {}),
});

const toolOf = ({ name, description, schema, strict, cache }: ToolForm, isStrict: boolean): Json => ({
  name,
  ...(description === null ? {} : { description }),
  input_schema: objectSchema(schema),
  ...(strict && isStrict ? { strict: true } : {}),
  ...(cache === undefined ? {} : { cache_control: cache }),
});
