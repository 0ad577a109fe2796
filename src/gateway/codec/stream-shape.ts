// The shape of a chat stream's events that a client asked for by header; without it they are as the SDKs read them.

import { messageEvents } from "../../dialect/chat/message-events.ts";
import { Refused } from "../../runtime/system.ts";
import type { Surface } from "../endpoints.ts";
import type { Exchange } from "./provider-codec.ts";

/** `message`: whole objects with partial messages and the usage so far. */
export type Shape = "message" | null;

/** Throws Refused for a shape that nobody knows. Other paths have none, and mind no header. */
export function shapeAsked({ path }: Surface, headers: Headers): Shape {
  const asked = path === "/v1/chat/completions" ? headers.get("x-stream-shape") : null;
  if (asked === null || asked === "message") return asked;
  const message = 'The header x-stream-shape must be "message", or left out.';
  throw new Refused({ code: "invalid_parameter", message });
}

/** The same way of speaking, its streams in that shape. `promptTokens`: as estimated. */
export const inShape = (exchange: Exchange, shape: Shape, promptTokens: number): Exchange =>
  shape === null
    ? exchange
    : {
        ...exchange,
        stream: (options) => messageEvents(exchange.stream({ ...options, includeUsage: true }), promptTokens),
      };
