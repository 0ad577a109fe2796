// Finds what a request demands beyond its model: objects in the provider's account, a host's own routing, and
// tools that are billed per call. It applies field-verdicts.ts only where a provider interprets fields: at
// the top level, in entries of `tools`, in content blocks and their sources; never in a tool's schema, a
// call's arguments or a text. Pure.

import { NO_TOOL_USES } from "../../actors/pricing/tool-prices.ts";
import {
  CONTENT_FIELDS,
  TOOL_FIELDS,
  TOOL_TYPES,
  TOP_LEVEL,
  type ToolVerdict,
  type Verdict,
  type Verdicts,
} from "./field-verdicts.ts";
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

const NO_DEMANDS: Demands = {
  objects: null,
  routing: null,
  tools: NO_TOOL_USES,
  searches: 0,
  compactions: 0,
};

/** Readers by body, because a body is read once for validation and again for routing. */
const known = new WeakMap<Json, ReadBody>();
/** Readers that have visited fewer values are not kept: to keep one takes longer than to read again. */
const KEPT_VISITS_MIN = 50;

/** What reading a body found. */
interface ReadBody extends Demands {
  readonly otherModel: string | null;
}

/** Records the demands of a body whose value is not kept; `body` is its outline. */
export const recordDemands = (body: Json, demands: Demands): void => {
  known.set(body, { ...demands, otherModel: null });
};

function readerOf(body: Json): ReadBody {
  const found = known.get(body);
  if (found !== undefined) return found;
  const reader = new BodyReader(body);
  if (reader.isLong) known.set(body, reader);
  return reader;
}

/** Returns the verdicts on which the reader acts. */
const acting = (verdicts: Verdicts): ReadonlyMap<string, Verdict> =>
  new Map(Object.entries(verdicts).filter(([, verdict]) => verdict !== "passes" && verdict !== "read"));

const AT_TOP = acting(TOP_LEVEL);
const IN_TOOLS = acting(TOOL_FIELDS);
const IN_CONTENT = acting(CONTENT_FIELDS);

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

/** Reads a body once, from the top level down. */
class BodyReader implements Demands {
  otherModel: string | null = null;
  objects: string | null = null;
  routing: string | null = null;
  tools: Record<string, number> = NO_TOOL_USES;
  searches = 0;
  readonly compactions: number;
  /** The number of tools and blocks that were read. */
  #visits = 0;
  readonly #callsMax: number | null;
  /** The fields and indexes that lead to the value that is being read. */
  readonly #path: (string | number)[] = [];

  constructor(body: Json) {
    const { max_tool_calls: most } = body;
    this.#callsMax = Number.isSafeInteger(most) && (most as number) > 0 ? (most as number) : null;
    this.compactions = mayCompact(body) ? 1 : 0;
    if (isObject(body.web_search_options)) this.searches = 1;
    for (const field in body) {
      const verdict = AT_TOP.get(field);
      if (verdict !== undefined && !isAbsent(body[field])) this.#topLevel(field, body[field], verdict);
    }
  }

  /** Whether to read the body again takes longer than to keep this. */
  get isLong(): boolean {
    return this.#visits >= KEPT_VISITS_MIN;
  }

