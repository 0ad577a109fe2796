// What a provider answered, as the gateway reads it: a whole body, or a stream whose chunks are read one by one.
// Types only.

import type { StreamMachine, WholeAnswer } from "../../dialect/dialect.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { StreamPart } from "../call.ts";

/** How the provider ended its stream. */
export type ProviderEnd =
  /** The provider's closing event, which is sent after the charge. */
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  /** The provider's error event. */
  | { readonly kind: "error"; readonly text: string };

/** How a stream ended. */
export type StreamEnd =
  | ProviderEnd
  /** The connection ended normally without a closing event. */
  | { readonly kind: "eof" }
  /** The connection broke or fell silent, or the client disconnected. */
  | { readonly kind: "cut"; readonly signal: UpstreamFailure };

/** What the client gets next of a stream, with its meaning. */
export interface StreamChunk {
  readonly parts: readonly StreamPart[];
  readonly content: boolean;
  readonly end: StreamEnd | null;
}

/** What was read of an answer so far. */
export type StreamResult = Omit<StreamMachine, "feed" | "feedData" | "feedRun">;

/** An open stream of one attempt. */
export interface StreamSource {
  readonly machine: StreamResult;
  /** Returns the next chunk, at once when it has arrived. Failures of the connection are returned as an `end`, not thrown. */
  next(): StreamChunk | Promise<StreamChunk>;
  /** Closes the connection, because the rest is not needed. */
  stop(): void;
  /** Ends the reading of an answer that is complete. The connection can be used again. */
  finish(): void;
}

/** A whole answer. `contentType` is the provider's. */
export interface WholeProviderBody {
  readonly kind: "whole";
  /** Empty for a large answer. */
  readonly text: string;
  readonly contentType: string;
  /** The parsed body is null for a large answer. */
  readonly answer: Extract<WholeAnswer, { ok: true }>;
  /** What a worker has read of a large answer; null for others. */
  readonly large: LargeAnswerFacts | null;
}

/** What is left of a large answer beside what every answer states. */
export interface LargeAnswerFacts {
  /** The answer for the client. */
  readonly client: Uint8Array<ArrayBuffer>;
  readonly isJson: boolean;
  /** The model that it names; null when it names none. */
  readonly model: string | null;
  /** The ids of stored objects in it. */
  readonly made: readonly string[];
  /** The generated characters, of which the texts may be a sample. */
  readonly chars: number;
}

/** A stream up to its first content. `contentType` is the provider's; null for a stream of events. */
export interface StreamedProviderBody {
  readonly kind: "stream";
  readonly source: StreamSource;
  /** `parts` has one reader, which empties it: it can hold a megabyte that is not needed afterwards. */
  readonly opening: StreamChunk & { readonly parts: StreamPart[] };
  readonly contentType: string | null;
}

/** What the provider sent, whole or up to the first content. */
export type ProviderBody = WholeProviderBody | StreamedProviderBody;
