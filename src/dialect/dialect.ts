// The contract of a dialect: what a client's style of request asks for, and how answers and failures are said in it.
// Implementations are siblings, pure, and pass on unchanged whatever they need not change: unknown fields and unknown
// events survive. None judges prices, limits or keys.

import type { Usage } from "../../actors/usage.ts";
import type { SseEvent } from "../upstream/sse.ts";
import type { UsageDialect } from "./usage.ts";

export type Json = Record<string, unknown>;

/** What the gateway must know of a request; everything else stays in `body`. */
export interface ModelRequest {
  readonly body: Json;
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
  readonly images: number;
  /** Attached files, audio included. */
  readonly files: number;
  readonly serviceTier: string | null;
  /** Kinds of token that this request cannot have, so that its hold need not fear their price. */
  readonly never: readonly (keyof Usage)[];
}

/** Why a request is refused: the field, and the rule that it breaks. */
export interface RequestRefusal {
  readonly code: "missing_parameter" | "invalid_parameter";
  readonly field: string;
  readonly message: string;
}

export type Parsed =
  | { readonly ok: true; readonly request: ModelRequest }
  | { readonly ok: false; readonly refusal: RequestRefusal };

/** A whole answer, or the name of the signal it means instead; `classify` then says the rest from the same text. */
export type WholeAnswer =
  | {
      readonly ok: true;
      readonly body: Json;
      /** The provider's usage as it came; null without one. */
      readonly usage: unknown;
      readonly serviceTier: string | null;
      /** All that was generated, for counting when there is no usage. */
      readonly texts: readonly string[];
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
  /** How it ended, `clean` being an orderly end of the connection. A cut answer is `broken`. */
  outcome(clean: boolean): "complete" | "broken" | "empty";
  /** The provider's last usage as it came, merged where the dialect says so; null: none. */
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** Whether anything generated has been passed on. */
  readonly delivered: boolean;
  /** Characters generated so far, and their text up to a bound: for counting when no usage comes. */
  readonly chars: number;
  texts(): readonly string[];
}

export interface StreamOptions {
  readonly includeUsage: boolean;
  /** What to set as `system_fingerprint` where the provider sends none; null, or a dialect without one: left out. */
  readonly fingerprint: string | null;
  /** null, or a dialect whose answers name no alias: none. */
  readonly alias?: Alias | null;
}

/** What a provider was told that the model is called, and the model. Its answers may repeat the one, clients know the other. */
export interface Alias {
  readonly told: string;
  readonly model: string;
}

/** An error as a client reads it inside a stream. */
export interface StreamError {
  readonly message: string;
  readonly type: string;
  readonly code: string;
}

/** How a provider wants to be told of the model. */
export interface Naming {
  /** null: the body must not name it. */
  readonly model: string | null;
  /** Fields that the body must carry, whatever the client sent under their names. */
  readonly add: Readonly<Record<string, string>>;
  /** Fields that it must not have. */
  readonly without?: readonly string[];
}

export interface Dialect {
  readonly name: "chat" | "messages";
  /** How its usage is read. */
  readonly usage: UsageDialect;
  /** `text` is the body as it came. */
  parse(body: unknown, text: string): Parsed;
  /** All texts of the prompt, for counting; made only when needed. */
  promptTexts(body: Json): readonly string[];
  /** The body for the provider: the model named as it wants it, usage asked for, nothing else changed. */
  upstreamBody(body: Json, naming: Naming): string;
  readAnswer(text: string): WholeAnswer;
  /** A whole answer's text for the client. */
  withFingerprint(text: string, body: Json, fingerprint: string | null): string;
  stream(options: StreamOptions): StreamMachine;
  /** The closing event, for a provider that ended well without one. */
  readonly closing: Uint8Array;
  /** The event that tells a client that its stream has failed. No closing event follows it. */
  streamError(error: StreamError, requestId: string): Uint8Array;
}
