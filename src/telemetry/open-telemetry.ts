// Traces of requests by the official OpenTelemetry packages: context in and out by W3C Trace Context, export by OTLP over HTTP
// in batches. It is loaded only where traces are configured. The queue of spans is bounded; what does not fit, or cannot be
// exported, is dropped, and a request never waits for a span.

import { type Context, context, SpanKind, TraceFlags, trace } from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { CompressionAlgorithm } from "@opentelemetry/otlp-exporter-base";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";
import { ATTR_SERVICE_INSTANCE_ID } from "@opentelemetry/semantic-conventions/incubating";
import { atMost, type Clock, type Random } from "../base/clock.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import type { Log } from "../base/log.ts";
import type { RequestTracer } from "../gateway/request-trace.ts";
import type { TracingSettings } from "../settings/tracing-settings.ts";
import { RequestSpans, type SpanParts } from "./request-spans.ts";

/** What traces need from the node. */
export interface TracingParts {
  readonly clock: Clock;
  readonly random: Pick<Random, "below">;
  readonly log: Log;
  /** The node's name in the cluster, and the version of the service. */
  readonly node: string;
  readonly version: string;
}

/** The traces of a node. */
export interface Tracing {
  readonly tracer: RequestTracer;
  /** Exports what is left, for at most `ms`, and ends. */
  stop(ms: number): Promise<void>;
}

/** Spans that wait for their export. */
const QUEUE_SPANS_MAX = 2_048;
const BATCH_SPANS_MAX = 512;
/** New traces are sampled by a share in so many. */
const SHARES = 1 << 24;
/** A collector that is away would fail every batch. */
const FAULT_LOG_EVERY_MS = 60_000;

/** Begins to trace. */
export function createTracing(
  settings: TracingSettings,
  { clock, random, log, node, version }: TracingParts,
): Tracing {
  const report = exportFaults(clock, log);
  setGlobalErrorHandler(report);
  const exporter = new OTLPTraceExporter({
    url: settings.url,
    headers: { ...settings.headers },
    timeoutMillis: settings.timeoutMs,
    ...(settings.isCompressed ? { compression: CompressionAlgorithm.GZIP } : {}),
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_VERSION]: version,
      [ATTR_SERVICE_INSTANCE_ID]: node,
      ...settings.resource,
      [ATTR_SERVICE_NAME]: settings.serviceName,
    }),
    // Whether a request is sampled is decided before its span begins; the spans of its attempts follow it.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_SPANS_MAX,
        maxExportBatchSize: BATCH_SPANS_MAX,
        exportTimeoutMillis: settings.timeoutMs,
        scheduledDelayMillis: settings.batchDelayMs,
      }),
    ],
  });
  const parts: TracerParts = {
    tracer: provider.getTracer("arborgate", version),
    propagator: new W3CTraceContextPropagator(),
    clock,
    isParentBased: settings.isParentBased,
    isSampled: () => random.below(SHARES) < settings.ratio * SHARES,
  };
  return {
    tracer: createRequestTracer(parts),
    // A collector that is away is asked again and again, for longer than an export may take.
    stop: (ms) => atMost(clock, ms, provider.shutdown().catch(report)),
  };
}

/** What the tracer of requests needs. */
export interface TracerParts extends SpanParts {
  /** Whether a client that sent a context has decided by it. */
  readonly isParentBased: boolean;
  /** Decides on a request of which no client has decided. A span that is then dropped would cost as much as a stage of it. */
  isSampled(): boolean;
}

/** Creates the tracer of requests from a tracer of OpenTelemetry. */
export const createRequestTracer = (parts: TracerParts): RequestTracer => ({
  begin(request) {
    const parent = parentOf(parts, request.call.headers);
    if (parent === null) return null;
    const options = { kind: SpanKind.SERVER, startTime: request.startedAtMs };
    const server = parts.tracer.startSpan(`POST ${request.endpoint.path}`, options, parent);
    return new RequestSpans(parts, request, server);
  },
});

/** Returns the context in which a request's span begins: the client's, or a new one; null for a new one that is not sampled. */
function parentOf(parts: TracerParts, headers: HeaderReader): Context | null {
  const traceparent = headers.get("traceparent");
  const sent = traceparent === null ? context.active() : clientsContext(parts, traceparent, headers);
  const client = trace.getSpanContext(sent);
  if (client === undefined) return parts.isSampled() ? sent : null;
  if (parts.isParentBased) return sent;
  // Not by the trace id, as OpenTelemetry's sampler of a share does: the client has chosen that.
  const traceFlags = parts.isSampled() ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(sent, { ...client, traceFlags });
}

/** Returns the context that a client sent, without a span where it sent none. */
function clientsContext({ propagator }: TracerParts, traceparent: string, headers: HeaderReader): Context {
  const tracestate = headers.get("tracestate");
  const carrier: Record<string, string> = tracestate === null ? { traceparent } : { traceparent, tracestate };
  return propagator.extract(context.active(), carrier, CARRIER);
}

const CARRIER = {
  get: (carrier: Record<string, string>, name: string) => carrier[name],
  keys: (carrier: Record<string, string>) => Object.keys(carrier),
};

/** Returns what logs failed exports, once a minute at most. */
function exportFaults(clock: Clock, log: Log): (error: unknown) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (clock.mono() < quietUntil) return;
    quietUntil = clock.mono() + FAULT_LOG_EVERY_MS;
    // A collector's answer is not shown: nothing of it was written here.
    const name = error instanceof Error ? error.name : typeof error;
    log("warn", "traces_not_exported", { error: name, code: faultCodeOf(error) });
  };
}

/** Returns the collector's HTTP status, or the system's code such as ECONNREFUSED; null for anything else. */
function faultCodeOf(error: unknown): number | string | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const { code } = error;
  return typeof code === "number" || (typeof code === "string" && /^E[A-Z_]{2,30}$/.test(code)) ? code : null;
}
