// The contract of a dialect: what a client's style of request asks for, and how answers and failures are said in it.
// Implementations are siblings, pure, and pass on unchanged whatever they need not change: unknown fields and unknown
// events survive. None judges prices, limits or keys.

import type { ImageKind } from "../../actors/pricing/price.ts";
import type { ToolUses } from "../../actors/pricing/tool-prices.ts";
import type { Usage } from "../../actors/pricing/usage.ts";
import type { SseEvent } from "../sse/sse-reader.ts";
import type { Json } from "./json.ts";
import type { Payload } from "./payload/payload.ts";
import type { UsageDialect } from "./usage.ts";

/** What a price may count beside tokens. */
export interface NonTokenUsage {
  /** Images, search units, calls. */
  readonly calls?: number;
  /** Unicode code points of spoken text. */
  readonly chars?: number;
  /** Of sound: what was heard, or what was spoken. */
  readonly seconds?: number;
  /** `seconds` were guessed from the size of a file. */
  readonly estimated?: true;
  /** Searches of the web that the provider's own tool makes for an answer, each at a price of its own. */
  readonly webSearches?: number;
  /** Calls of other server tools that are billed by the call, by the name of their price. */
  readonly toolUses?: ToolUses;
  /** Of images: what their price depends on. */
  readonly image?: ImageKind;
}

/** What the gateway must know of a request; everything else stays in its payload. */
export interface ModelRequest {
  readonly payload: Payload;
  readonly model: string;
  readonly stream: boolean;
  /** Choices asked for: each may use the whole output. */
  readonly n: number;
  /** The client's output limit for one choice; null without one. */
  readonly maxOutput: number | null;
  /** Whether the client wants the usage that we ask of the provider anyway. */
  readonly includeUsage: boolean;
  /** UTF-8 bytes of all text that the model will read: messages, tools, schemas. */
  readonly promptBytes: number;
  /** Tokens of the whole prompt, exactly, where the client sent tokens in place of text; left out: see `promptBytes`. */
  readonly promptTokens?: number;
  /** Texts that stand each for itself, so that each may fill the model's window; left out: one. */
  readonly inputs?: number;
  readonly images: number;
  /** Attached files, audio included. */
  readonly files: number;
  readonly serviceTier: string | null;
  /** Kinds of token that this request cannot have, so that its hold need not fear their price. */
  readonly never: readonly (keyof Usage)[];
  /** The most it can come to, beside tokens: for the hold, and for the charge where the answer says nothing better. */
  readonly measured: NonTokenUsage;
  /** The form in which the answer is to come, where it is not JSON: `mp3`, `srt`, `text`; null: JSON or events. */
  readonly answerForm: string | null;
}

/** Why a request is refused: the field, and the rule that it breaks. */
export interface RequestRefusal {
  readonly code: "missing_parameter" | "invalid_parameter";
  readonly field: string;
  readonly message: string;
  /** What the client's SDK decides by, where the message is not for a person alone. */
  readonly errorDetails?: Readonly<Record<string, unknown>>;
}

export type ParsedRequest =
  | { readonly ok: true; readonly request: ModelRequest }
  | { readonly ok: false; readonly refusal: RequestRefusal };

/** The text of a whole answer, and what its head says of it. */
export interface WholeBody {
  /** Empty where the answer is sound: see `isSound` in speech.ts. */
  readonly text: string;
  readonly contentType: string;
  /** Of sound, which passes on as bytes: how many there are, and the first of them (a few hundred are enough). */
  readonly sound?: { readonly bytes: number; readonly beginning: Uint8Array };
}

/** A whole answer, or the name of the signal it means instead; `classify` then says the rest from the same text. */
export type WholeAnswer =
  | {
      readonly ok: true;
      /** Null where the answer is no JSON. */
      readonly body: Json | null;
      /** The provider's usage as it came; null without one. */
      readonly usage: unknown;
      readonly serviceTier: string | null;
      /** All that was generated, for counting when there is no usage. */
      readonly texts: readonly string[];
      /** What the answer says, or shows, that a price may count beside tokens. */
      readonly measured: NonTokenUsage;
    }
  | { readonly ok: false; readonly fault: "error_body" | "server_error" };

