// What the gateway does with a request and its answer, without any I/O: the request of the benchmark, and the answers of the
// stand-in provider.

import { priceTable } from "../../actors/pricing/price-table.ts";
import { chat } from "../../src/dialect/chat/chat.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";
import type { ConfigCache } from "../../src/gateway/account/config-cache.ts";
import { findEndpoint } from "../../src/gateway/endpoints.ts";
import { METERS } from "../../src/gateway/metering/meter-kinds.ts";
import type { TokenCounter } from "../../src/gateway/metering/token-counter.ts";
import { type MeteredRequest, type MeterInput, meterUsage } from "../../src/gateway/metering/usage-meter.ts";
import { routeOf } from "../../src/gateway/routing/resolve-route.ts";
import { SseReader } from "../../src/sse/sse-reader.ts";
import { ResponseParser } from "../../src/upstream/http1/response-parser.ts";
import { accountContextOf } from "../../test/gateway/account-context-samples.ts";
import { viewOf } from "../../test/gateway/level-samples.ts";
import { sizeOf } from "../../test/gateway/request-samples.ts";
import { plainAnswers } from "../../test/provider/plain.ts";
import { unchunked } from "../connection.ts";
import { bodyText } from "../styles.ts";
import type { Call } from "./timing.ts";

const MODEL = "gpt-4o-mini";
const EVENT_BYTES_MAX = 1024 * 1024;

/** Reads the text of a chat request, and what the gateway needs to know of it. */
export function chatParse(): Call {
  const text = bodyText("chat", { stream: false });
  return {
    call() {
      if (!chat.parse(jsonPayload(text)).ok) throw new Error("the request is refused");
    },
  };
}

/** Finds a route that was made before. */
export function routeLookUp(): Call {
  const endpoint = findEndpoint("/v1/chat/completions");
  const context = accountContextOf();
  const view = viewOf(0, [1]);
  const configs = { level: () => view } as unknown as ConfigCache;
  return {
    call() {
      const found = routeOf(configs, context, endpoint, MODEL);
      if (found instanceof Promise || !found.ok) throw new Error("there is no route");
    },
  };
}

/** Computes usage and charge of an answer that states its usage. */
export function meterUsageOf(): Call {
  const prices = priceTable(null);
  const request: MeteredRequest = {
    route: {
      model: MODEL,
      priced: prices.find(MODEL, ["ChatPricing"])!,
      pricedByTokens: null,
      prices,
      multipliers: { rates: 1, factor: 1 },
    },
    size: sizeOf({ promptTokens: 8, maxOutput: 256 }),
  };
  const reading: MeterInput = {
    dialect: "chat",
    usage: { prompt_tokens: 8, completion_tokens: 96, total_tokens: 104 },
    serviceTier: "default",
    answeredModel: null,
    texts: ["Say something."],
    complete: true,
    prompt: () => [],
    promptTokens: null,
    promptBeside: 0,
    measured: {},
  };
  const counter: TokenCounter = { count: () => Promise.reject(new Error("nothing is counted")) };
  return {
    call() {
      if (meterUsage(METERS.tokens, request, reading, counter) instanceof Promise)
        throw new Error("the usage was not stated");
    },
  };
}

/** Splits the bytes of one whole answer into head, body and end. */
export function http1Whole(): Call {
  const bytes = Buffer.from(plainAnswers().whole);
  let ended = 0;
  const parser = new ResponseParser({ onHead: () => {}, onBody: () => {}, onEnd: () => ended++ });
  return {
    call(nth) {
      parser.begin();
      parser.push(bytes);
      if (ended <= nth) throw new Error("the answer has no end");
    },
  };
}

/** Reads a stream of a hundred events that comes in one piece. */
export function sseRead(): Call {
  const body = unchunked(Buffer.from(plainAnswers().stream));
  return {
    call() {
      const events = new SseReader({ maxEventBytes: EVENT_BYTES_MAX }).push(body);
      if (events.length < 100) throw new Error("events are missing");
    },
  };
}

/** Feeds the machine of a chat stream with a hundred events that were read. */
export function chatStreamFeed(): Call {
  const body = unchunked(Buffer.from(plainAnswers().stream));
  const events = new SseReader({ maxEventBytes: EVENT_BYTES_MAX }).push(body);
  return {
    call() {
      const machine = chat.stream({ includeUsage: true, fingerprint: null });
      for (const { data, name } of events) if (data !== null) machine.feedData(data, name);
      if (machine.outcome(true) !== "complete") throw new Error("the stream has no end");
    },
  };
}