  #topLevel(field: string, value: unknown, verdict: Verdict): void {
    this.#path.push(field);
    switch (verdict) {
      case "other_model":
        this.#foundModel();
        break;
      case "routes":
        this.routing ??= field;
        break;
      case "objects":
        this.#foundObject();
        break;
      case "objects_if_object":
        if (isObject(value) && !Array.isArray(value)) this.#foundObject();
        break;
      case "nested":
        if (field === "tools") this.#tools(value);
        else if (field === "container") this.#container(value);
        else if (field === "audio") this.#voice(value);
        else if (field !== "functions") this.#content(value);
    }
    this.#path.pop();
  }

  /** Records that the value being read selects another model. */
  #foundModel(): void {
    this.otherModel ??= this.#path.join(".");
  }

  /** Records that the value being read names an object of the account. */
  #foundObject(): void {
    this.objects ??= this.#path.join(".");
  }

  /** Records that a field of the value being read names an object of the account. */
  #foundObjectIn(field: string): void {
    this.objects ??= [...this.#path, field].join(".");
  }

  #voice(audio: unknown): void {
    if (isObject(audio) && isObject(audio.voice)) this.#foundObjectIn("voice");
  }

  /**
   * A string is a container's id. An object may name one, or name files or skills of the account for a new
   * one.
   */
  #container(value: unknown): void {
    if (typeof value === "string") this.#foundObject();
    else if (isObject(value)) this.#account(value);
  }

  #tools(value: unknown): void {
    if (!Array.isArray(value)) return;
    for (let i = 0; i < value.length; i++) {
      if (!isObject(value[i])) continue;
      this.#path.push(i);
      this.#tool(value[i]);
      this.#path.pop();
    }
  }

  #tool(tool: Json): void {
    this.#visits++;
    const type = typeOf(tool);
    const verdict = verdictOf(type);
    if (verdict === "nested") {
      this.#path.push("tools");
      this.#tools(tool.tools);
      this.#path.pop();
    }
    if (verdict === "other_model") this.#foundModel();
    if (verdict === "objects") this.#foundObject();
    if (type === "function" || type === "custom") return;
    this.#account(tool);
    this.#calls(tool, type, verdict);
  }

  #calls(tool: Json, type: string, verdict: ToolVerdict): void {
    const { max_uses: most } = tool;
    const own = Number.isSafeInteger(most) ? Math.max(0, most as number) : null;
    const calls = own ?? this.#callsMax ?? CALLS_LIKELY;
    if (verdict === "search") this.searches += calls;
    if (verdict === "call" || (verdict === "call_if_hosted" && isHosted(tool))) this.#addCalls(type, calls);
  }

  /** Adds calls of a tool. The client chooses the type, so the counts have no prototype. */
  #addCalls(type: string, calls: number): void {
    if (this.tools === NO_TOOL_USES) this.tools = Object.create(null) as Record<string, number>;
    this.tools[type] = (this.tools[type] ?? 0) + calls;
  }

  /** Finds other models and objects of the account in a tool or in its container or environment. */
  #account(holder: Json): void {
    for (const field in holder) {
      const verdict = IN_TOOLS.get(field);
      const value = holder[field];
      if (verdict === undefined || isAbsent(value)) continue;
      if (verdict === "other_model") this.otherModel ??= [...this.#path, field].join(".");
      else if (verdict === "objects") this.#foundObjectIn(field);
      else if (field === "id" && this.#path.at(-1) === "container") this.#foundObjectIn(field);
      else if (verdict === "nested") {
        this.#path.push(field);
        if (field === "container") this.#container(value);
        else if (field === "skills") this.#skills(value);
        else if (isObject(value)) this.#account(value);
        this.#path.pop();
      }
    }
  }

  /**
   * Skills of the provider itself are public, and an inline skill belongs to the client; only others are
   * objects.
   */
  #skills(value: unknown): void {
    if (!Array.isArray(value)) return;
    for (const [i, skill] of value.entries()) {
      if (isObject(skill) && skill.type !== "anthropic" && !isAbsent(skill.skill_id))
        this.#foundObjectIn(String(i));
    }
  }

  /** Reads a message, an item, a block, or a list of these. */
  #content(value: unknown): void {
    if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) {
        // Only objects are visited, because a prompt may be a long list of numbers.
        if (typeof value[i] !== "object") continue;
        this.#path.push(i);
        this.#content(value[i]);
        this.#path.pop();
      }
    } else if (isObject(value) && !CLOSED.has(value.type)) {
      this.#visits++;
      for (const field in value) {
        const verdict = IN_CONTENT.get(field);
        if (verdict !== undefined && !isAbsent(value[field])) this.#block(field, value[field], verdict);
      }
    }
  }

  #block(field: string, value: unknown, verdict: Verdict): void {
    if (verdict !== "objects" && verdict !== "nested") return;
    this.#path.push(field);
    if (verdict === "objects") this.#foundObject();
    else if (field === "tools") this.#tools(value);
    else if (field === "tool") this.#added(value);
    else if (field === "environment") this.#container(value);
    else if (field === "audio") this.#readAudio(value);
    else if (field === "content") {
      // An object here is the result of a server tool.
      if (Array.isArray(value)) this.#content(value);
    } else this.#content(value);
    this.#path.pop();
  }

  /** Reads a tool that a later message adds. A reference names one of `tools`, or a server of the account. */
  #added(value: unknown): void {
    if (!isObject(value)) return;
    const { type } = value;
    if (typeof type === "string" && type.endsWith("_reference")) {
      if (type.startsWith("mcp")) this.#foundObject();
    } else if (isObject(value.definition)) {
      this.#path.push("definition");
      this.#tool(value.definition);
      this.#path.pop();
    }
  }

  /** The provider stores the audio of an earlier answer under an id. */
  #readAudio(value: unknown): void {
    if (isObject(value) && !isAbsent(value.id)) this.#foundObjectIn("id");
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
