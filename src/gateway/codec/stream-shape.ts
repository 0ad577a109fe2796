// The shape of a chat stream's events that a client asked for by header; without it they are as the SDKs read them.

import { RefusedError } from "../../base/errors.ts";
import { messageEvents } from "../../dialect/chat/message-events.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { ProviderExchange } from "./provider-codec.ts";

/** `message`: whole objects with partial messages and the usage so far. */
export type StreamShape = "message" | null;

/** Throws Refused for a shape that nobody knows. Other paths have none, and mind no header. */
export function requestedStreamShape({ path }: GatewayEndpoint, headers: Headers): StreamShape {
  const asked = path === "/v1/chat/completions" ? headers.get("x-stream-shape") : null;
  if (asked === null || asked === "message") return asked;
  const message = 'The header x-stream-shape must be "message", or left out.';
  throw new RefusedError({ code: "invalid_parameter", message });
}

/** The same way of speaking, its streams in that shape. `promptTokens`: as estimated. */
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
