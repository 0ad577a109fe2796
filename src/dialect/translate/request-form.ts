// The common form of a request: a reader reads it from the client's style, a writer writes it in the provider's. So there
// is one reader and one writer for each style, and none for a pair. This file declares the form; it
// must not know the fields of any style.

import { isObject, type Json } from "../json.ts";
import type { Cacheable, ConversationTurn } from "./conversation.ts";
import type { ToolNames } from "./identifiers.ts";
import type { Effort, ModelFacts } from "./translation.ts";
import type { Refusals } from "./translation-errors.ts";

/** A tool that the client runs. A custom tool has been made a function with one text parameter by its reader. */
export interface ToolForm extends Cacheable {
  /** The name that the provider receives. */
  readonly name: string;
  readonly description: string | null;
  /** The JSON schema of its parameters, as the client wrote it. */
  readonly schema: unknown;
  /** Whether calls must follow the schema exactly. */
  readonly strict: boolean;
}

/** Which tools the model may or must call. */
export interface ToolChoice {
  /** `tool` means the one tool in `allowed`; null means the model's default. */
  readonly mode: "auto" | "required" | "none" | "tool" | null;
  /** The names of the tools that it may call; null means all. */
  readonly allowed: ReadonlySet<string> | null;
}

/** The format that an answer must have: text, any JSON object, or JSON that fits a schema. */
export type FormatForm =
  | { readonly kind: "text" }
  | { readonly kind: "object" }
  | {
      readonly kind: "schema";
      readonly schema: Json;
      readonly name: string;
      readonly description: string | null;
      readonly strict: boolean;
    };

/** Sampling parameters; null means the model's default. */
export interface Sampling {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
}

/** A request without the model's name. */
export interface RequestForm {
  /** In the client's order, system texts first. */
  readonly turns: readonly ConversationTurn[];
  /** In tokens; null means the model's own. */
  readonly outputLimit: number | null;
  /**
   * What a provider that requires a limit receives where there is none: one that suits most answers, or the longest that
   * the model can give, which clients of this style rely on.
   */
  readonly outputDefault: "usual" | "longest";
  readonly stops: readonly string[];
  readonly sampling: Sampling;
  readonly tools: readonly ToolForm[];
  readonly choice: ToolChoice;
  /** Whether several tools may be called at once. */
  readonly isParallel: boolean;
  /** How much the model is to think; null means its default. */
  readonly effort: Effort | null;
  readonly format: FormatForm;
  /** How long answers are to be; null means the model's default. */
  readonly verbosity: string | null;
  /** The client's name of its user. */
  readonly user: unknown;
  /** The client's hint by which prompts of one conversation meet the same cache; null when there is none. */
  readonly cacheKey: string | null;
  readonly stream: boolean;
}

/** What a reader needs beside the request. */
export interface ReadingContext {
  readonly names: ToolNames;
  readonly refusals: Refusals;
  /** The provider that will answer, as `ModelFacts.provider`. */
  readonly provider: string;
  /** Whether the provider's style has documents at web addresses. */
  readonly hasDocumentUrls: boolean;
}

/** Reads a validated request of one style. It continues after a refusal. */
export type RequestReader = (body: Json, context: ReadingContext) => RequestForm;

/** Writes a request in one style. */
export interface RequestWriter {
  readonly toolNameLengthMax: number;
  readonly hasDocumentUrls: boolean;
  /** Writes a request. `promptTokens` is an estimate of its prompt. */
  write(form: RequestForm, model: ModelFacts, promptTokens: number): Json;
}

/** The choice of a request that leaves it to the model. */
export const ANY_TOOL: ToolChoice = { mode: null, allowed: null };

/** The tools that are sent, and what the model may do with them. */
export interface OfferedTools {
  readonly mode: ToolChoice["mode"];
  /** Not empty. If the choice is one tool, all are sent, so that earlier calls of others remain defined. */
  readonly tools: readonly [ToolForm, ...ToolForm[]];
  /** The name of the first tool that may be called. */
  readonly name: string;
}

/**
 * Returns the tools of a request as its choice narrows them, or null when there are none. A choice that allows only
 * undefined tools is ignored. If the model cannot be forced to a tool, that tool alone is sent.
 */
export function offeredTools({ tools, choice }: RequestForm, isForcible: boolean): OfferedTools | null {
  const allowed = choice.allowed === null ? tools : tools.filter(({ name }) => choice.allowed!.has(name));
  const isIgnored = allowed.length === 0;
  const [first, ...others] = isIgnored ? tools : allowed;
  if (first === undefined) return null;
  const wanted = isIgnored ? null : choice.mode;
  const mode = !isForcible && (wanted === "required" || wanted === "tool") ? "auto" : wanted;
  const sent = mode === "tool" ? (tools as OfferedTools["tools"]) : ([first, ...others] as const);
  return { mode, tools: sent, name: first.name };
}

/** Returns a schema with `type` and `properties`, since providers refuse a tool whose schema lacks them. */
export function objectSchema(schema: unknown): Json {
  const given = isObject(schema) ? schema : {};
  const properties = isObject(given.properties) ? given.properties : {};
  return { ...given, type: "object", properties };
}
