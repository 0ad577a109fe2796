// The spans of a request, without a network: their order in time, their attributes by the semantic conventions, what a
// sampler leaves out, and that nothing is reported twice.

import { describe, expect, test } from "bun:test";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  AlwaysOnSampler,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { NO_USAGE } from "../../actors/pricing/usage.ts";
import type { EndedContext } from "../../src/gateway/ended-context.ts";
import { GATEWAY_ENDPOINTS } from "../../src/gateway/endpoints.ts";
import type { RequestTrace, TracedEnd } from "../../src/gateway/request-trace.ts";
import { codeOf } from "../../src/gateway/traffic/outcome-code.ts";
import { createRequestTracer } from "../../src/telemetry/open-telemetry.ts";
import { operationOf, providerOf } from "../../src/telemetry/semantic-conventions.ts";

const STARTED_MS = 1_800_000_000_000;
const ARRIVED_MS = 500;
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const UNSAMPLED = `00-${TRACE}-b7ad6b7169203331-00`;

const KEY = { id: 7, level: 2, provider: "https://api.openai.com/v1", config: {} };
const ATTEMPT = { key: KEY, stream: true } as never;
const row = (signal: string, status: number, ms = 5) =>
  ({ key: 7, level: 2, model: "sk-secret/gpt-4o", status, signal, ms }) as never;
const FACTS = {
  asked: "sk-secret/gpt-4o",
  model: "sk-secret/gpt-4o",
  prompt: 120,
  completion: 30,
  usage: { ...NO_USAGE, inText: 20, inCached: 100, outText: 10, outReason: 20 },
  cost: 1_234_567,
  basis: "partial",
  attempts: [row("ok", 200, 95)],
} as never;

const CHARGED = {
  charge: FACTS,
  end: null,
  isStream: true,
  upstream: { firstMs: 40 },
};
const UNCHARGED = { charge: null, isStream: false, upstream: null };

/** Ends a trace as the gateway does. */
const endTrace = (trace: RequestTrace, request: TracedEnd & Pick<EndedContext, "end">): void =>
  trace.ended(request, codeOf(request));

/** A tracer that keeps its spans, and a clock that a test moves. */
function tracing(ratio = 1, modelLabel: string | null = "gpt-4o", isParentBased = true) {
  let now = ARRIVED_MS;
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const clock = { mono: () => now };
  const parts = {
    tracer: provider.getTracer("test"),
    propagator: new W3CTraceContextPropagator(),
    clock,
    isParentBased,
    isSampled: () => ratio === 1,
  };
  const tracer = createRequestTracer(parts);
  return {
    begin: (headers: Record<string, string> = {}) =>
      tracer.begin({
        requestId: "request-1",
        startedAtMs: STARTED_MS,
        arrivedMs: ARRIVED_MS,
        call: { headers: new Headers(headers) },
        endpoint: { path: "/v1/chat/completions" },
        modelLabel,
      }),
    pass(ms: number) {
      now += ms;
    },
    spans: () => exporter.getFinishedSpans(),
  };
}

const msOf = ([seconds, nanos]: ReadableSpan["startTime"]): number =>
  seconds * 1_000 + nanos / 1e6 - STARTED_MS;
const times = (span: ReadableSpan) =>
  [msOf(span.startTime), msOf(span.endTime)].map((ms) => Math.round(ms * 10) / 10);

test("a charged request: a failed attempt, one that answered, then its cost", () => {
  const { begin, pass, spans } = tracing();
  const trace = begin({ traceparent: PARENT, tracestate: "vendor=1" })!;
  pass(2);
  trace.attemptBegan(ATTEMPT);
  pass(5);
  trace.attemptFailed(row("server_error", 500));
  pass(1);
  const sent = trace.attemptBegan(ATTEMPT);
  pass(100);
  endTrace(trace, CHARGED);
  const [failed, answered, server] = spans();

  expect(spans().map(times)).toEqual([
    [2, 7],
    [8, 103],
    [0, 108],
  ]);
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE]));
  expect(server!.parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  expect(answered!.parentSpanContext?.spanId).toBe(server!.spanContext().spanId);
  expect(sent).toEqual({
    traceparent: `00-${TRACE}-${answered!.spanContext().spanId}-01`,
    tracestate: "vendor=1",
  });

  expect([server!.name, server!.kind]).toEqual(["POST /v1/chat/completions", SpanKind.SERVER]);
  expect(server!.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/v1/chat/completions",
    "http.response.status_code": 200,
    "arborgate.request.id": "request-1",
    "arborgate.cost": 0.001234567,
    "arborgate.basis": "partial",
    "gen_ai.request.model": "gpt-4o",
  });
  expect([answered!.name, answered!.kind]).toEqual(["chat gpt-4o", SpanKind.CLIENT]);
  expect(answered!.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.request.stream": true,
    "gen_ai.response.model": "gpt-4o",
    "gen_ai.response.time_to_first_chunk": 0.04,
    "gen_ai.usage.input_tokens": 120,
    "gen_ai.usage.output_tokens": 30,
    "gen_ai.usage.cache_read.input_tokens": 100,
    "gen_ai.usage.reasoning.output_tokens": 20,
    "http.response.status_code": 200,
    "server.address": "api.openai.com",
    "server.port": 443,
    "arborgate.level": 2,
    "arborgate.provider_key": 7,
  });
  expect(failed!.status.code).toBe(SpanStatusCode.ERROR);
  expect(failed!.attributes).toMatchObject({
    "error.type": "server_error",
    "http.response.status_code": 500,
  });
});

