// The contract of speaking with a provider key: a wire says how requests of one surface go over it, an exchange is one attempt
// on it. Sends nothing, charges nothing.

import type { Refusal } from "../../base/errors.ts";
import type {
  ModelNaming,
  ModelRequest,
  StreamMachine,
  StreamOptions,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { UsageDialect } from "../../dialect/usage.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";

/** A request as it goes to the provider. */
export interface EncodedRequest {
  /** Until the next one is made of the same request. */
  readonly body: string | Uint8Array;
  /** The client's, as far as they mean something there, and `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What one attempt brings to a request. */
export interface EncodeInput {
  /** As it is routed and charged, and as a client is told whose answer is written anew. */
  readonly model: string;
  readonly naming: ModelNaming;
  /** The client's headers that may go on to a provider. */
  readonly headers: Readonly<Record<string, string>>;
  /** The request's own, of letters and digits. */
  readonly id: string;
  /** Wall ms. */
  readonly now: number;
  /** As estimated. */
  readonly promptTokens: number;
}

export interface ProviderCodec {
  /** The path at the provider, as one of ours. */
  readonly path: string;
  /** How the provider's usage is read, whatever the client reads. */
  readonly usage: UsageDialect;
  /** Request and answer are put into another style. */
  readonly translates: boolean;
  /** One attempt with the key; or why the request cannot be put into its style. */
  open(request: ModelRequest, asking: EncodeInput): ProviderExchange | { readonly refusal: Refusal };
}

/** One attempt's way of speaking. */
export interface ProviderExchange extends Pick<ProviderCodec, "path" | "usage"> {
  readonly outgoing: EncodedRequest;
  /** The model as the provider is told it. */
  readonly sentModel: string;
  readAnswer(answered: WholeBody, request: ModelRequest): WholeAnswer;
  /** A whole answer's text for the client. `body`: as it was read. */
  clientText(text: string, body: Json | null, fingerprint: string): string;
  /** The machine for one stream: reads the provider's events, writes the client's. */
  stream(options: StreamOptions): StreamMachine;
  /** The closing event for the client, where a provider ended well without one. */
  readonly closing: Uint8Array;
  /** What the provider says of the request itself, in words of the client's style. */
  translateFailure(signal: UpstreamFailure): UpstreamFailure;
}
