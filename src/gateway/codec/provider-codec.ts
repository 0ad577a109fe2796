// The contract of encoding requests for a provider key. A codec encodes the requests of one endpoint; an
// exchange is one encoded request with the decoders of its answer. They send nothing and charge nothing.

import type { Refusal } from "../../base/errors.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import type {
  ModelNaming,
  ModelRequest,
  StreamMachine,
  StreamOptions,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { Renamed } from "../../dialect/translate/translation.ts";
import type { UsageDialect } from "../../dialect/usage.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";

/** A request as it is sent to the provider. */
export interface EncodedRequest {
  readonly method: "POST" | "GET" | "DELETE";
  /** Valid until the next exchange of the same request is opened; null for a request without a body. */
  readonly body: string | Uint8Array | null;
  /** The client's headers that the provider understands, and `content-type`. */
  readonly headers: HeaderRecord;
}

/** What one attempt adds to a request. */
export interface EncodeInput {
  /** The model as it is routed and charged, and as it is named in translated answers. */
  readonly model: string;
  readonly naming: ModelNaming;
  /** The client's headers that may be forwarded to a provider. */
  readonly headers: HeaderRecord;
  /** The request's id, of letters and digits. */
  readonly id: string;
  /** Wall-clock milliseconds. */
  readonly now: number;
  /** The estimated prompt tokens. */
  readonly promptTokens: number;
  /** The body is sent without the reasoning that another organization of the provider has encrypted. */
  readonly isWithoutReasoning?: boolean;
  /** The key's model refuses function calls without a signature; what a codec that translates finds out by itself. */
  readonly signsCalls?: boolean;
}

/** The body of a request for one provider. */
export interface EncodedBody {
  readonly body: string | Uint8Array;
  /** The client's tool names that were changed, by the names that were sent. */
  readonly toolNames: Renamed;
  /** As `AnswerContext.repeatedFields`. */
  readonly repeatedFields: Json;
}

/** The repeated fields of most requests: none. */
export const NO_REPEATED_FIELDS: Json = {};

/** All that an exchange was opened with, so that another thread can open it again to read its answer. */
export type ExchangeOrigin = RequestOrigin | StoredResponseOrigin;

/** What the exchange of a stored response was opened with. */
export interface StoredResponseOrigin {
  readonly kind: "stored";
  readonly model: string;
  readonly naming: ModelNaming;
}

/** What the exchange of a request was opened with. */
export interface RequestOrigin {
  readonly kind: "request";
  /** The client's path. */
  readonly path: string;
  /** The provider's path; another one than the client's where the request was translated. */
  readonly providerPath: string;
  /** The provider's host name; empty where nothing was translated. */
  readonly host: string;
  readonly request: ModelRequest;
  readonly input: EncodeInput;
  readonly toolNames: Renamed;
  readonly repeatedFields: Json;
}

/** Encodes the requests of one endpoint for a provider key. */
export interface ProviderCodec {
  /** The provider's path, written as one of the gateway's paths. */
  readonly path: string;
  /** How the provider's usage is read, which does not depend on the client's style. */
  readonly usage: UsageDialect;
  /** Whether request and answer are translated into another style. */
  readonly translates: boolean;
  /** Returns the body for the provider, or why it cannot be translated. */
  encode(
    request: ModelRequest,
    asking: EncodeInput,
  ): (EncodedBody & { readonly toolNames: ReadonlyMap<string, string> }) | { readonly refusal: Refusal };
  /**
   * Encodes the request for one attempt, or returns why it cannot be translated. `encoded` is its body where that is
   * encoded already.
   */
  open(
    request: ModelRequest,
    asking: EncodeInput,
    encoded?: EncodedBody,
  ): ProviderExchange | { readonly refusal: Refusal };
}

/** One encoded request with the decoders of its answer. */
export interface ProviderExchange extends Pick<ProviderCodec, "path" | "usage"> {
  readonly outgoing: EncodedRequest;
  readonly origin: ExchangeOrigin;
  /** The model's name in the encoded request. */
  readonly sentModel: string;
  /** Decodes a whole answer. */
  readAnswer(answered: WholeBody): WholeAnswer;
  /**
   * Returns the text of a whole answer for the client. `body` is the parsed answer; null when it is not JSON.
   */
  clientText(text: string, body: Json | null, fingerprint: string): string;
  /** Returns the state machine of one stream, which reads the provider's events and writes the client's. */
  stream(options: StreamOptions): StreamMachine;
  /** The closing event for the client when the provider ended well without one. */
  readonly closing: Uint8Array;
  /** Returns the failure with the provider's error translated into the client's style. */
  translateFailure(signal: UpstreamFailure): UpstreamFailure;
}