test("no span holds a model as a client or a provider wrote it", () => {
  const { begin, spans } = tracing();
  const trace = begin()!;
  trace.attemptBegan(ATTEMPT);
  endTrace(trace, {
    ...CHARGED,
    charge: { ...(FACTS as object), answeredModel: "sk-secret/other" } as never,
  });
  expect(JSON.stringify(spans().map(({ name, attributes }) => ({ name, attributes })))).not.toContain(
    "sk-secret",
  );
  expect(spans()[0]!.attributes["gen_ai.response.model"]).toBeUndefined();
});

describe("a request without a charge", () => {
  test.each([
    [{ status: 429, code: "rpm_exceeded" }, SpanStatusCode.UNSET],
    [{ status: 502, code: "upstream_failed" }, SpanStatusCode.ERROR],
    [{ status: null, code: "client_gone" }, SpanStatusCode.ERROR],
    [{ status: 200, code: null }, SpanStatusCode.UNSET],
  ])("%p", (end, code) => {
    const { begin, spans } = tracing();
    endTrace(begin()!, { ...UNCHARGED, end });
    const [server] = spans();
    expect(server!.status.code).toBe(code);
    expect(server!.attributes["error.type"]).toBe(end.code ?? undefined);
    expect(server!.attributes["http.response.status_code"]).toBe(end.status ?? undefined);
  });

  test("has no code in a provider's own words", () => {
    const { begin, spans } = tracing();
    endTrace(begin()!, { ...UNCHARGED, end: { status: 400, code: "sk-secret" } });
    expect(spans()[0]!.attributes).toMatchObject({ "arborgate.code": "rejected", "error.type": "rejected" });
  });

  test("ends the attempt that ran", () => {
    const { begin, pass, spans } = tracing();
    const trace = begin()!;
    trace.attemptBegan(ATTEMPT);
    pass(3);
    endTrace(trace, { ...UNCHARGED, end: { status: null, code: "client_gone" } });
    expect(spans().map(({ name }) => name)).toEqual(["chat gpt-4o", "POST /v1/chat/completions"]);
    expect(times(spans()[0]!)).toEqual([0, 3]);
  });
});

test("a trace that begins after its request arrived has its times from there", () => {
  const { begin, pass, spans } = tracing();
  pass(30);
  const trace = begin()!;
  trace.attemptBegan(ATTEMPT);
  pass(10);
  endTrace(trace, { ...UNCHARGED, end: { status: null, code: "client_gone" } });
  expect(spans().map(times)).toEqual([
    [30, 40],
    [0, 40],
  ]);
});

test.each(["unreachable", "client_gone"])(
  "a stream that broke off is an error, and has its cost: %s",
  (signal) => {
    const { begin, spans } = tracing();
    const trace = begin()!;
    trace.attemptBegan(ATTEMPT);
    endTrace(trace, {
      ...CHARGED,
      charge: { ...(FACTS as object), attempts: [row(signal, 200, 95)] } as never,
    });
    const [attempt, server] = spans();
    for (const span of [attempt!, server!]) {
      expect(span.status.code).toBe(SpanStatusCode.ERROR);
      expect(span.attributes["error.type"]).toBe(signal);
    }
    expect(server!.attributes).toMatchObject({
      "http.response.status_code": 200,
      "arborgate.code": signal,
      "arborgate.cost": 0.001234567,
    });
  },
);

