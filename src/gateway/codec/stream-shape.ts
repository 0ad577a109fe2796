// The shape of a chat stream's events that a client can select by the header `x-stream-shape`. Without it
// events are as the SDKs expect them.

import { RefusedError } from "../../base/errors.ts";
import type { HeaderReader } from "../../base/header-reader.ts";
import { messageEvents } from "../../dialect/chat/message-events.ts";
import type { StreamMachine, StreamOptions, WholeAnswer, WholeBody } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { ProviderExchange } from "./provider-codec.ts";

/**
 * `message` means whole objects with partial messages and the usage so far; null means the ordinary events.
 */
export type StreamShape = "message" | null;

/**
 * Returns the shape that a client asked for, null on all paths but /v1/chat/completions. Throws
 * `RefusedError` (`invalid_parameter`) for an unknown shape.
 */
export function requestedStreamShape({ path }: GatewayEndpoint, headers: HeaderReader): StreamShape {
  const shape = path === "/v1/chat/completions" ? headers.get("x-stream-shape") : null;
  if (shape === null || shape === "message") return shape;
  const message = 'The header x-stream-shape must be "message", or left out.';
  throw new RefusedError({ code: "invalid_parameter", message });
}

/** Returns the exchange with its streams in that shape. `promptTokens` are the estimated ones. */
export const withStreamShape = (
  exchange: ProviderExchange,
  shape: StreamShape,
  promptTokens: number,
): ProviderExchange => (shape === null ? exchange : new ShapedExchange(exchange, promptTokens));

/** An exchange whose streams consist of whole objects. */
class ShapedExchange implements ProviderExchange {
  readonly path: string;
  readonly usage: ProviderExchange["usage"];
  readonly outgoing: ProviderExchange["outgoing"];
  readonly sentModel: string;
  readonly closing: Uint8Array;

  constructor(
    private readonly inner: ProviderExchange,
    private readonly promptTokens: number,
  ) {
    this.path = inner.path;
    this.usage = inner.usage;
    this.outgoing = inner.outgoing;
    this.sentModel = inner.sentModel;
    this.closing = inner.closing;
  }

  get origin(): ProviderExchange["origin"] {
    return this.inner.origin;
  }

  readAnswer(answered: WholeBody): WholeAnswer {
    return this.inner.readAnswer(answered);
  }

  clientText(text: string, body: Json | null, fingerprint: string): string {
    return this.inner.clientText(text, body, fingerprint);
  }

  stream(options: StreamOptions): StreamMachine {
    return messageEvents(this.inner.stream({ ...options, includeUsage: true }), this.promptTokens);
  }

  translateFailure(signal: UpstreamFailure): UpstreamFailure {
    return this.inner.translateFailure(signal);
  }
}
