// What a request demands beyond its model: things of the provider's account, a host's own routing, tools that are billed by
// the call. Judged by field-verdicts.ts, only where a provider reads it: the top level, entries of `tools`, content blocks and
// their sources; never in a tool's schema, a call's arguments or a text. Pure.

import { CONTENT_FIELDS, TOOL_FIELDS, TOOL_TYPES, TOP_LEVEL, type ToolVerdict } from "./field-verdicts.ts";
import { isObject, type Json } from "./json.ts";

export interface Demands {
  /** Where the body first names a thing of the provider's account; null: nowhere. */
  readonly objects: string | null;
  /** Where it first routes by itself; null: nowhere. */
  readonly routing: string | null;
  /** Calls of tools that are billed by the call, at most, by the name of their price. */
  readonly tools: Readonly<Record<string, number>>;
  /** Searches of the web, at most. */
  readonly searches: number;
  /** Turns over the whole prompt that are billed beside the answer's own: 1 where the provider may compact it. */
  readonly compactions: number;
}

/** Where the body asks for a model of its own choosing, which is offered at no key; null: nowhere. */
export const otherModelIn = (body: Json): string | null => readerOf(body).otherModel;

export const demandsOf = (body: unknown): Demands => (isObject(body) ? readerOf(body) : NO_DEMANDS);

const NO_DEMANDS: Demands = { objects: null, routing: null, tools: {}, searches: 0, compactions: 0 };

/** A body is read when it is checked, and looked up when it is routed. */
const known = new WeakMap<Json, BodyReader>();

function readerOf(body: Json): BodyReader {
  const reader = known.get(body) ?? new BodyReader(body);
  known.set(body, reader);
  return reader;
}

/** Calls of one tool that a request is held for when it sets no limit to them. */
const CALLS_LIKELY = 10;
/** The client writes the name, and it comes back in a message and in the ledger. */
const TOOL_NAME_LENGTH_MAX = 100;

/** Blocks that are what a tool was given, and words. */
const CLOSED: ReadonlySet<unknown> = new Set([
  ...["tool_use", "server_tool_use", "mcp_tool_use", "function_call", "custom_tool_call"],
  ...["text", "input_text", "output_text", "thinking", "refusal"],
]);

/** The type of a tool without its date: `web_search` of `web_search_20250305`. */
const undated = (type: string): string => type.replace(/_(?:\d{8}|\d{4}_\d{2}_\d{2})$/, "");

/** One without a type is the client's where it has a name; else it is called by its only field, as some hosts do. */
function typeOf(tool: Json): string {
  if (typeof tool.type === "string" && tool.type !== "") {
    return undated(tool.type).slice(0, TOOL_NAME_LENGTH_MAX).toWellFormed();
  }
  if (tool.name !== undefined || tool.function !== undefined) return "function";
  return (Object.keys(tool)[0] ?? "function").slice(0, TOOL_NAME_LENGTH_MAX).toWellFormed();
}

const verdictOf = (type: string): ToolVerdict =>
  Object.hasOwn(TOOL_TYPES, type) ? TOOL_TYPES[type]! : "call";

/** What says nothing: a field left out, null, an empty list. */
const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const isHosted = ({ environment }: Json): boolean =>
  isObject(environment) && typeof environment.type === "string" && environment.type !== "local";

/** Reads a body once, from its top level down. */
class BodyReader implements Demands {
  otherModel: string | null = null;
  objects: string | null = null;
  routing: string | null = null;
  readonly tools: Record<string, number> = Object.create(null) as Record<string, number>;
  searches = 0;
  readonly compactions: number;
  readonly #callsMax: number | null;

  constructor(body: Json) {
    const { max_tool_calls: most } = body;
    this.#callsMax = Number.isSafeInteger(most) && (most as number) > 0 ? (most as number) : null;
    this.compactions = mayCompact(body) ? 1 : 0;
    if (isObject(body.web_search_options)) this.searches = 1;
    for (const [field, value] of Object.entries(body)) {
      if (!isAbsent(value) && Object.hasOwn(TOP_LEVEL, field)) this.#topLevel(field, value);
    }
  }

