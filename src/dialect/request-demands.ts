// Finds what a request demands beyond its model: objects in the provider's account, a host's own routing, and
// tools that are billed per call. It applies field-verdicts.ts only where a provider interprets fields: at
// the top level, in entries of `tools`, in content blocks and their sources; never in a tool's schema, a
// call's arguments or a text. Pure.

import { CONTENT_FIELDS, TOOL_FIELDS, TOOL_TYPES, TOP_LEVEL, type ToolVerdict } from "./field-verdicts.ts";
import { isObject, type Json } from "./json.ts";

/** What a request demands beyond its model. */
export interface Demands {
  /** Path of the first field that names an object in the provider's account; null when there is none. */
  readonly objects: string | null;
  /** Path of the first field that selects a route at the host; null when there is none. */
  readonly routing: string | null;
  /** Maximum number of calls of tools that are billed per call, by the name of their price. */
  readonly tools: Readonly<Record<string, number>>;
  /** Maximum number of web searches. */
  readonly searches: number;
  /** Further turns over the whole prompt that are billed: 1 if the provider may compact it, otherwise 0. */
  readonly compactions: number;
}

/**
 * Returns the path of the first field that selects another model, which no key allows. Returns null without
 * one.
 */
export const otherModelIn = (body: Json): string | null => readerOf(body).otherModel;

/** Returns the demands of a body; a value that is not an object has none. */
export const demandsOf = (body: unknown): Demands => (isObject(body) ? readerOf(body) : NO_DEMANDS);

const NO_DEMANDS: Demands = { objects: null, routing: null, tools: {}, searches: 0, compactions: 0 };

/** Readers by body, because a body is read once for validation and again for routing. */
const known = new WeakMap<Json, ReadBody>();

/** What reading a body found. */
interface ReadBody extends Demands {
  readonly otherModel: string | null;
}

/** Records the demands of a body that was read on another thread; `body` is what is left of it on this one. */
export const recordDemands = (body: Json, demands: Demands): void => {
  known.set(body, { ...demands, otherModel: null });
};

function readerOf(body: Json): ReadBody {
  const found = known.get(body);
  if (found !== undefined) return found;
  const reader = new BodyReader(body);
  known.set(body, reader);
  return reader;
}

/** Calls of one tool for which a hold is taken when the request sets no limit to them. */
const CALLS_LIKELY = 10;
/** Limit of a tool's name, which comes from the client and appears in messages and in the ledger. */
const TOOL_NAME_LENGTH_MAX = 100;

/** Types of blocks that hold a call's arguments or plain text, so that their fields mean nothing here. */
const CLOSED: ReadonlySet<unknown> = new Set([
  ...["tool_use", "server_tool_use", "mcp_tool_use", "function_call", "custom_tool_call"],
  ...["text", "input_text", "output_text", "thinking", "refusal"],
]);

/** Returns a tool's type without its date, such as `web_search` for `web_search_20250305`. */
const undated = (type: string): string => type.replace(/_(?:\d{8}|\d{4}_\d{2}_\d{2})$/, "");

/**
 * Returns the type of a tool. A tool without a type is a function if it has a name; otherwise its first field
 * is the type, as at some hosts.
 */
function typeOf(tool: Json): string {
  if (typeof tool.type === "string" && tool.type !== "") {
    return undated(tool.type).slice(0, TOOL_NAME_LENGTH_MAX).toWellFormed();
  }
  if (tool.name !== undefined || tool.function !== undefined) return "function";
  return (Object.keys(tool)[0] ?? "function").slice(0, TOOL_NAME_LENGTH_MAX).toWellFormed();
}

const verdictOf = (type: string): ToolVerdict =>
  Object.hasOwn(TOOL_TYPES, type) ? TOOL_TYPES[type]! : "call";

/** Whether a value means the same as a missing field: undefined, null or an empty list. */
const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const isHosted = ({ environment }: Json): boolean =>
  isObject(environment) && typeof environment.type === "string" && environment.type !== "local";

/** Reads a body once, from the top level down. `at` is the path of a value. */
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

  /**
   * A string is a container's id. An object may name one, or name files or skills of the account for a new
   * one.
   */
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

  /** Finds objects of the account in a tool or in its container or environment. */
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

  /**
   * Skills of the provider itself are public, and an inline skill belongs to the client; only others are
   * objects.
   */
  #skills(value: unknown, at: string): void {
    if (!Array.isArray(value)) return;
    for (const [i, skill] of value.entries()) {
      if (isObject(skill) && skill.type !== "anthropic" && !isAbsent(skill.skill_id))
        this.objects ??= `${at}.${i}`;
    }
  }

  /** Reads a message, an item, a block, or a list of these. */
  #content(value: unknown, at: string): void {
    if (Array.isArray(value)) {
      // Only objects are visited, because a prompt may be a long list of numbers.
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
    else if (field === "audio") this.#readAudio(value, at);
    else if (field === "content") {
      // An object here is the result of a server tool.
      if (Array.isArray(value)) this.#content(value, at);
    } else this.#content(value, at);
  }

  /** Reads a tool that a later message adds. A reference names one of `tools`, or a server of the account. */
  #added(value: unknown, at: string): void {
    if (!isObject(value)) return;
    const { type } = value;
    if (typeof type === "string" && type.endsWith("_reference")) {
      if (type.startsWith("mcp")) this.objects ??= at;
    } else if (isObject(value.definition)) this.#tool(value.definition, `${at}.definition`);
  }

  /** The provider stores the audio of an earlier answer under an id. */
  #readAudio(value: unknown, at: string): void {
    if (isObject(value) && !isAbsent(value.id)) this.objects ??= `${at}.id`;
  }
}

/** Whether the provider may summarize the conversation before it answers. */
function mayCompact({ compaction, context_management: managed }: Json): boolean {
  if (isObject(compaction)) return true;
  const edits: unknown = isObject(managed) ? managed.edits : managed;
  return (
    Array.isArray(edits) && edits.some((edit) => isObject(edit) && String(edit.type).startsWith("compact"))
  );
}
