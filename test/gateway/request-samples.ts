// What a request is taken to be where a test is about something else. Nothing here decides or asserts.

import type { Payload } from "../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";
import { type ApiStyle, apiStylesOf } from "../../src/gateway/codec/key-formats.ts";
import type { Serves } from "../../src/gateway/codec/key-support.ts";
import { METERS } from "../../src/gateway/metering/meter-kinds.ts";
import type { RequestSize } from "../../src/gateway/metering/request-size.ts";

/** One token in and one out, unless said otherwise. */
export const sizeOf = (over: Partial<RequestSize> = {}): RequestSize => ({
  promptTokens: 1,
  maxOutput: 1,
  n: 1,
  inputs: 1,
  serviceTier: null,
  never: [],
  measured: {},
  ...over,
});

/** Where it was sent. */
export const CHAT = { path: "/v1/chat/completions", meter: METERS.tokens } as const;

/** A body that need not be JSON. */
export const bodyOf = (text: string): Payload => jsonPayload(text, (given) => given);

/** Keys serve by their style alone. */
export const servesIn =
  (style: ApiStyle): Serves =>
  (key, model) =>
    apiStylesOf(key, model).has(style) ? "served" : "other_style";

/** A provider that has every path. */
export const ANYWHERE = { address: () => new URL("https://api.example.com/v1"), lacks: () => false };