  #topLevel(field: string, value: unknown): void {
    switch (TOP_LEVEL[field]) {
      case "other_model":
        this.otherModel ??= field;
        return;
      case "routes":
        this.routing ??= field;
        return;
      case "objects":
        this.objects ??= field;
        return;
      case "objects_if_object":
        if (isObject(value) && !Array.isArray(value)) this.objects ??= field;
        return;
      case "nested":
        if (field === "tools") this.#tools(value, field);
        else if (field === "container") this.#container(value, field);
        else if (field === "audio") this.#voice(value, field);
        else if (field !== "functions") this.#content(value, field);
    }
  }

  #voice(audio: unknown, at: string): void {
    if (isObject(audio) && isObject(audio.voice)) this.objects ??= `${at}.voice`;
  }

  /** A string is a container's id; an object may name one, and files or skills of the account for a new one. */
  #container(value: unknown, at: string): void {
    if (typeof value === "string") this.objects ??= at;
    else if (isObject(value)) this.#account(value, at);
  }

  #tools(value: unknown, at: string): void {
    if (!Array.isArray(value)) return;
    for (const [i, tool] of value.entries()) if (isObject(tool)) this.#tool(tool, `${at}.${i}`);
  }

  #tool(tool: Json, at: string): void {
    const type = typeOf(tool);
    const verdict = verdictOf(type);
    if (verdict === "nested") this.#tools(tool.tools, `${at}.tools`);
    if (verdict === "other_model") this.otherModel ??= at;
    if (verdict === "objects") this.objects ??= at;
    if (type === "function" || type === "custom") return;
    if (!isAbsent(tool.model)) this.otherModel ??= `${at}.model`;
    this.#account(tool, at);
    this.#calls(tool, type, verdict);
  }

  #calls(tool: Json, type: string, verdict: ToolVerdict): void {
    const { max_uses: most } = tool;
    const own = Number.isSafeInteger(most) ? Math.max(0, most as number) : null;
    const calls = own ?? this.#callsMax ?? CALLS_LIKELY;
    if (verdict === "search") this.searches += calls;
    if (verdict === "call" || (verdict === "call_if_hosted" && isHosted(tool))) {
      this.tools[type] = (this.tools[type] ?? 0) + calls;
    }
  }

  /** Things of the account in a tool, and in what it runs in. */
  #account(holder: Json, at: string): void {
    for (const [field, value] of Object.entries(holder)) {
      if (isAbsent(value) || !Object.hasOwn(TOOL_FIELDS, field)) continue;
      const verdict = TOOL_FIELDS[field];
      if (verdict === "objects") this.objects ??= `${at}.${field}`;
      else if (field === "id" && at.endsWith("container")) this.objects ??= `${at}.${field}`;
      else if (field === "container") this.#container(value, `${at}.${field}`);
      else if (field === "skills") this.#skills(value, `${at}.${field}`);
      else if (verdict === "nested" && isObject(value)) this.#account(value, `${at}.${field}`);
    }
  }

  /** The maker's own skills are everybody's, and one that is sent along is the sender's. */
  #skills(value: unknown, at: string): void {
    if (!Array.isArray(value)) return;
    for (const [i, skill] of value.entries()) {
      if (isObject(skill) && skill.type !== "anthropic" && !isAbsent(skill.skill_id))
        this.objects ??= `${at}.${i}`;
    }
  }

  /** A message, an item, a block, or a list of them. */
  #content(value: unknown, at: string): void {
    if (Array.isArray(value)) {
      // Prompts may be long lists of numbers.
      for (const [i, one] of value.entries()) if (typeof one === "object") this.#content(one, `${at}.${i}`);
    } else if (isObject(value) && !CLOSED.has(value.type)) {
      for (const [field, inner] of Object.entries(value)) {
        if (!isAbsent(inner) && Object.hasOwn(CONTENT_FIELDS, field))
          this.#block(field, inner, `${at}.${field}`);
      }
    }
  }

  #block(field: string, value: unknown, at: string): void {
    const verdict = CONTENT_FIELDS[field];
    if (verdict === "objects") this.objects ??= at;
    if (verdict !== "nested") return;
    if (field === "tools") this.#tools(value, at);
    else if (field === "tool") this.#added(value, at);
    else if (field === "environment") this.#container(value, at);
    else if (field === "audio") this.#spoken(value, at);
    else if (field === "content") {
      // An object here is what a server tool gave back.
      if (Array.isArray(value)) this.#content(value, at);
    } else this.#content(value, at);
  }

  /** A tool that a later message brings. A mere reference names one of `tools`, or one of the account's servers. */
  #added(value: unknown, at: string): void {
    if (!isObject(value)) return;
    const { type } = value;
    if (typeof type === "string" && type.endsWith("_reference")) {
      if (type.startsWith("mcp")) this.objects ??= at;
    } else if (isObject(value.definition)) this.#tool(value.definition, `${at}.definition`);
  }

  /** What was said in an earlier answer lies at the provider under an id. */
  #spoken(value: unknown, at: string): void {
    if (isObject(value) && !isAbsent(value.id)) this.objects ??= `${at}.id`;
  }
}

/** Whether the provider may sum up the conversation before it answers. */
function mayCompact({ compaction, context_management: managed }: Json): boolean {
  if (isObject(compaction)) return true;
  const edits: unknown = isObject(managed) ? managed.edits : managed;
  return (
    Array.isArray(edits) && edits.some((edit) => isObject(edit) && String(edit.type).startsWith("compact"))
  );
}