test("a charge that could not be stored is an error, and no cost", () => {
  const { begin, spans } = tracing();
  const trace = begin()!;
  trace.attemptBegan(ATTEMPT);
  endTrace(trace, { ...CHARGED, end: { status: 500, code: "internal_error" } });
  const [attempt, server] = spans();
  expect(attempt!.attributes["gen_ai.usage.input_tokens"]).toBe(120);
  expect(server!.attributes["arborgate.cost"]).toBeUndefined();
  expect(server!.status.code).toBe(SpanStatusCode.ERROR);
});

test("only the first end counts", () => {
  const { begin, spans } = tracing();
  const trace = begin()!;
  endTrace(trace, CHARGED);
  endTrace(trace, { ...UNCHARGED, end: { status: 500, code: "internal_error" } });
  trace.attemptFailed(row("server_error", 500));
  expect(trace.attemptBegan(ATTEMPT)).toEqual({});
  expect(spans()).toHaveLength(1);
  expect(spans()[0]!.status.code).toBe(SpanStatusCode.UNSET);
});

describe("sampling", () => {
  test("a request that is not sampled, of a client without a context, has no trace", () => {
    expect(tracing(0).begin()).toBeNull();
  });
  test("neither does one whose client sent what is no context", () => {
    expect(tracing(0).begin({ traceparent: "rubbish" })).toBeNull();
  });
  test("a caller that samples goes before the share", () => {
    const { begin, spans } = tracing(0);
    endTrace(begin({ traceparent: PARENT })!, CHARGED);
    expect(spans()).toHaveLength(1);
  });
  test("a caller that does not sample has its context passed on, and no span", () => {
    const { begin, spans } = tracing(1);
    const trace = begin({ traceparent: UNSAMPLED })!;
    const { traceparent } = trace.attemptBegan(ATTEMPT);
    endTrace(trace, CHARGED);
    expect(traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    expect(spans()).toEqual([]);
  });
  test("a sampler that asks no caller decides on a caller's trace too, whatever its id and flag", () => {
    const [all, none] = [tracing(1, "gpt-4o", false), tracing(0, "gpt-4o", false)];
    for (const traceparent of [PARENT, UNSAMPLED]) {
      for (const { begin } of [all, none]) {
        const trace = begin({ traceparent })!;
        const flag = begin === all.begin ? "01" : "00";
        expect(trace.attemptBegan(ATTEMPT).traceparent).toMatch(
          new RegExp(`^00-${TRACE}-[0-9a-f]{16}-${flag}$`),
        );
        endTrace(trace, CHARGED);
      }
    }
    expect(all.spans().map((span) => span.spanContext().traceId)).toEqual(Array(4).fill(TRACE));
    expect(none.spans()).toEqual([]);
  });
  test.each(["", "rubbish", `00-${"0".repeat(32)}-b7ad6b7169203331-01`, `${PARENT}-x`])(
    "a context that is none is ignored: %p",
    (traceparent) => {
      const { begin, spans } = tracing();
      endTrace(begin({ traceparent })!, CHARGED);
      expect(spans()[0]!.spanContext().traceId).not.toBe(TRACE);
      expect(spans()[0]!.parentSpanContext).toBeUndefined();
    },
  );
});

test("every path has an operation", () => {
  expect(Object.fromEntries(GATEWAY_ENDPOINTS.map(({ path }) => [path, operationOf(path)]))).toEqual({
    "/v1/chat/completions": "chat",
    "/v1/messages": "chat",
    "/v1/messages/count_tokens": "count_tokens",
    "/v1/responses": "chat",
    "/v1/completions": "text_completion",
    "/v1/embeddings": "embeddings",
    "/v1/images/generations": "generate_content",
    "/v1/images/edits": "generate_content",
    "/v1/images/variations": "generate_content",
    "/v1/audio/speech": "generate_content",
    "/v1/audio/transcriptions": "transcriptions",
    "/v1/audio/translations": "translations",
    "/v1/rerank": "rerank",
    "/v1/moderations": "moderations",
  });
});

test.each([
  ["https://api.anthropic.com/v1", {}, "anthropic"],
  ["https://api.mistral.ai/v1", {}, "mistral_ai"],
  ["https://my-name.openai.azure.com", { provider_type: "cloud_a" }, "azure.ai.openai"],
  ["https://aiplatform.googleapis.com", { provider_type: "cloud_b" }, "gcp.vertex_ai"],
  ["http://10.0.0.7:8000/v1", {}, "10.0.0.7"],
])("the provider of a key at %s", (provider, config, name) => {
  expect(providerOf({ ...KEY, provider, config } as never)).toBe(name);
});
