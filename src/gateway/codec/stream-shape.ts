// The shape of a chat stream's events that a client can select by the header `x-stream-shape`. Without it
// events are as the SDKs expect them.

import { RefusedError } from "../../base/errors.ts";
import { messageEvents } from "../../dialect/chat/message-events.ts";
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
export function requestedStreamShape({ path }: GatewayEndpoint, headers: Headers): StreamShape {
  const asked = path === "/v1/chat/completions" ? headers.get("x-stream-shape") : null;
  if (asked === null || asked === "message") return asked;
  const message = 'The header x-stream-shape must be "message", or left out.';
  throw new RefusedError({ code: "invalid_parameter", message });
}

/** Returns the exchange with its streams in that shape. `promptTokens` are the estimated ones. */
export const withStreamShape = (
  exchange: ProviderExchange,
  shape: StreamShape,
  promptTokens: number,
): ProviderExchange =>
  shape === null
    ? exchange
    : {
        ...exchange,
        stream: (options) => messageEvents(exchange.stream({ ...options, includeUsage: true }), promptTokens),
      };