export type StreamStep =
  /** Send `bytes`, null being the event as it came; `content` once it carries anything generated. */
  | { readonly kind: "pass"; readonly bytes: Uint8Array | null; readonly content: boolean }
  | { readonly kind: "withheld" }
  /** The provider's error inside the stream, for `classify` with status 200. The stream is over. */
  | { readonly kind: "error"; readonly text: string }
  /** The closing event: to be sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array };

/** A machine for one stream, fed with the provider's events. */
export interface StreamMachine {
  feed(event: SseEvent): StreamStep;
  /** The same for an event that is nothing but one whole `data:` line, after an `event:` line when `name` is not empty. */
  feedData(data: string, name: string): StreamStep;
  /**
   * The same for all events from the character `from` on that differ from one read before in their words alone, as one step;
   * null: there is none, or it must be read by itself. `text` holds whole events. Left out: the machine reads each by itself.
   */
  feedRun?(text: string, from: number): { readonly step: StreamStep; readonly end: number } | null;
  /** How it ended, `clean` being an orderly end of the connection. A cut answer is `broken`. */
  outcome(clean: boolean): "complete" | "broken" | "empty";
  /** The provider's last usage as it came, merged where the dialect says so; null: none. */
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** The model as the provider names it in what it said so far; left out or null: it has not. */
  readonly model?: string | null;
  /** Whether anything generated has been passed on. */
  readonly delivered: boolean;
  /** Characters generated so far, and their text, of a long stream a sample of it: for counting when no usage comes. */
  readonly chars: number;
  texts(): readonly string[];
  /** What the stream showed so far that a price may count beside tokens (`measuredOf` puts it to the request's); left out: nothing. */
  readonly measured?: NonTokenUsage;
  /** Ids under which the provider keeps what the stream has told so far; left out: it keeps nothing. */
  readonly made?: ReadonlySet<string>;
  /** What closes it, once, for a provider that ended well without doing so; left out where the dialect's `closing` does. */
  closing?(): Uint8Array;
  /** The event that tells of a failure, where it depends on what went before; left out where the dialect's does not. */
  streamError?(error: StreamError): Uint8Array;
}

/** Told what a machine reads while it reads, so that nobody parses an event twice. Errors and `[DONE]` are not told. */
export interface StreamListener {
  /** `type`: as the dialect names events, empty without one. `pattern`: whatever `again` tells from now on is like it. */
  event(event: Json, type: string, pattern: boolean): void;
  /** Another event like the last pattern, but for its words. */
  again(words: string): void;
}

export interface StreamOptions {
  readonly includeUsage: boolean;
  /** What to set as `system_fingerprint` where the provider sends none; null, or a dialect without one: left out. */
  readonly fingerprint: string | null;
  /** null, or a dialect whose answers name no alias: none. */
  readonly alias?: ModelAlias | null;
}

/** What a provider was told that the model is called, and the model. Its answers may repeat the one, clients know the other. */
export interface ModelAlias {
  readonly told: string;
  readonly model: string;
}

/** An error as a client reads it inside a stream. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly details?: unknown;
}

/** How a provider wants to be told of the model. */
export interface ModelNaming {
  /** null: the body must not name it. */
  readonly model: string | null;
  /** Fields that the body must carry, whatever the client sent under their names. */
  readonly add: Readonly<Record<string, string>>;
  /** Fields that it must not have. */
  readonly without?: readonly string[];
}

/** What a dialect says of things that a provider keeps, which only the key that made them can reach. */
export interface KeptObjects {
  /** Ids that a request refers to, each with the parameter that names it. */
  referencesOf(body: Json): ReadonlyMap<string, string>;
  /** Whether the provider is to keep the answer. */
  isKept(body: Json): boolean;
  /** Ids that an answer has made known, each once. */
  madeBy(answer: Json): readonly string[];
}

export interface Dialect {
  /** The family of SDKs that reads its errors, and the style that a key must speak to take it. */
  readonly name: "chat" | "messages";
  /** How its usage is read. */
  readonly usage: UsageDialect;
  parse(payload: Payload): ParsedRequest;
  /** Left out: its providers keep nothing that can be asked for again. */
  readonly objects?: KeptObjects;
  /** All texts of the prompt, for counting; made only when needed. */
  promptTexts(request: ModelRequest): readonly string[];
  /** The body for the provider: the model as it is called there, usage asked for, nothing else changed. */
  upstreamBody(request: ModelRequest, naming: ModelNaming): string | Uint8Array;
  readAnswer(answered: WholeBody, request: ModelRequest): WholeAnswer;
  /** A whole answer's text for the client. */
  withFingerprint(text: string, body: Json | null, fingerprint: string | null): string;
  stream(options: StreamOptions): StreamMachine;
  /** The closing event, for a provider that ended well without one; empty where the dialect has none. */
  readonly closing: Uint8Array;
  /** The event that tells a client that its stream has failed. No closing event follows it. */
  streamError(error: StreamError, requestId: string): Uint8Array;
}
