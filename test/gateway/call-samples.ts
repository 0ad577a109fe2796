// A chat call as the edge hands it to the gateway, and the limits that a gateway under test has.

import type { Payload } from "../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";
import type { GatewayCall } from "../../src/gateway/call.ts";

export const LIMITS = {
  upstreamTimeoutMs: 600_000,
  upstreamFirstMs: 60_000,
  upstreamIdleMs: 120_000,
  holdOutputTokens: 9,
};

/** The body of a chat request for the model "m". */
export const chatPayload = (stream = false): Payload =>
  jsonPayload(JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "hi" }] }));

/** A call with an API key, whose client stays. */
export const chatCall = (given: Partial<GatewayCall> = {}): GatewayCall => ({
  path: "/v1/chat/completions",
  key: "sk-x",
  ip: () => "",
  requestId: null,
  headers: new Headers(),
  payload: async () => chatPayload(),
  signal: new AbortController().signal,
  ...given,
});
