// The spans of one request:
//
//   SERVER  POST /v1/chat/completions     from the call to its charge, or to its error
//   CLIENT    chat gpt-4o                 one for each attempt at a provider
//
// Their times are those of the node's clock. A request that its caller did not sample has spans that record nothing, whose
// context goes on to the provider all the same. Nothing here waits, and nothing here may fail a request.

import {
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_SERVER_ADDRESS,
  ATTR_SERVER_PORT,
} from "@opentelemetry/semantic-conventions";
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_STREAM,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK,
} from "@opentelemetry/semantic-conventions/incubating";
import type { AttemptRow, ChargeFacts } from "../../actors/account/state.ts";
import type { Clock } from "../base/clock.ts";
import type { HeaderRecord } from "../base/header-reader.ts";
import type { RequestTrace, TracedAttempt, TracedEnd, TracedRequest } from "../gateway/request-trace.ts";
import {
  ATTR_CODE,
  ATTR_LEVEL,
  ATTR_PROVIDER_KEY,
  ATTR_REQUEST_ID,
  moneyAttributes,
  operationOf,
  providerOf,
  usageAttributes,
} from "./semantic-conventions.ts";

/** What the spans of a request are made with. */
export interface SpanParts {
  readonly tracer: Tracer;
  readonly propagator: TextMapPropagator<Record<string, string>>;
  readonly clock: Pick<Clock, "mono">;
}

const NO_HEADERS: HeaderRecord = {};
const CARRIER = {
  set(carrier: Record<string, string>, name: string, value: string) {
    carrier[name] = value;
  },
};

/** The trace of one request. */
export class RequestSpans implements RequestTrace {
  /** The span of the attempt that runs or has answered, and when it began. */
  private attempt: Span | null = null;
  private attemptSince = 0;
  private isEnded = false;

  constructor(
    private readonly parts: SpanParts,
    private readonly request: TracedRequest,
    private readonly server: Span,
  ) {
    if (!server.isRecording()) return;
    server.setAttributes({
      [ATTR_HTTP_REQUEST_METHOD]: "POST",
      [ATTR_HTTP_ROUTE]: request.endpoint.path,
      [ATTR_REQUEST_ID]: request.requestId,
    });
  }

  attemptBegan({ key, stream }: TracedAttempt): HeaderRecord {
    if (this.isEnded) return NO_HEADERS;
    const { parts, server, request } = this;
    const parent = trace.setSpan(context.active(), server);
    const operation = operationOf(request.endpoint.path);
    const model = request.modelLabel;
    this.attemptSince = parts.clock.mono();
    const options = { kind: SpanKind.CLIENT, startTime: this.at(this.attemptSince) };
    const span = parts.tracer.startSpan(
      model === null ? operation : `${operation} ${model}`,
      options,
      parent,
    );
    this.attempt = span;
    if (span.isRecording()) {
      const url = URL.parse(key.provider);
      span.setAttributes({
        [ATTR_GEN_AI_OPERATION_NAME]: operation,
        [ATTR_GEN_AI_PROVIDER_NAME]: providerOf(key),
        ...(model === null ? {} : { [ATTR_GEN_AI_REQUEST_MODEL]: model }),
        ...(stream ? { [ATTR_GEN_AI_REQUEST_STREAM]: true } : {}),
        ...(url === null ? {} : { [ATTR_SERVER_ADDRESS]: url.hostname, [ATTR_SERVER_PORT]: portOf(url) }),
        [ATTR_LEVEL]: key.level,
        [ATTR_PROVIDER_KEY]: key.id,
      });
    }
    const headers: Record<string, string> = {};
    parts.propagator.inject(trace.setSpan(parent, span), headers, CARRIER);
    return headers;
  }

  attemptFailed(row: AttemptRow): void {
    if (!this.isEnded) this.endAttempt(row, this.parts.clock.mono());
  }

  ended({ charge, end, isStream, upstream }: TracedEnd, code: string | null): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const { server } = this;
    const now = this.parts.clock.mono();
    if (charge !== null) this.endAnswered(charge, isStream ? (upstream?.firstMs ?? null) : null);
    // The request ended while an attempt ran, as when the client disconnects.
    this.attempt?.end(this.at(now));
    if (server.isRecording()) {
      const { modelLabel } = this.request;
      const status = end === null ? 200 : end.status;
      if (modelLabel !== null) server.setAttribute(ATTR_GEN_AI_REQUEST_MODEL, modelLabel);
      if (status !== null) server.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
      if (charge !== null && end === null) server.setAttributes(moneyAttributes(charge));
      if (code !== null) server.setAttributes({ [ATTR_CODE]: code, [ATTR_ERROR_TYPE]: code });
      // The conventions call a server's answer of 4xx the client's error, which is none of the server's span.
      const isBroken = end === null && code !== null;
      if (isBroken || status === null || status >= 500) server.setStatus({ code: SpanStatusCode.ERROR });
    }
    server.end(this.at(now));
  }

  /** Ends the span of the attempt whose answer was charged. */
  private endAnswered(charge: ChargeFacts, firstMs: number | null): void {
    const { attempt } = this;
    const { modelLabel } = this.request;
    const last = charge.attempts.at(-1);
    if (attempt === null || last === undefined) return;
    if (attempt.isRecording()) {
      attempt.setAttributes(usageAttributes(charge));
      // The name of another model that answered is the provider's own text.
      if (modelLabel !== null && charge.answeredModel === undefined) {
        attempt.setAttribute(ATTR_GEN_AI_RESPONSE_MODEL, modelLabel);
      }
      if (firstMs !== null) attempt.setAttribute(ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK, firstMs / 1_000);
    }
    this.endAttempt(last, this.attemptSince + last.ms);
  }

  private endAttempt({ status, signal }: AttemptRow, mono: number): void {
    const { attempt } = this;
    if (attempt === null) return;
    this.attempt = null;
    if (status > 0) attempt.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status);
    if (signal !== "ok") {
      attempt.setAttribute(ATTR_ERROR_TYPE, signal);
      attempt.setStatus({ code: SpanStatusCode.ERROR });
    }
    attempt.end(this.at(mono));
  }

  /** Returns a monotonic time as wall-clock ms, counted from the request's start. */
  private at(mono: number): number {
    return this.request.startedAtMs + (mono - this.request.arrivedMs);
  }
}

const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
