// The contract of a dialect: how requests of one API style are read, and how answers and errors are read and
// written in it. Implementations are pure and pass on everything that they need not change: unknown fields
// and unknown events are kept. A dialect must not decide on prices, limits or keys.

import type { ImageKind } from "../../actors/pricing/price.ts";
import type { ToolUses } from "../../actors/pricing/tool-prices.ts";
import type { Usage } from "../../actors/pricing/usage.ts";
import type { SseEvent } from "../sse/sse-reader.ts";
import type { ConversationHint } from "./conversation-hint.ts";
import type { Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";
import type { UsageDialect } from "./usage.ts";

/** Usage other than tokens that a price may count. */
export interface NonTokenUsage {
  /** Number of images, search units or calls. */
  readonly calls?: number;
  /** Unicode code points of text to be spoken. */
  readonly chars?: number;
  /** Seconds of audio that the model heard or spoke. */
  readonly seconds?: number;
  /** Marks `seconds` as estimated from the size of a file. */
  readonly estimated?: true;
  /** Number of web searches by the provider's own tool, which are priced separately. */
  readonly webSearches?: number;
  /** Number of calls of other server tools that are billed per call, by the name of their price. */
  readonly toolUses?: ToolUses;
  /** The kind of the images, on which their price depends. */
  readonly image?: ImageKind;
}

/** What the gateway must know about a request; everything else stays in its payload. */
export interface ModelRequest {
  readonly payload: Payload;
  readonly model: string;
  readonly stream: boolean;
  /** Number of choices; each may use the whole output limit. */
  readonly n: number;
  /** The client's output limit in tokens for one choice; null when it sets none. */
  readonly maxOutput: number | null;
  /** Whether the client wants usage, which the gateway always requests from the provider. */
  readonly includeUsage: boolean;
  /** UTF-8 bytes of all text that the model reads: messages, tools, schemas. */
  readonly promptBytes: number;
  /** Exact number of prompt tokens if the client sent tokens instead of text; otherwise undefined. */
  readonly promptTokens?: number;
  /** Number of independent texts, each of which may fill the context window; undefined means one. */
  readonly inputs?: number;
  readonly images: number;
  /** Number of attached files, including audio. */
  readonly files: number;
  readonly serviceTier: string | null;
  /** Kinds of token that this request cannot have, so that its hold need not cover their price. */
  readonly never: readonly (keyof Usage)[];
  /** Maximum usage other than tokens: for the hold, and for the charge if the answer reports none. */
  readonly measured: NonTokenUsage;
  /** What tells its conversation from others; undefined for a request without conversation, such as embeddings. */
  readonly conversation?: ConversationHint;
  /** The requested format of the answer, such as `mp3`, `srt` or `text`; null means JSON or events. */
  readonly answerForm: string | null;
}

/** The refusal of a request, with the field and the rule that it breaks. */
export interface RequestRefusal {
  readonly code: "missing_parameter" | "invalid_parameter" | "previous_response_not_found";
  readonly field: string;
  readonly message: string;
  /** Details by which the client's SDK decides what to do. */
  readonly errorDetails?: Readonly<Record<string, unknown>>;
}

/** A request that was read, or its refusal. */
export type ParsedRequest =
  | { readonly ok: true; readonly request: ModelRequest }
  | { readonly ok: false; readonly refusal: RequestRefusal };

/** The body of a whole answer with its content type. */
export interface WholeBody {
  /** The text of the body; empty for audio, see `isSound`. */
  readonly text: string;
  readonly contentType: string;
  /** Size and first few hundred bytes of audio, which passes on as bytes. */
  readonly sound?: { readonly bytes: number; readonly beginning: Uint8Array };
}

/**
 * A whole answer, or the kind of failure that it is; `classify` then reads the details from the same text.
 */
export type WholeAnswer =
  | {
      readonly ok: true;
      /** The parsed body; null when the answer is not JSON. */
      readonly body: Json | null;
      /** The provider's usage, unchanged; null when there is none. */
      readonly usage: unknown;
      readonly serviceTier: string | null;
      /** All generated text, for counting when there is no usage. */
      readonly texts: readonly string[];
      /** Usage other than tokens that the answer reports or shows. */
      readonly measured: NonTokenUsage;
    }
  | { readonly ok: false; readonly fault: "error_body" | "server_error" };

/** What to do after one event. */
export type StreamStep =
  /**
   * Sends `bytes`, or the unchanged event when null. `content` says whether it carries anything generated.
   */
  | { readonly kind: "pass"; readonly bytes: Uint8Array | null; readonly content: boolean }
  | { readonly kind: "withheld" }
  /** Ends the stream with the provider's error, which is for `classify` with status 200. */
  | { readonly kind: "error"; readonly text: string }
  /** Ends the stream with the closing event, which is sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array };

/**
 * A state machine for one stream. It is fed with the provider's events and decides what the client receives.
 */
export interface StreamMachine {
  feed(event: SseEvent): StreamStep;
  /** Does the same for an event of one whole `data:` line, after an `event:` line if `name` is not empty. */
  feedData(data: string, name: string): StreamStep;
  /**
   * Does the same, as one step, for all events from index `from` on that differ from an earlier one in one
   * string only; see `DeltaFastPath`. `text` holds whole events. Returns null when the next event must be fed
   * alone.
   */
  feedRun?(text: string, from: number): { readonly step: StreamStep; readonly end: number } | null;
  /**
   * Returns how the stream ended. `clean` means an orderly end of the connection. A truncated answer is
   * `broken`.
   */
  outcome(clean: boolean): "complete" | "broken" | "empty";
  /** The provider's last usage, merged if the dialect requires it; null when there is none. */
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** The model's name in the provider's events so far; null or undefined when there is none. */
  readonly model?: string | null;
  /** Whether anything generated has been passed on. */
  readonly delivered: boolean;
  /** Number of characters generated so far. */
  readonly chars: number;
  /** Returns the generated text, or a sample of it for a long stream, for counting when no usage arrives. */
  texts(): readonly string[];
  /** Usage other than tokens that the stream has shown; `measuredOf` combines it with that of the request. */
  readonly measured?: NonTokenUsage;
  /** Ids of stored objects in the stream so far; undefined if the provider stores nothing. */
  readonly made?: ReadonlySet<string>;
  /**
   * Returns the closing event for a provider that ended well without one; call it once. Undefined if
   * `Dialect.closing` applies.
   */
  closing?(): Uint8Array;
  /** Returns the error event if it depends on earlier events; undefined if `Dialect.streamError` applies. */
  streamError?(error: StreamError): Uint8Array;
}

/**
 * Receives what a machine reads, so that no event is parsed twice. It does not receive errors and `[DONE]`.
 */
export interface StreamListener {
  /**
   * Receives a parsed event. `type` is the dialect's name of it, or empty. If `pattern` is true, the
   * following calls of `repeated` refer to this event.
   */
  event(event: Json, type: string, pattern: boolean): void;
  /**
   * Receives events that equal the last pattern except for their strings, which are not empty and have no character that
   * JSON escapes.
   */
  repeated(texts: readonly string[]): void;
}

/** How the client wants a stream. */
export interface StreamOptions {
  readonly includeUsage: boolean;
  /**
   * The `system_fingerprint` to set if the provider sends none; null sets none. Some dialects have no such
   * field.
   */
  readonly fingerprint: string | null;
  /** The model's other name at the provider; null or undefined when it has none. */
  readonly alias?: ModelAlias | null;
}

/**
 * The model's name as sent to the provider (`upstreamModel`), which answers may repeat, and the name that the client
 * uses.
 */
export interface ModelAlias {
  readonly upstreamModel: string;
  readonly model: string;
}

/** An error that a client receives inside a stream. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly details?: unknown;
}

/** How a request body must name the model for a provider. */
export interface ModelNaming {
  /** The value of `model`; null means that the body must not have this field. */
  readonly model: string | null;
  /** Fields that the body must have; they replace the client's. */
  readonly add: Readonly<Record<string, string>>;
  /** Fields that must be removed. */
  readonly without?: readonly string[];
}

/** Reads references to objects that a provider stores and that only the key that created them can access. */
export interface KeptObjects {
  /** Returns the ids that a request refers to, each with the parameter that names it. */
  referencesOf(body: Json): ReadonlyMap<string, string>;
  /** Returns the ids of reasoning that a request refers to, which it can do without. */
  reasoningOf(body: Json): readonly string[];
  /** Whether the request asks the provider to store the answer. */
  isKept(body: Json): boolean;
  /** Returns the ids of stored objects in an answer, each once. */
  madeBy(answer: Json): readonly string[];
}

/** The format of an endpoint. */
export interface Dialect {
  /** The API style that a key must support for this dialect, and whose SDKs read its errors. */
  readonly name: "chat" | "messages";
  /** The format of its usage. */
  readonly usage: UsageDialect;
  /** Validates and reads a request, or returns its refusal. */
  parse(payload: Payload): ParsedRequest;
  /** Undefined if providers store no objects of this dialect. */
  readonly objects?: KeptObjects;
  /** Returns all texts of the prompt, for counting. */
  promptTexts(request: ModelRequest): readonly string[];
  /**
   * Returns the body for the provider: it names the model as required and requests usage, and is unchanged
   * otherwise.
   */
  upstreamBody(request: ModelRequest, naming: ModelNaming): string | Uint8Array;
  /**
   * Returns the payload without the reasoning that a provider has encrypted for its organization alone or keeps. Undefined if requests
   * of this dialect carry none.
   */
  readonly withoutReasoning?: (payload: Payload) => Payload;
  /**
   * Returns the payload for a model that refuses function calls without a signature. Undefined if requests of this dialect
   * reach no such model unless they are translated.
   */
  readonly withSignedCalls?: (payload: Payload) => Payload;
  /** Reads a whole answer. */
  readAnswer(answered: WholeBody, request: ModelRequest): WholeAnswer;
  /** Returns the text of a whole answer for the client, with a fingerprint if the provider sent none. */
  withFingerprint(text: string, body: Json | null, fingerprint: string | null): string;
  /** Creates the machine for one stream. */
  stream(options: StreamOptions): StreamMachine;
  /** The closing event for a provider that ended well without one; empty if the dialect has none. */
  readonly closing: Uint8Array;
  /** Returns the event that reports a failure of the stream to the client. No closing event follows it. */
  streamError(error: StreamError, requestId: string): Uint8Array;
}
